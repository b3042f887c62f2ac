"""Columns of the table `layout`."""

from torusweep.tables.columns import Column
from torusweep.tables.table import By, Declaration

LAYOUT = (
    Column("topology", "string", "", "canonical spelling"),
    Column("placement", "string", "", "canonical spelling of the placement, as in folded or trellis(block=[4, 4])"),
    Column("dimensions", "int64", "dimensions", "dimensions of space in which places lie", "neither"),
    Column("extent", "list<int64>", "pitches", "places along each dimension of the bounding box"),
    Column(
        "places",
        "int64",
        "places",
        "places for nodes or cabinets in the bounding box: its area in the plane, its volume in space",
        "less",
    ),
    Column(
        "block",
        "list<int64>",
        "nodes",
        "sides of a cabinet along each digit of the address; null where every node has its own place",
    ),
    Column(
        "cables",
        "int64",
        "links",
        "links between cabinets, a bidirectional one counted once; null where there are none",
        "less",
    ),
    Column("wire_length_max", "int64", "pitches", "longest wire (Manhattan length); null without wires", "less"),
    Column(
        "wire_length_mean",
        "double",
        "pitches",
        "mean length of a wire, without those inside a cabinet; null without wires",
        "less",
    ),
    Column("wire_length_total", "int64", "pitches", "length of all wires, a bidirectional link counted once", "less"),
    Column("wire_length_max_euclidean", "double", "pitches", "the same, Euclidean length; null without wires", "less"),
    Column("wire_length_mean_euclidean", "double", "pitches", "the same, Euclidean length; null without wires", "less"),
    Column("wire_length_total_euclidean", "double", "pitches", "the same, Euclidean length", "less"),
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
        "wire lengths of each link class (Manhattan)",
    ),
    Column(
        "wire_density_max",
        "double",
        "channels",
        "one-way channels that cross a gap between places of a row along x, mean over rows, largest over gaps",
        "less",
    ),
    Column(
        "wire_density_position",
        "int64",
        "pitches",
        "places before the first such gap; null if a row has one place",
        "neither",
    ),
    Column("wire_density_middle", "double", "channels", "channels that cross the middle of a row", "less"),
    Column(
        "middle_channels",
        "int64",
        "channels",
        "channels that cross the middle of the whole layout, in the dimension with the least number",
        "less",
    ),
    Column(
        "channel_width",
        "double",
        "bits",
        "width of a channel if as many wires cross the middle as there are nodes (Dally 1990); null if no "
        "channel crosses it",
        "more",
    ),
    Column(
        "pins",
        "double",
        "bits",
        "greatest number of pins of a node at that width, incoming and outgoing channels together",
        "less",
    ),
    Column(
        "layout_volume",
        "double",
        "wire pitches",
        "lower bound of the volume of a box with room for the nodes and for the wires through its densest "
        "sections; in the plane, of the area; null for cabinets",
        "less",
    ),
    Column("notes", "string", "", "see static"),
)
TABLE = Declaration(
    *("layout", "a network and placement: wires, volume", LAYOUT),
    apart=("placement",),
    always=("topology", "placement", "extent", "places", "wire_length_total", "wire_length_histogram"),
    best=(By("block", first=None), By("wire_length_max"), By("placement")),
    designs=True,
)
