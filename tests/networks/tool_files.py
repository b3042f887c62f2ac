"""Small files in the true formats of tools, made for these tests, and the networks that they are, by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from torusweep.networks.topology import Topology
from torusweep.quantities import rate, time

G, M, K = 10**9, 10**6, 10**3


class Link(NamedTuple):
    """How many parallel links, and of each: bits a second (or flits a cycle, without a unit), seconds, cost."""

    count: int = 1
    rate: Fraction | int | None = None
    time: Fraction | None = None
    cost: float | None = None


class ToolFile(NamedTuple):
    """A file, and what it is. links: 'a b' → Link; a link stands once, unless the network is directed."""

    name: str
    format: str
    text: str
    links: dict[str, Link]
    hosts: str | None = None  # None: every node is a terminal
    ends: bool = False
    directed: bool = False
    notes: tuple[str, ...] = ()


def ring(*names: str, rate: int | None = None) -> dict[str, Link]:
    return {f"{one} {other}": Link(1, rate) for one, other in zip(names, (*names[1:], names[0]))}


def us(number: float | str) -> Fraction:
    return Fraction(number) / 10**6


def row_of(file: ToolFile, network: Topology) -> str:
    """The file's row in the docs."""
    plan = network.plan
    units = [
        f"1 flit a cycle is {rate(plan.rate)}" if plan.rate else "",
        f"a cycle is {time(plan.tick)}" if plan.tick else "",
    ]
    notes = [note for note in plan.notes if not note.startswith(("named nodes", "node numbers", *filter(None, units)))]
    links = f"{network.links}{' one way' if plan.directed else ''}{', costs' if plan.weighted else ''}"
    hosts = f"{len(network.terminals)}{', end packets' if plan.hosts_end else ''}"
    cells = [
        f"`{file.name}`",
        file.format,
        network.nodes,
        hosts,
        links,
        "; ".join(filter(None, units)),
        "; ".join(notes),
    ]
    return f"| {' | '.join(map(str, cells))} |".replace("  ", " ")


NCCL = """<?xml version="1.0"?>
<system version="1">
  <cpu numaid="0" affinity="0000ffff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="85">
    <pci busid="0000:1a:00.0" class="0x030200" link_speed="8.0 GT/s PCIe" link_width="16">
      <gpu dev="0" sm="70" rank="0" gdr="1">
        <nvlink target="0000:1c:00.0" count="2" tclass="0x030200"/>
        <nvlink target="0000:1d:00.0" count="1" tclass="0x030200"/>
      </gpu>
    </pci>
    <pci busid="0000:1c:00.0" class="0x030200" link_speed="8.0 GT/s PCIe" link_width="16">
      <gpu dev="1" sm="70" rank="1" gdr="1">
        <nvlink target="0000:1a:00.0" count="2" tclass="0x030200"/>
      </gpu>
    </pci>
    <pci busid="0000:1d:00.0" class="0x030200" link_speed="8.0 GT/s PCIe" link_width="16">
      <gpu dev="2" sm="70" rank="2" gdr="1">
        <nvlink target="0000:1a:00.0" count="1" tclass="0x030200"/>
      </gpu>
    </pci>
    <nic>
      <net name="mlx5_0" dev="0" speed="100000" port="1" guid="0x1" maxconn="131072" gdr="1"/>
    </nic>
  </cpu>
</system>
"""

# two GPUs of four, as a job that uses no others writes them
TWO_OF_FOUR = """<system version="1">
  <cpu numaid="0" arch="x86_64" vendor="AuthenticAMD" familyid="175" modelid="1">
    <pci busid="0001:00:00.0" class="0x030200" link_speed="" link_width="0">
      <gpu dev="0" sm="80" rank="0" gdr="1">
        <nvlink target="0002:00:00.0" count="4" tclass="0x030200"/>
        <nvlink target="0003:00:00.0" count="4" tclass="0x030200"/>
      </gpu>
    </pci>
    <pci busid="0002:00:00.0" class="0x030200" link_speed="" link_width="0">
      <gpu dev="1" sm="80" rank="1" gdr="1">
        <nvlink target="0001:00:00.0" count="4" tclass="0x030200"/>
        <nvlink target="0002:00:00.0" count="4" tclass="0x030200"/>
      </gpu>
    </pci>
  </cpu>
</system>
"""
SELF = TWO_OF_FOUR.replace('<nvlink target="0002', '<nvlink target="0001', 1).replace(
    '<nvlink target="0001:00:00.0" count="4" tclass="0x030200"/>\n        <nvlink target="0002',
    '<nvlink target="0002',
)
HOSTS = TWO_OF_FOUR.replace("0002:00:00.0", "0001:00:00.0")
PCI = """<system version="1">
  <cpu numaid="0" arch="x86_64" vendor="AuthenticAMD" familyid="23" modelid="49">
    <pci busid="ffff:ff:01.0" class="0x060400" link_speed="16 GT/s" link_width="16">
      <pci busid="0003:00:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"/>
      <pci busid="0103:00:00.0" class="0x020700" link_speed="16 GT/s" link_width="16"/>
    </pci>
  </cpu>
</system>
"""
PARTS = TWO_OF_FOUR.replace("      </gpu>\n", '      </gpu>\n      <gpu dev="7" sm="80" rank="7" gdr="1"/>\n', 1)

NVSWITCH = """<system version="1">
  <cpu numaid="0" arch="x86_64" vendor="AuthenticAMD" familyid="143" modelid="49">
    <pci busid="0000:07:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16">
      <gpu dev="0" sm="90" rank="0" gdr="1">
        <nvlink target="0000:c4:00.0" count="2" tclass="0x068000"/>
        <nvlink target="0000:c5:00.0" count="3" tclass="0x068000"/>
      </gpu>
    </pci>
    <pci busid="0000:0f:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16">
      <gpu dev="1" sm="90" rank="1" gdr="1">
        <nvlink target="0000:c4:00.0" count="2" tclass="0x068000"/>
        <nvlink target="0000:c5:00.0" count="3" tclass="0x068000"/>
      </gpu>
    </pci>
  </cpu>
</system>
"""

