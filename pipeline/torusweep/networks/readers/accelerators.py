"""Read the links between a machine's GPUs: NCCL's topology, `nvidia-smi topo -m`, `rocm-smi --showtopo`."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from torusweep.errors import BadInput, printable
from torusweep.networks.families.graph_listing import Listing
from torusweep.networks.readers.draft import Draft, lines_of
from torusweep.networks.readers.markup import Element, xml_tree

# least compute capability → GB/s of an NVLink in each direction, as in NCCL (src/graph/topo.h)
NVLINKS = {100: "40.1", 90: "20.6", 87: "20", 86: "12", 70: "20", 60: "18", 0: "20"}
GPU_CLASS, NVSWITCH_CLASS = "0x03", "0x068000"  # beginnings of PCI classes
MOST_NVLINKS = 18  # NVLinks of a GPU: H100, B200
XGMI_HOP = 15  # weight of one XGMI link, as Linux's amdkfd gives it
XGMI_WITHIN = 13  # weight between partitions of one GPU, within a socket
ESCAPE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
NO_GPUS = "NCCL finds the NVLinks of such a file as it runs; let it write all of them: NCCL_TOPO_DUMP_FILE"
PCI_ONLY = "GPUs that only PCI joins have no links of their own; write a list of links"


def nccl(path: Path) -> Listing:
    """Read NCCL's topology (NCCL_TOPO_DUMP_FILE): GPUs, which are terminals, and NVLinks to GPUs and NVSwitches.

    A node's name is GPU plus its number `dev`. NVLinks between two nodes are parallel links; their speed is what NCCL
    assumes for the GPU's compute capability. PCI, processors and network cards are not read. As in NCCL, GPUs forward
    packets, and NVLinks to GPUs that the file does not list, which other processes may use, are left out.
    Raises BadInput if the two ends of an NVLink differ, and for partitions of a GPU.
    Source: NCCL, src/graph/xml.cc and topo.cc (ncclTopoAddNvLinks), topo.h (ncclTopoNVLinkBw).
    """
    draft, tree = Draft(path), xml_tree(path)
    gpus = _gpus(draft, tree)
    speeds: dict[tuple[str, str], tuple[str, Element]] = {}
    links = Counter[tuple[str, str]]()
    for bus, (_, gpu) in gpus.items():
        for nvlink in gpu.all("nvlink"):
            count, target = nvlink.attribute(path, "count"), nvlink.attribute(path, "target").lower()
            if target == bus:
                draft.left["NVLinks from a GPU to itself"] = None
                continue
            if target not in gpus and nvlink.attribute(path, "tclass").startswith(GPU_CLASS):
                draft.left["NVLinks to GPUs that the file does not list"] = None
                continue
            links[bus, target] += draft.whole(count, nvlink.line, "a number of NVLinks", 1000, least=1)
            capability = draft.whole(gpu.attribute(path, "sm"), gpu.line, "sm, a compute capability", 9999)
            speed = next(speed for least, speed in NVLINKS.items() if capability >= least)
            speeds[bus, target] = speed, nvlink
    for (bus, target), number in links.items():
        speed, nvlink = speeds[bus, target]
        kind = nvlink.attribute(path, "tclass")
        if target in gpus and (links[target, bus] != number or speeds[target, bus][0] != speed):
            draft.fail(nvlink.line, "equally many NVLinks of equal speed at both ends", f"{number} to {target}")
        if target in gpus and bus > target:
            continue
        called = "NVSwitch" if kind.startswith(NVSWITCH_CLASS) else "CPU"
        other = gpus[target][0] if target in gpus else draft.node(f"{called} {target}", nvlink.line)
        draft.link(gpus[bus][0], other, nvlink.line, multiplicity=number, bandwidth=f"{speed} GB/s")
    if not links:
        got = ", ".join(draft.left) if draft.left else f"none; {PCI_ONLY if gpus else NO_GPUS}"
        raise BadInput(f"{printable(path)}: expected NVLinks between GPUs in NCCL's topology, got {got}")
    read = {"system", "gpu", "nvlink"}
    draft.left |= dict.fromkeys(element.name for element in tree.all() if element.name not in read)
    return draft.listing()


def _gpus(draft: Draft, tree: Element) -> dict[str, tuple[int, Element]]:
    """Return a map from each GPU's busid, in lower case, to (node, XML element)."""
    gpus: dict[str, tuple[int, Element]] = {}
    for pci in tree.all("pci"):
        of_pci = [element for element in pci.inside if element.name == "gpu"]
        if len(of_pci) > 1:
            draft.fail(of_pci[1].line, "one <gpu> in each <pci>, without partitions", len(of_pci))
        for gpu in of_pci:
            called = f"GPU{gpu.attribute(draft.path, 'dev')}"
            if (bus := pci.attribute(draft.path, "busid").lower()) in gpus:
                draft.fail(gpu.line, "each busid once, in the topology of one host", pci.attributes["busid"])
            gpus[bus] = draft.declare(called, gpu.line, host=True), gpu
    return gpus


