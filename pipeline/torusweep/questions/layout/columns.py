"""Columns of the table `layout`."""

from torusweep.tables.columns import Column
from torusweep.tables.table import By, Declaration

LAYOUT = (
    Column("topology", "string", "", "canonical spelling"),
    Column("placement", "string", "", "canonical spelling of the placement, as in folded or trellis(block=[4, 4])"),
    Column("dimensions", "int64", "dimensions", "number of dimensions of space", "neither"),
    Column("extent", "list<int64>", "pitches", "number of places along each dimension of the bounding box"),
    Column(
        "places",
        "int64",
        "places",
        "number of places for nodes or cabinets in the bounding box: its area in a plane, its volume in space",
        "less",
    ),
    Column(
        "block",
        "list<int64>",
        "nodes",
        "sides of a cabinet along each digit of the address; null if every node has a place of its own",
    ),
    Column(
        "cables",
        "int64",
        "links",
        "number of links between cabinets, a bidirectional link counted once; null without cabinets",
        "less",
    ),
    Column("wire_length_max", "int64", "pitches", "Manhattan length of the longest wire; null without wires", "less"),
    Column(
        "wire_length_mean",
        "double",
        "pitches",
        "mean Manhattan length of the wires, without links inside a cabinet; null without wires",
        "less",
    ),
    Column("wire_length_total", "int64", "pitches", "Manhattan length of all wires, each link counted once", "less"),
    Column("wire_length_max_euclidean", "double", "pitches", "Euclidean length of the longest wire, if any", "less"),
    Column("wire_length_mean_euclidean", "double", "pitches", "mean Euclidean length of wires, or null", "less"),
    Column("wire_length_total_euclidean", "double", "pitches", "Euclidean length of all wires together", "less"),
    Column(
        "wire_length_histogram",
        "list<struct<length: int64, wires: int64>>",
        "pitches",
        "number of wires of each Manhattan length",
    ),
    Column(
        "per_class_wire_length",
        "map<string, struct<mean: double, max: double>>",
        "pitches",
        "mean and maximum Manhattan length of the wires of each link class",
    ),
    Column(
        "wire_density_max",
        "double",
        "channels",
        "one-way channels across a gap between places along x: mean over rows, greatest over gaps",
        "less",
    ),
    Column(
        "wire_density_position",
        "int64",
        "pitches",
        "number of places before the first gap with wire_density_max; null if a row has one place",
        "neither",
    ),
    Column("wire_density_middle", "double", "channels", "channels across the middle of a row, mean over rows", "less"),
    Column(
        "middle_channels",
        "int64",
        "channels",
        "number of channels across the middle of the whole layout, in the dimension in which it is least",
        "less",
    ),
    Column(
        "channel_width",
        "double",
        "bits",
        "width of a channel if the number of wires across the middle is the number of nodes (Dally 1990); null if no"
        " channel crosses the middle",
        "more",
    ),
    Column(
        "pins",
        "double",
        "bits",
        "greatest number of pins of a node at that channel width, for incoming and outgoing channels together",
        "less",
    ),
    Column(
        "layout_volume",
        "double",
        "wire pitches",
        "lower bound of the volume (in a plane, the area) of a box with room for the nodes, and for the wires through"
        " its densest cross sections; null for cabinets",
        "less",
    ),
    Column("notes", "string", "", "notes on the network, as in static"),
)
TABLE = Declaration(
    *("layout", "a network and placement: lengths and density of wires, and volume", LAYOUT),
    apart=("placement",),
    always=("topology", "placement", "extent", "places", "wire_length_total", "wire_length_histogram"),
    best=(By("block", first=None), By("wire_length_max"), By("placement")),
    designs=True,
)