SMI = (
    "\t\x1b[4mGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n"
    "GPU0\t X \tNV2\tNV1\tSYS\tPIX\t0-19\t0\t\tN/A\n"
    "GPU1\tNV2\t X \tSYS\tNV1\tPIX\t0-19\t0\t\tN/A\n"
    "GPU2\tNV1\tSYS\t X \tNV2\tSYS\t20-39\t1\t\tN/A\n"
    "GPU3\tSYS\tNV1\tNV2\t X \tSYS\t20-39\t1\t\tN/A\n"
    "NIC0\tPIX\tPIX\tSYS\tSYS\t X \t\t\t\t\n"
    "\nLegend:\n\n  X    = Self\n  SYS  = Connection traversing PCIe as well as the SMP interconnect\n"
    "  PIX  = Connection traversing at most a single PCIe bridge\n"
    "  NV#  = Connection traversing a bonded set of # NVLinks\n"
    "\nNIC Legend:\n\n  NIC0: mlx5_0\n"
)
HGX = (
    "\tGPU0\tGPU1\tGPU2\tCPU Affinity\n"
    "GPU0\t X \tNV12\tNV12\t0-31\nGPU1\tNV12\t X \tNV12\t0-31\nGPU2\tNV12\tNV12\t X \t0-31\n"
)


def matrix_of_rocm(title: str, rows: str) -> str:
    names = [f"GPU{number}" for number in range(len(rows.split("/")))]
    head = "       " + "".join(name.ljust(13) for name in names)
    lines = [
        name.ljust(7) + "".join(word.ljust(13) for word in row.split()) for name, row in zip(names, rows.split("/"))
    ]
    return "\n".join([f"{'=' * 20} {title} {'=' * 20}", head, *lines, ""])


ROCM = "\n".join(
    [
        "============================ ROCm System Management Interface ============================",
        matrix_of_rocm("Weight between two GPUs", "0 15 30/15 0 15/30 15 0"),
        matrix_of_rocm("Hops between two GPUs", "0 1 1/1 0 1/1 1 0"),
        matrix_of_rocm("Link Type between two GPUs", "0 XGMI XGMI/XGMI 0 XGMI/XGMI XGMI 0"),
        "======================================= Numa Nodes =======================================",
        "GPU[0]\t\t: (Topology) Numa Node: 0",
        "================================== End of ROCm SMI Log ===================================",
        "",
    ]
)

ROCM_PARTS = "\n".join(
    [
        matrix_of_rocm("Weight between two GPUs", "0 13 41/13 0 41/41 41 0"),
        matrix_of_rocm("Hops between two GPUs", "0 1 1/1 0 1/1 1 0"),
        matrix_of_rocm("Link Type between two GPUs", "0 XGMI XGMI/XGMI 0 XGMI/XGMI XGMI 0"),
    ]
)

# the ends of a link may disagree; n2 has a line at its switch only
IBNET = """#
# Topology file: generated on Tue Jun  5 14:15:10 2007
#
# Max of 3 hops discovered

Non-Chassis Nodes

vendid=0x8f1
devid=0x5a06
sysimgguid=0x5442ba00003000
switchguid=0x5442ba00003080(5442ba00003080)
Switch\t24 "S-005442ba00003080"\t\t# "leaf1" base port 0 lid 6 lmc 0
[22]\t"H-0008f10403961354"[1](8f10403961355) \t\t# "n1 HCA-1" lid 4 4xSDR
[10]\t"S-0008f10400410015"[1]\t\t# "leaf2" lid 3 4xSDR
[8][ext 3]\t"H-0008f10403960558"[2](8f1040396055a) \t\t# "n2 HCA-1" lid 14 2xHDR

vendid=0x8f1
devid=0x5a05
switchguid=0x8f10400410015(8f10400410015)
Switch\t8 "S-0008f10400410015"\t\t# "leaf2" base port 0 lid 3 lmc 0
[1]\t"S-005442ba00003080"[10]\t\t# "leaf1" lid 6 1xSDR

vendid=0x2c9
devid=0x5a44
caguid=0x8f10403961354
Ca\t2 "H-0008f10403961354"\t\t# "n1 HCA-1"
[1](8f10403961355) \t"S-005442ba00003080"[22]\t\t# lid 4 lmc 1 "leaf1" lid 6 4xSDR
"""

IBLINKINFO = """CA: node1 mlx5_0:
      0x0002c90300001a01      4    1[  ] ==( 4X       25.78125 Gbps Active/  LinkUp)==>       1    1[  ] "leaf1" ( )
CA: node2 mlx5_0:
      0x0002c90300001b01      5    1[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>       2    1[  ] "leaf2" ( )
CA: SHArP Aggregation Node:
      0x0002c90300001c01      6    1[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>       2   41[  ] "leaf2" ( )
Switch: 0x0002c90300000010 leaf1:
           1    1[  ] ==( 4X       25.78125 Gbps Active/  LinkUp)==>       4    1[  ] "node1 mlx5_0" ( )
           1    2[  ] ==( 4X        10.0 Gbps (FDR10) Active/  LinkUp)==>       2    2[  ] "leaf2" ( Could be FDR)
           1    3[  ] ==(                Down/ Polling)==>             [  ] "" ( )
Switch: 0x0002c90300000020 leaf2:
           2    1[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>       5    1[  ] "node2 mlx5_0" ( )
           2    2[  ] ==( 4X        10.0 Gbps (FDR10) Active/  LinkUp)==>       1    2[  ] "leaf1" ( )
           2   41[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>       6    1[  ] "SHArP Aggregation Node" ( )
"""