def nvidia_smi(path: Path) -> Listing:
    """Read the matrix of `nvidia-smi topo -m`: GPUs, which are terminals, and NVLinks; NV2 is two parallel NVLinks.

    If GPUs would need more than 18 NVLinks and all pairs have the same number, an NVSwitch joins the GPUs. PCI paths
    (SYS, NODE, PHB, PXB, PIX), network cards and affinities are not read; the speed of an NVLink is not in the file.
    Source: the legend of `nvidia-smi topo -m`; outputs of DGX-1, HGX A100 and HGX H100.
    """
    draft = Draft(path)
    counts = _nvlinks(draft, _matrix(draft))
    gpus = len(draft.names)
    of_each = [sum(count for (tail, _), count in counts.items() if tail == gpu) for gpu in range(gpus)]
    alike = len(counts) == gpus * (gpus - 1) and len({*counts.values()}) == 1
    if not counts or (max(of_each) > MOST_NVLINKS and not alike):
        got = f"{max(of_each)} of a GPU" if counts else f"none; {PCI_ONLY}"
        raise BadInput(f"{printable(path)}: expected 1 … {MOST_NVLINKS} NVLinks of each GPU, got {got}")
    draft.notes.append("the speed of an NVLink is not in the file: 1 flit a cycle each")
    if max(of_each) > MOST_NVLINKS:
        switch = draft.node("NVSwitch", 1)
        for gpu in range(gpus):
            draft.link(gpu, switch, 1, multiplicity=counts[0, 1])
        draft.notes.append(f"{max(of_each)} NVLinks of a GPU are too many: read as links to one NVSwitch")
        return draft.listing()
    for (tail, head), count in counts.items():
        if tail < head:
            draft.link(tail, head, 1, multiplicity=count)
    if alike and gpus > 2:
        draft.notes.append("read as links between GPUs; links to an NVSwitch would look the same")
    return draft.listing()


def _matrix(draft: Draft) -> list[list[str]]:
    """Return the matrix of connections between GPUs, in nvidia-smi's words (NV2, SYS, …)."""
    rows: dict[str, list[str]] = {}
    for line, text in lines_of(draft.path):
        words = ESCAPE.sub("", text).split()
        if words and not draft.names:
            for gpu in (word for word in words if re.fullmatch(r"GPU\d+", word)):
                draft.declare(gpu, line, host=True)
            draft.left |= dict.fromkeys(word for word in words if re.fullmatch(r"(NIC|mlx|hns|bnxt)\w*", word))
            draft.left |= dict.fromkeys(name for name in ("CPU Affinity", "NUMA Affinity") if name in text)
        elif words and words[0] in draft.names:
            place, gpus = draft.names[words[0]], len(draft.names)
            if len(words) <= gpus or words[0] in rows or words[place + 1] != "X":
                draft.fail(line, f"a row of {gpus} fields, X at the GPU itself", " ".join(words))
            rows[words[0]] = words[1 : gpus + 1]
    if len(rows) != len(draft.names) or not rows:
        raise BadInput(f"{printable(draft.path)}: expected a row for each of {len(draft.names)} GPUs, got {len(rows)}")
    return [rows[gpu] for gpu in draft.names]


