"""Read containerlab's topologies, which are YAML."""

from __future__ import annotations

from pathlib import Path

from torusweep.documents import parse, read_bytes, shown
from torusweep.errors import printable
from torusweep.networks.families.graph_listing import Listing
from torusweep.networks.readers.draft import Draft

NO_NODES = {"host", "mgmt-net", "macvlan", "dummy"}  # ends of links outside the lab
NO_LINKS = NO_NODES | {"vxlan", "vxlan-stitch"}  # types of links that have one end in the lab


def containerlab(path: Path) -> Listing:
    """Read a lab of containerlab: nodes, and links between two endpoints, in their short or long form.

    Links to the host, the management network and other places outside the lab are not read; nor are kinds, images and
    interfaces. Every node is a terminal and forwards packets.
    Source: containerlab.dev, topology definition.
    """
    document = parse(read_bytes(path, "lab of containerlab", "write the links as a list"), printable(path))
    topology = document.data.get("topology") if isinstance(document.data, dict) else None
    lab = topology if isinstance(topology, dict) else {}
    nodes, links = lab.get("nodes"), lab.get("links", [])
    if not isinstance(nodes, dict) or not isinstance(links, list):
        raise document.refused(
            ("topology",), "expected topology with nodes, a mapping, and links, a list, of containerlab"
        )
    draft = Draft(path)
    for name in nodes:
        draft.declare(str(name), document.keys["topology", "nodes", name][0])
    for place, link in enumerate(links):
        where = ("topology", "links", place)
        kind = link.get("type", "veth") if isinstance(link, dict) else None
        ends = link.get("endpoints", [link.get("endpoint")]) if isinstance(link, dict) else None
        if not isinstance(ends, list):
            raise document.refused(where, f"expected endpoints of a link of containerlab, got {shown(link)}")
        names = [str(end.get("node")) if isinstance(end, dict) else str(end).partition(":")[0] for end in ends]
        if kind in NO_LINKS or (NO_NODES & {*names}):
            draft.left["links to outside the lab"] = None
        elif len(names) != 2:
            raise document.refused(where, f"expected two endpoints of a link, got {len(names)}")
        else:
            line = document.values[where][0]
            draft.link(draft.known(names[0], line), draft.known(names[1], line), line)
    draft.left |= dict.fromkeys(
        ["kinds", "images", "interfaces", *(str(key) for key in lab if key not in ("nodes", "links"))]
    )
    return draft.listing()