def end_of_lst(kind: str, guid: str, name: str, lid: str, port: str) -> str:
    return (
        f"{{ {kind} Ports:02 SystemGUID:{guid} NodeGUID:{guid} PortGUID:{guid} VenID:000002C9 DevID:1017 Rev:00000000"
        f" {{{name}}} LID:{lid} PN:{port} }}"
    )


NODE1, NODE2, LEAF = (
    end_of_lst("CA", "0002c903000000a1", "node1 HCA-1", "0004", "01"),
    end_of_lst("CA", "0002c903000000a2", "node2 HCA-1", "0005", "01"),
    ("SW", "0002c90300000010", "leaf"),
)
LST = "\n".join(
    [
        f"{NODE1} {end_of_lst(*LEAF, '0001', '0A')} PHY=4x LOG=ACT SPD=25",
        f"{end_of_lst(*LEAF, '0001', '0A')} {NODE1} PHY=4x LOG=ACT SPD=25",
        f"{NODE2} {end_of_lst(*LEAF, '0001', '0B')} PHY=4x LOG=ACT SPD=14",
        "",
    ]
)

# as OpenSM writes it: -SM where the subnet manager runs; the reverse of each link; no name for a speed of HDR
SUBNET = "\n".join(
    [
        f"{end_of_lst('CA-SM', '0002c903000000b1', 'n1 HCA-1', '0001', '01')} "
        f"{end_of_lst('SW', '0002c903000000b0', '', '0003', '01')} PHY=4x LOG=INI SPD=??",
        f"{end_of_lst('SW', '0002c903000000b0', '', '0003', '01')} "
        f"{end_of_lst('CA-SM', '0002c903000000b1', 'n1 HCA-1', '0001', '01')} PHY=4x LOG=INI SPD=??",
        f"{end_of_lst('CA', '0002c903000000b2', 'n2 HCA-1', '0002', '01')} "
        f"{end_of_lst('SW', '0002c903000000b0', '', '0003', '02')} PHY=4x LOG=ACT SPD=??",
        f"{end_of_lst('CA', '0002c903000000b3', 'n3 HCA-1', '0004', '01')} "
        f"{end_of_lst('SW', '0002c903000000b0', '', '0003', '03')} PHY=4x LOG=DWN SPD=2.5",
        "",
    ]
)

OPA_PART = """Link Summary
5967 Links in Fabric:
Rate NodeGUID          Port Type Name
100g 0x00117501010b8ea4   1 FI   node1 hfi1_0
    PortDetails: left
<->  0x00117501026a5683   4 SW   leaf
1 Matching Links Found
-------------------------------------------------------------------------------
"""

OPA = """Link Summary
2 Links in Fabric:
Rate NodeGUID          Port Type Name
100g 0x00117501010b8ea4   1 FI   node1 hfi1_0
<->  0x00117501026a5683   4 SW   leaf
100g 0x00117501010b8ea5   1 FI   node2 hfi1_0
<->  0x00117501026a5683   5 SW   leaf
"""

SNDLIB = """?SNDlib native format; type: network; version: 1.0
# network ring

META (
  granularity = 15min
)

# node_id ( x y )
NODES (
  A ( 0.00 0.00 )
  B ( 1.00 0.00 )
  C ( 1.00 1.00 )
  D ( 0.00 1.00 )
)

# link_id ( source target ) installed its_cost routing_cost setup_cost ( {module its_cost}* )
LINKS (
  L1 ( A B ) 0.00 0.00 0.00 0.00 ( 40.00 1.00 )
  L2 ( B C ) 0.00 0.00 0.00 0.00 ( 40.00 1.00 )
  L3 ( C D ) 0.00 0.00 0.00 0.00 ( 40.00 1.00 )
  L4 ( D A ) 0.00 0.00 0.00 0.00 ( 40.00 1.00 )
)

DEMANDS (
  D1 ( A C ) 1 10.00 UNLIMITED
)
"""

SNDLIB_UNIT = """?SNDlib native format; type: network; version: 1.0
META (
  granularity = 6month
  time = 2004
  unit = MBITPERSEC
)
NODES (
  Atlanta ( -84.38 33.75 )
  Houston ( -95.35 29.76 )
  Denver ( -104.98 39.74 )
)
LINKS (
  Atlanta_Houston ( Atlanta Houston ) 9920.00 0.00 0.00 0.00 ( 40000.00 133.00 80000.00 200.00 )
  Houston_Denver ( Houston Denver ) 2480.00 0.00 0.00 0.00 ( 40000.00 133.00 )
)
"""

SNDLIB_XML = """<?xml version="1.0" encoding="ISO-8859-1"?>
<network xmlns="http://sndlib.zib.de/network" version="1.0">
 <meta><granularity>15min</granularity></meta>
 <networkStructure>
  <nodes coordinatesType="geographical">
   <node id="A"><coordinates><x>0.0</x><y>0.0</y></coordinates></node>
   <node id="B"><coordinates><x>1.0</x><y>0.0</y></coordinates></node>
   <node id="C"><coordinates><x>1.0</x><y>1.0</y></coordinates></node>
  </nodes>
  <links>
   <link id="A_B"><source>A</source><target>B</target>
    <preInstalledModule><capacity>20.0</capacity><cost>0.0</cost></preInstalledModule>
    <additionalModules><addModule><capacity>40.0</capacity><cost>133.0</cost></addModule></additionalModules>
   </link>
   <link id="B_C"><source>B</source><target>C</target>
    <preInstalledModule><capacity>10.0</capacity><cost>0.0</cost></preInstalledModule>
   </link>
  </links>
 </networkStructure>
 <demands><demand id="A_C"><source>A</source><target>C</target><demandValue>5.0</demandValue></demand></demands>
</network>
"""

REPETITA = """NODES 3
label x y
0_Paris 2.35 48.85
1_Lyon 4.84 45.76
2_Nice 7.27 43.70

EDGES 4
label src dest weight bw delay
edge_0 0 1 3 10000 5
edge_1 1 0 3 2400 5
edge_2 1 2 1 10000 15
edge_3 2 1 1 10000 15
"""