def _nvlinks(draft: Draft, rows: list[list[str]]) -> dict[tuple[int, int], int]:
    """Return a map from (GPU, GPU) to the number of NVLinks, in both orders of each pair that NVLinks join."""
    counts: dict[tuple[int, int], int] = {}
    for tail, row in enumerate(rows):
        for head, kind in enumerate(row):
            if rows[head][tail] != kind:
                ends = f"GPUs {tail} and {head}"
                raise BadInput(f"{printable(draft.path)}: expected the same in both directions between {ends}")
            if nvlinks := re.fullmatch(r"NV(\d{1,3})", kind, re.ASCII):
                counts[tail, head] = int(nvlinks[1])
            elif kind not in ("X", "SYS", "NODE", "PHB", "PXB", "PIX", "SOC"):
                got = printable(kind)[:20]
                raise BadInput(f"{printable(draft.path)}: expected NV# or a PCI path of nvidia-smi, got '{got}'")
            else:
                draft.left |= {f"{kind} (PCI)": None} if kind != "X" else {}
    return counts


def rocm_smi(path: Path) -> Listing:
    """Read `rocm-smi --showtopo`: GPUs, which are terminals, and an XGMI link for each pair one hop apart.

    Such a pair has the link type XGMI and the weight 15. Two hops weigh 30, although the table of hops has 1 for every
    pair that XGMI joins. The number of bundled XGMI links, PCIe, hops and NUMA nodes are not read.
    Partitions of GPUs, which weigh 13 within a GPU and share its links, are refused.
    Source: Linux, drivers/gpu/drm/amd/amdkfd/kfd_crat.c (KFD_CRAT_XGMI_WEIGHT, KFD_CRAT_INTRA_SOCKET_WEIGHT);
    rocm_smi_lib, src/rocm_smi.cc (rsmi_topo_get_link_type).
    """
    draft = Draft(path)
    columns, tables = _tables(draft)
    weights, kinds = tables.get("Weight", {}), tables.get("Link Type", {})
    if not columns or [*weights] != columns or [*kinds] != columns:
        raise BadInput(
            f"{printable(path)}: expected weights and link types of all GPUs, as rocm-smi --showtopo prints them"
        )
    for tail, gpu in enumerate(columns):
        for head in range(tail):
            if kinds[gpu][head] == "XGMI" and weights[gpu][head] == str(XGMI_WITHIN):
                got = f"partitions of one, {columns[head]} and {gpu} (weight {XGMI_WITHIN})"
                raise BadInput(f"{printable(path)}: expected whole GPUs, got {got}; run rocm-smi with GPUs in mode SPX")
            if kinds[gpu][head] == "XGMI" and weights[gpu][head] == str(XGMI_HOP):
                draft.link(head, tail, 1)
    if not len(draft):
        raise BadInput(f"{printable(path)}: expected XGMI links of weight {XGMI_HOP}, got none; {PCI_ONLY}")
    others = [name for name in tables if name not in ("Weight", "Link Type")]
    draft.left |= dict.fromkeys([*others, "pairs of other weights or PCIE"])
    return draft.listing()


def _tables(draft: Draft) -> tuple[list[str], dict[str, dict[str, list[str]]]]:
    """Return rocm-smi's names of GPUs, and its tables between GPUs: title → GPU → one word for each GPU."""
    columns, tables, current = list[str](), dict[str, dict[str, list[str]]](), ""
    for line, text in lines_of(draft.path):
        words = text.split()
        if title := re.search(r"(Weight|Link Type|Hops|\w+) between two GPUs", text):
            current = title[1]
            tables[current] = {}
        elif text.lstrip().startswith("="):
            current = ""
        elif current and all(re.fullmatch(r"GPU\d+", word) for word in words):
            columns = columns or words
            if words != columns:
                draft.fail(line, "the same GPUs in each table", " ".join(words))
        elif current and words[0] in columns:
            if len(words) != len(columns) + 1:
                draft.fail(line, f"a row of {len(columns)} fields", " ".join(words))
            tables[current][words[0]] = words[1:]
            draft.node(words[0], line, host=True)
    return columns, tables