BRITE = """Topology: ( 3 Nodes, 2 Edges )
Model (1 - RTWaxman):  3 1000 100 1  2  0.15 0.2 1 1 10.0 1024.0

Nodes: ( 3 )
0\t10.0\t20.0\t1\t1\t-1\tRT_NODE
1\t30.0\t20.0\t2\t2\t-1\tRT_NODE
2\t50.0\t20.0\t1\t1\t-1\tRT_NODE

Edges: ( 2 )
0\t0\t1\t20.0\t0.066712819039\t10.0\t-1\t-1\tE_RT\tU
1\t1\t2\t20.0\t0.133425638079\t20.0\t-1\t-1\tE_RT\tU
"""

BOTTOM_UP = """Topology: ( 3 Nodes, 2 Edges )
Model (6 - BottomUp): 12 2 2 4 10.0 1024.0
Model (1 - RTWaxman):  3 1000 100 1  2  0.15000000596046448 0.20000000298023224 1 1 10.0 1024.0

Nodes: ( 3 )
0\t313\t828\t1\t1\t111\tRT_NODE
1\t292\t419\t2\t2\t108\tRT_NODE
2\t574\t798\t1\t1\t108\tRT_NODE

Edges: ( 2 )
0\t0\t1\t516.0484473380382\t1.7213523341472392\t0.041371581036266175\t111\t108\tE_AS_BORDER\tU
1\t1\t2\t198.3053201505194\t0.5\t10.0\t108\t108\tE_RT\tU
"""

CCH = """1 @Paris,+France + bb (2) &1 -> <2> <3> {-1} =par1.example.net r0
2 @Lyon,+France (1) -> <1> =lyo1.example.net r1
3 @Nice,+France (1) -> <1> =nic1.example.net r1
-1 =ext1.example.org rx
"""

DL = """dl n=4 format=edgelist1
labels:
ann,bob
carl,"dora d"
data:
1 2 1
2 1 1
2 3 1
3 2 1
3 4 1
4 3 1
"""

GDF = """nodedef>name VARCHAR,label VARCHAR
s1,'Site, one'
s2,'Site two'
s3,Site three
edgedef>node1 VARCHAR,node2 VARCHAR,capacity DOUBLE,directed BOOLEAN,colour VARCHAR
s1,s2,2.5,true,'1,2,3'
s2,s3,5.0,true,red
"""

LGF = """# LEMON
@nodes
label   coordinates
0       "(10,20)"
1       "(80,20)"
2       "(40,60)"
@edges
        label capacity length
0 1     0     2        7
1 2     1     4        7
@attributes
source 0
"""

VNA = """*Node data
ID gender
ann f
"bob b" m
*Node properties
ID x y color shape size
ann 1 2 255 1 10
*Tie data
from to strength
ann "bob b" 1
"bob b" ann 1
"""

LEDA = "LEDA.GRAPH\nstring\nint\n-2\n3\n|{a}|\n|{b}|\n|{c}|\n2\n1 2 0 |{4}|\n2 3 0 |{5}|\n"

CONTAINERLAB = """name: clos
topology:
  kinds:
    nokia_srlinux: {image: "ghcr.io/nokia/srlinux"}
  nodes:
    leaf1: {kind: nokia_srlinux}
    spine1: {kind: nokia_srlinux}
    client1: {kind: linux}
  links:
    - endpoints: ["leaf1:e1-1", "spine1:e1-1"]
    - type: veth
      endpoints:
        - node: client1
          interface: eth1
        - node: leaf1
          interface: e1-2
    - endpoints: ["client1:eth2", "mgmt-net:client1-eth2"]
"""

TORUS_YAML = """- topology: pods
  torus3d:
    toruses:
      - name: pod
        dims: {x: 3, y: 2, z: 1}
        nodes: n[0-5]
"""

SLURM_YAML = """---
- topology: near
  block:
    block_sizes: [2]
    blocks:
      - block: b1
        nodes: n[01-02]
- topology: topo1
  cluster_default: true
  tree:
    switches:
      - switch: spine
        children: leaf[1-2]
      - switch: leaf1
        nodes: n[01-02]
      - switch: leaf2
        nodes: n03
"""

CYJS = """{"format_version": "1.0", "generated_by": "cytoscape-3.10", "data": {"name": "net"},
 "elements": {"nodes": [{"data": {"id": "62", "name": "a"}, "position": {"x": 1, "y": 2}}, {"data": {"id": "63"}}],
  "edges": [{"data": {"id": "70", "source": "62", "target": "63", "capacity": 4, "interaction": "pp"}}]}}
"""
CYTOSCAPE_DATA = """{"data": [], "directed": true, "multigraph": false, "elements": {
 "nodes": [{"data": {"id": "a", "value": "a", "name": "a"}}, {"data": {"id": "b", "value": "b", "name": "b"}}],
 "edges": [{"data": {"source": "a", "target": "b"}}]}}
"""
JGF = """{"graph": {"directed": false, "type": "lab", "nodes": {"s1": {"label": "one"}, "s2": {}, "s3": {}},
 "edges": [{"source": "s1", "target": "s2", "metadata": {"latency": 3}},
  {"source": "s2", "target": "s3", "relation": "cable", "metadata": {"latency": 1}}]}}
"""
NETJSON = """{"type": "NetworkGraph", "protocol": "OLSR", "version": "0.6.6", "metric": "ETX",
 "nodes": [{"id": "172.16.40.24"}, {"id": "172.16.40.60"}],
 "links": [{"source": "172.16.40.24", "target": "172.16.40.60", "cost": 1.5},
  {"source": "172.16.40.60", "target": "172.16.40.24", "cost": 2.0}]}
"""
VIS = """{"nodes": [{"id": 1, "label": "a"}, {"id": 2}, {"id": 3}],
 "edges": [{"from": 1, "to": 2, "arrows": "to"}, {"from": 2, "to": 3, "dashes": true, "arrows": "to"}]}
"""
D3 = """{"nodes": [{"name": "Myriel", "group": 1}, {"name": "Napoleon", "group": 1}],
 "links": [{"source": 1, "target": 0, "value": 1}]}
"""
GRAPHOLOGY = """{"options": {"type": "mixed", "multi": false}, "attributes": {"name": "g"},
 "nodes": [{"key": "a"}, {"key": "b"}, {"key": "c"}],
 "edges": [{"key": "e0", "source": "a", "target": "b", "attributes": {"colour": "red"}},
  {"key": "e1", "source": "b", "target": "c"}]}
"""
ZOO = """graph [
  DateObtained "22/10/10"
  Network "Arpanet"
  node [
    id 0
    label "Roma"
    Latitude 41.9
  ]
  node [
    id 1
    label "Milano"
  ]
  edge [
    source 0
    target 1
    LinkSpeed "10"
    LinkLabel "10 Gbit/s"
    LinkSpeedRaw 10000000000.0
  ]
]
"""
MINIEDIT = """{"application": {"startCLI": "0"}, "controllers": [{"opts": {"hostname": "c0"}}],
 "hosts": [{"number": "1", "opts": {"hostname": "h1"}}, {"number": "2", "opts": {"hostname": "h2"}}],
 "switches": [{"number": "1", "opts": {"hostname": "s1", "switchType": "default"}}],
 "links": [{"src": "h1", "dest": "s1", "opts": {"bw": 100, "delay": "5ms"}},
  {"src": "s1", "dest": "h2", "opts": {"bw": 10, "delay": "5ms", "loss": 1}}]}
"""
FILES = [
    ToolFile(
        "topo.xml",
        "nccl",
        NCCL,
        {"GPU0 GPU1": Link(2, 160 * G), "GPU0 GPU2": Link(1, 160 * G)},
        notes=("not read: cpu, pci, nic, net",),
    ),
    ToolFile(
        "dgx.xml",
        "nccl",
        NVSWITCH,
        {
            f"GPU{gpu} NVSwitch_0000:{switch}:00.0": Link(count, Fraction(824, 5) * G)
            for gpu in (0, 1)
            for switch, count in (("c4", 2), ("c5", 3))
        },
        hosts="GPU0 GPU1",
    ),
    ToolFile(
        "smi.txt",
        "nvidia-smi",
        SMI,
        {"GPU0 GPU1": Link(2), "GPU0 GPU2": Link(1), "GPU1 GPU3": Link(1), "GPU2 GPU3": Link(2)},
        notes=("the speed of an NVLink is not in the file", "NIC0", "SYS (PCI)", "CPU Affinity"),
    ),
    ToolFile(
        "hgx.txt",
        "nvidia-smi",
        HGX,
        {f"GPU{gpu} NVSwitch": Link(12) for gpu in range(3)},
        hosts="GPU0 GPU1 GPU2",
        notes=("24 NVLinks of a GPU are too many: read as links to one NVSwitch",),
    ),
    ToolFile(
        "rocm.txt",
        "rocm-smi",
        ROCM,
        {"GPU0 GPU1": Link(), "GPU1 GPU2": Link()},
        notes=("not read: Hops, pairs of other weights or PCIE",),
    ),
    ToolFile(
        "fabric.txt",
        "iblinkinfo",
        IBLINKINFO,
        {
            "node1_mlx5_0 leaf1": Link(1, 100 * G),
            "node2_mlx5_0 leaf2": Link(1, 200 * G),
            "leaf1 leaf2": Link(1, 40 * G),
            "SHArP_Aggregation_Node leaf2": Link(1, 200 * G),
        },
        hosts="node1_mlx5_0 node2_mlx5_0",
        ends=True,
        notes=("ports that are down",),
    ),
    ToolFile(
        "ibdiagnet.lst",
        "subnet-list",
        LST,
        {"node1_HCA-1 leaf": Link(1, 100 * G), "node2_HCA-1 leaf": Link(1, 56 * G)},
        hosts="node1_HCA-1 node2_HCA-1",
        ends=True,
    ),
    ToolFile(
        "opa.txt",
        "opareport",
        OPA,
        {"node1_hfi1_0 leaf": Link(1, 100 * G), "node2_hfi1_0 leaf": Link(1, 100 * G)},
        hosts="node1_hfi1_0 node2_hfi1_0",
        ends=True,
    ),
    ToolFile(
        "two.xml",
        "nccl",
        TWO_OF_FOUR,
        {"GPU0 GPU1": Link(4, 160 * G)},
        notes=("NVLinks to GPUs that the file does not list", "NVLinks from a GPU to itself"),
    ),
    ToolFile(
        "opensm-subnet.lst",
        "subnet-list",
        SUBNET,
        {"0002c903000000b1 0002c903000000b0": Link(), "0002c903000000b2 0002c903000000b0": Link()},
        hosts="0002c903000000b1 0002c903000000b2 0002c903000000b3",
        ends=True,
        notes=("not read: speeds, which OpenSM writes as ??, links that are down",),
    ),
    ToolFile(
        "part.txt",
        "opareport",
        OPA_PART,
        {"node1_hfi1_0 leaf": Link(1, 100 * G)},
        hosts="node1_hfi1_0",
        ends=True,
        notes=("the report counts 5,967 links, and lists 1", "not read: PortDetails"),
    ),
    ToolFile(
        "fabric.ibnet",
        "ibnetdiscover",
        IBNET,
        {
            "n1_HCA-1 leaf1": Link(1, 10 * G),
            "leaf1 leaf2": Link(1, G * 5 // 2),
            "n2_HCA-1 leaf1": Link(1, 100 * G),
        },
        hosts="n1_HCA-1 n2_HCA-1",
        ends=True,
        notes=("1 link with different speeds at the two ends, the lower is used",),
    ),
    ToolFile(
        "incast.txt",
        "ns3",
        "4 1 3\n0\n0 1 100Gbps 0.001ms 0\n0 2 100Gbps 0.001ms 0\n0 3 25Gbps 0.001ms 0\n0 9 25Gbps 0.001ms 0\n",
        {"0 1": Link(1, 100 * G, us(1)), "0 2": Link(1, 100 * G, us(1)), "0 3": Link(1, 25 * G, us(1))},
        hosts="1 2 3",
        ends=True,
        notes=("ns-3 not read: 1 line after the links",),
    ),
    ToolFile(
        "topology.yaml",
        "slurm-yaml",
        SLURM_YAML,
        {edge: Link() for edge in ("spine leaf1", "spine leaf2", "leaf1 n01", "leaf1 n02", "leaf2 n03")},
        hosts="n01 n02 n03",
        ends=True,
        notes=("not read: topology near",),
    ),
    ToolFile(
        "torus.yaml",
        "slurm-yaml",
        TORUS_YAML,
        {**ring("n0", "n1", "n2"), **ring("n3", "n4", "n5"), "n0 n3": Link(), "n1 n4": Link(), "n2 n5": Link()},
    ),
    ToolFile(
        "topology.conf",
        "slurm",
        "switchname=leaf1 nodes=n[01-02,04] LinkSpeed=100\nSwitchName=leaf2 Nodes=n03 # rack 2\nSwitchName=spine \\\n"
        "  Switches=leaf[1-2]\n",
        {edge: Link() for edge in ("leaf1 n01", "leaf1 n02", "leaf1 n04", "leaf2 n03", "spine leaf1", "spine leaf2")},
        hosts="n01 n02 n03 n04",
        ends=True,
        notes=("not read: LinkSpeed",),
    ),
    ToolFile(
        "scontrol.txt",
        "slurm",
        "SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=n[1-2]\nSwitchName=leaf2 Level=0 LinkSpeed=1 Nodes=n3\n"
        "SwitchName=spine Level=1 LinkSpeed=1 Nodes=n[1-3] Switches=leaf[1-2]\n",
        {edge: Link() for edge in ("leaf1 n1", "leaf1 n2", "leaf2 n3", "spine leaf1", "spine leaf2")},
        hosts="n1 n2 n3",
        ends=True,
    ),
    ToolFile("ring.conf", "slurm", "RingName=r0 Nodes=n[1-4]\n", ring("n1", "n2", "n3", "n4")),
    ToolFile(
        "ring.snd",
        "sndlib",
        SNDLIB,
        ring("A", "B", "C", "D", rate=40),
        notes=("capacities in the unit of the demands", "undirected unless directed=true", "not read: DEMANDS, costs"),
    ),
    ToolFile(
        "abilene.txt",
        "sndlib",
        SNDLIB_UNIT,
        {"Atlanta Houston": Link(1, 9920 * M), "Houston Denver": Link(1, 2480 * M)},
        notes=("what is installed", "not read: modules of links, costs"),
    ),
    ToolFile(
        "network.xml",
        "sndlib-xml",
        SNDLIB_XML,
        {"A B": Link(1, 20), "B C": Link(1, 10)},
        notes=("not read: demands, modules of links, costs",),
    ),
    ToolFile(
        "path.graph",
        "repetita",
        REPETITA,
        {
            "0_Paris 1_Lyon": Link(1, 10 * M, us(5), 3),
            "1_Lyon 0_Paris": Link(1, 2400 * K, us(5), 3),
            "1_Lyon 2_Nice": Link(1, 10 * M, us(15), 1),
            "2_Nice 1_Lyon": Link(1, 10 * M, us(15), 1),
        },
        directed=True,
        notes=("bw read in kb/s, delay in µs", "not read: labels of edges, x, y"),
    ),
    ToolFile(
        "flat.brite",
        "brite",
        BRITE,
        {"0 1": Link(1, 10 * M, us("66.713")), "1 2": Link(1, 20 * M, us("133.426"))},
        notes=("parts of a ns of delays",),
    ),
    ToolFile(
        "levels.brite",
        "brite",
        BOTTOM_UP,
        {"0 1": Link(1, 41372, us("1721.352")), "1 2": Link(1, 10 * M, us(500))},
        notes=("parts of a b/s of bandwidths",),
    ),
    ToolFile(
        "1239_weights.txt",
        "rocketfuel",
        "London217 Paris,+France18 4\nParis,+France18 London217 4\n",
        {"London217 Paris,+France18": Link(1, None, None, 4)},
    ),
    ToolFile(
        "weights.intra",
        "rocketfuel",
        "Paris,+France1 Lyon,+France2 3\nLyon,+France2 Paris,+France1 3\nLyon,+France2 Nice,+France3 2.5\n"
        "Nice,+France3 Lyon,+France2 2.5\n",
        {
            "Paris,+France1 Lyon,+France2": Link(1, None, None, 3),
            "Lyon,+France2 Nice,+France3": Link(1, None, None, 2.5),
        },
    ),
    ToolFile(
        "latencies.intra",
        "rocketfuel",
        "Paris,+France1 Lyon,+France2 3\nLyon,+France2 Paris,+France1 3\n",
        {"Paris,+France1 Lyon,+France2": Link(1, None, us(3000))},
    ),
    ToolFile(
        "1221.cch",
        "rocketfuel-map",
        CCH,
        {"1 2": Link(), "1 3": Link()},
        notes=("links to other providers", "routers of other providers"),
    ),
    ToolFile(
        "as-rel.txt",
        "as-relationships",
        "# source:topology|BGP|20260101\n# input clique: 1\n1|2|-1\n1|3|-1\n2|3|0\n",
        ring("1", "2", "3"),
        notes=("not read: relationships",),
    ),
    ToolFile(
        "out.roads",
        "konect",
        "% asym positive\n% 3 3 3\n1 2 2\n2 3 1\n3 1 1\n",
        {"1 2": Link(2), "2 3": Link(), "3 1": Link()},
        directed=True,
    ),
    ToolFile(
        "out.likes",
        "konect",
        "% bip unweighted\n1 1 1 1096884000\n2 1 1 1096884001\n",
        {"left_1 right_1": Link(), "left_2 right_1": Link()},
        notes=("not read: weights, times",),
    ),
    ToolFile(
        "four.dl",
        "ucinet",
        DL,
        {"ann bob": Link(), "bob carl": Link(), "carl dora_d": Link()},
    ),
    ToolFile(
        "values.dl",
        "ucinet",
        "dl n=3 format=edgelist1\nlabels embedded:\ndata:\nGeorge sally\nSALLY jim 1.0\njim george\n",
        {"George sally": Link(), "sally jim": Link(), "jim George": Link()},
        directed=True,
        notes=("2 links without a value, which DL takes as 1",),
    ),
    ToolFile(
        "matrix.txt",
        "ucinet",
        "DL N=3\nLABELS EMBEDDED\nDATA:\n  a b c\na 0 1 0\nb 0 0 1\nc 1 0 0\n",
        ring("a", "b", "c"),
        directed=True,
    ),
    ToolFile(
        "sites.gdf",
        "gdf",
        GDF,
        {"s1 s2": Link(1, Fraction(5, 2)), "s2 s3": Link(1, 5)},
        directed=True,
        notes=("not read: label, colour",),
    ),
    ToolFile(
        "months.tgf",
        "tgf",
        "1 January\n2 March\n3 July\n#\n1 2\n2 3 next\n3 1\n",
        ring("January", "March", "July"),
        directed=True,
        notes=("not read: labels of links",),
    ),
    ToolFile(
        "three.lgf",
        "lgf",
        LGF,
        {"0 1": Link(1, 2), "1 2": Link(1, 4)},
        notes=("not read: coordinates of nodes, length, @attributes",),
    ),
    ToolFile("two.vna", "vna", VNA, {"ann bob_b": Link()}, notes=("gender", "*node properties")),
    ToolFile("three.gw", "leda", LEDA, {"1 2": Link(), "2 3": Link()}, notes=("not read: labels",)),
    ToolFile("star.lgl", "lgl", "# a\nb\nc\n# b\nc\n", ring("a", "b", "c")),
    ToolFile("network.caminos", "caminos", "NODOS 3\nGRADO 2\nN 0\n1 2\nN 1\n0 2\nN 2\n0 1\n", ring("0", "1", "2")),
    ToolFile(
        "clos.clab.yml",
        "containerlab",
        CONTAINERLAB,
        {"leaf1 spine1": Link(), "client1 leaf1": Link()},
        notes=("not read: links to outside the lab, kinds, images, interfaces",),
    ),
    ToolFile(
        "net.cyjs", "cytoscape", CYJS, {"62 63": Link(1, 4)}, notes=("not read: name of nodes, interaction of links",)
    ),
    ToolFile(
        "cytoscape.json",
        "cytoscape",
        CYTOSCAPE_DATA,
        {"a b": Link()},
        directed=True,
        notes=("not read: value of nodes, name of nodes",),
    ),
    ToolFile(
        "pathways.sif",
        "sif",
        "a\tpp\tb\tc c\nb\tpd\td\na\tpp\tb\na\tpd\tb\ne\n",
        {"a b": Link(2), "a c_c": Link(), "b d": Link()},
        hosts="a b c_c d e",
        notes=("not read: kinds of links",),
    ),
    ToolFile("lab.json", "jgf", JGF, {"s1 s2": Link(1, None, Fraction(3)), "s2 s3": Link(1, None, Fraction(1))}),
    ToolFile(
        "mesh.json",
        "netjson",
        NETJSON,
        {
            "172.16.40.24 172.16.40.60": Link(1, None, None, 1.5),
            "172.16.40.60 172.16.40.24": Link(1, None, None, 2),
        },
        directed=True,
        notes=("not read: metric, protocol, version",),
    ),
    ToolFile(
        "vis.json",
        "vis",
        VIS,
        {"1 2": Link(), "2 3": Link()},
        directed=True,
        notes=("not read: label of nodes, dashes of links",),
    ),
    ToolFile(
        "graphology.json",
        "networkx-json",
        GRAPHOLOGY,
        {"a b": Link(), "b c": Link()},
        directed=True,
        notes=("not read: colour of links",),
    ),
    ToolFile(
        "miserables.json",
        "networkx-json",
        D3,
        {"Napoleon Myriel": Link()},
        notes=("not read: group of nodes, value of links",),
    ),
    ToolFile(
        "Arpanet.gml",
        "gml",
        ZOO,
        {"Roma Milano": Link()},
        notes=("LinkSpeed, LinkLabel, LinkSpeedRaw",),
    ),
    ToolFile(
        "lab.mn",
        "miniedit",
        MINIEDIT,
        {"h1 s1": Link(1, 100 * M, us(5000)), "s1 h2": Link(1, 10 * M, us(5000))},
        hosts="h1 h2",
        ends=True,
        notes=("not read: controllers, loss of links",),
    ),
]

REFUSED = [
    ("lstopo.xml", '<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n<topology version="2.0">\n</topology>\n', "hwloc"),
    ("graph.xml", '<graphs version="1">\n  <graph id="0" pattern="4"/>\n</graphs>\n', "NCCL_TOPO_DUMP_FILE"),
    ("net.ned", "network Ring {\n  submodules:\n    a: Node;\n  connections:\n    a.p <--> b.p;\n}\n", "OMNeT++"),
    ("merlin.py", '#!/bin/python\n"""Torus."""\nimport sst\nr = sst.Component("r")\n', "networkx.write_graphml"),
    ("config.ini", "[root]\n\n[system.ruby.network]\ntype=GarnetNetwork\n", "gem5"),
    ("main.cfg", 'Configuration\n{\n\ttopology: Hamming { sides: [4, 4] },\n}\n', "CAMINOS"),
    ("lldp.txt", "-----\nLLDP neighbors:\n-----\nInterface:    eth0, via: LLDP, RID: 1\n", "lldpctl"),
    ("hostfile", "node01 slots=8\nnode02 slots=8\n", "a list of hosts"),
    ("hosts", "127.0.0.1 localhost\n10.0.0.1 n1\n", "a list of hosts"),
    ("plain.txt", "graph 1 2 3\nnode a 1 2 1 1 a solid ellipse black grey\nedge a a 4 1 1\nstop\n", "Graphviz"),
    ("drawing.json", '{"name": "G", "objects": [{"_gvid": 0}], "edges": [{"tail": 0, "head": 0}]}', "Graphviz"),
    ("adjacency.json", '{"nodes": [{"id": 0}, {"id": 1}], "adjacency": [[{"id": 1}], [{"id": 0}]]}', "node_link_data"),
    ("net.tlp", '(tlp "2.3"\n(nodes 0..1)\n(edge 0 0 1)\n)\n', "Tulip"),
    ("nvlink.txt", "GPU 0: NVIDIA A100 (UUID: GPU-1)\n\t Link 0: 25 GB/s\n", "`nvidia-smi topo -m`"),
    ("amd.txt", "LINK TYPE TABLE:\n             0000:0c:00.0\n0000:0c:00.0 SELF\n", "`rocm-smi --showtopo`"),
    ("lldp.json", '{"lldp": {"interface": [{"eth0": {"chassis": {"sw1": {}}}}]}}\n', "lldpcli"),
    ("lab.yml", "nodes: [r1, r2]\nlinks:\n- r1-r2\n", "netlab"),
    ("app.goal", "num_ranks 2\nrank 0 {\nl1: send 8b to 1\n}\n", "--workload"),
    ("torus88", "// 8 x 8\ntopology = torus;\nk = 8;\nn = 2;\n", "'torus(k=8, n=2)'"),
    ("mesh88", "topology = mesh;\nk  = 4;\nn=3;\n", "'mesh(k=4, n=3)'"),
    ("fattree", "topology = fattree;\nk  = 4;\nn  = 3;\n", "'fat_tree(k=4, n=3)'"),
    ("flatfly", "topology = flatfly;\nk  = 4;\nn  = 2;\nc=4;\n", "'hyperx(radices=[4, 4], terminals=4)'"),
    ("dragonfly", "topology = dragonflynew;\nk  = 2;\nn  = 1;\n", "'dragonfly(a=4, p=2, h=2)'"),
    ("cmesh", "topology = cmesh;\nk = 4;\nn = 2;\nc = 4;\n", "no family here"),
    ("any.cfg", "topology = anynet;\nnetwork_file = my.anynet;\n", "give its network_file, my.anynet"),
    (
        "Ring.yml",
        "topology: [ Ring ]\nnpus_count: [ 8 ]\nbandwidth: [ 50.0 ]  # GB/s\nlatency: [ 500.0 ]  # ns\n",
        """'with_links(torus(radices=[8]), bandwidths=["50 GB/s"], latencies=["500 ns"])'""",
    ),
    (
        "Torus.yml",
        "topology: [ Ring, Ring ]\nnpus_count: [ 4, 3 ]\nbandwidth: [ 200, 100 ]\nlatency: [ 50, 500 ]\n",
        """'with_links(torus(radices=[4, 3]), bandwidths=["200 GB/s", "100 GB/s"], latencies=["50 ns", "500 ns"])'""",
    ),
    ("Full.yml", "topology: [ FullyConnected ]\nnpus_count: [ 5 ]\n", "'hamming(radices=[5])'"),
    ("Switch.yml", "topology: [ Switch ]\nnpus_count: [ 8 ]\n", "no family here"),
    ("Mixed.yml", "topology: [ Ring, Switch ]\nnpus_count: [ 2, 8 ]\n", "no family here"),
    ("noxim.yaml", "topology: MESH\nmesh_dim_x: 4\nmesh_dim_y: 3\n", "'mesh(radices=[4, 3])'"),
    ("blocks.conf", "BlockName=b1 Nodes=n[01-18]\nBlockSizes=18\n", "topology/block"),
    ("flat.yaml", "- topology: t\n  flat: true\n", "flat, which names nodes that are near, and no links"),
    ("net.xml", '<?xml version="1.0"?>\n<graph xmlns="http://www.cs.rpi.edu/XGMML"/>\n', ".cyjs or GraphML"),
    ("parts.txt", ROCM_PARTS, "expected whole GPUs, got partitions of one, GPU0 and GPU1 (weight 13)"),
    ("self.xml", SELF, "got NVLinks from a GPU to itself"),
    ("ndv4.xml", PCI, "NCCL finds the NVLinks of such a file as it runs"),
    ("hosts.xml", HOSTS, "each busid once, in the topology of one host"),
    ("mlopart.xml", PARTS, "expected one <gpu> in each <pci>"),
    ("regions.yaml", TORUS_YAML.replace("nodes: n[0-5]", "regions: []"), "got regions; list the nodes"),
    ("out.flows", "% sym dynamic\n1 2 1 100\n1 2 -1 200\n", "a kind of KONECT's weights for links that stay"),
    ("absent.dl", "dl n=3 diagonal=absent\ndata:\n1 0\n1 1\n0 1\n", "expected DL with a diagonal in its matrix"),
    ("idless.gml", "graph [ node [ id 2 ] node [ ] ]\n", "expected an id of every node of GML"),
    ("short.sif", "a b\nb c\n", "a node, the kind of a link and nodes"),
    ("old.gw", LEDA.replace("-2\n", "", 1), "-1 (directed) or -2, as LEDA's files have it, got '3'"),
    ("both.intra", "Paris,+F1 Lyon,+F2 3\n", "weights or latencies in the name of a file of Rocketfuel"),
    (
        "pci.txt",
        "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tPIX\t0-7\nGPU1\tPIX\t X \t0-7\n",
        "GPUs that only PCI joins have no links of their own",
    ),
]  # fmt: skip
