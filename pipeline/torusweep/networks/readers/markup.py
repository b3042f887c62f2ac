"""Read XML of other tools as a tree of elements with their attributes, and with lines for messages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from torusweep.errors import Refused, one_line, printable
from torusweep.networks.families.graph_listing import SHOWN, fail

LARGEST = 2**24  # largest file, in bytes
DEEPEST = 100  # largest number of elements inside each other


@dataclass(slots=True)
class Element:
    """An XML element: its name without a prefix, attributes, line, the elements inside it, and its text."""

    name: str
    attributes: dict[str, str]
    line: int
    inside: list[Element] = field(default_factory=list)
    text: str = ""

    def all(self, *names: str) -> Iterator[Element]:
        """Yield elements inside this one, at any depth, in file order: all, or only those called one of `names`."""
        for element in self.inside:
            if not names or element.name in names:
                yield element
            yield from element.all(*names)

    def child(self, name: str) -> Element | None:
        """Return the first child element with this name; None if there is none."""
        return next((element for element in self.inside if element.name == name), None)

    def said(self, name: str) -> str | None:
        """Return the text of the first child element with this name; None if there is none."""
        found = self.child(name)
        return None if found is None else found.text.strip()

    def attribute(self, path: Path, name: str) -> str:
        """Return the value of an attribute. Raises BadInput if it is missing or empty."""
        if not self.attributes.get(name):
            fail(path, self.line, f"expected <{one_line(printable(self.name), SHOWN)}> with the attribute {name}")
        return self.attributes[name]


def xml_tree(path: Path) -> Element:
    """Read XML as a tree. Entity declarations are refused, and no other file is read.

    Raises BadInput for a file that is not well-formed or too deeply nested, Refused for a file that is too large.
    """
    if path.stat().st_size > LARGEST:
        raise Refused(f"{printable(path)}: expected at most {LARGEST >> 20} MiB of XML; write the links as a list")
    top = Element("", {}, 0)
    open_elements = [top]
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(open_elements) > DEEPEST:
            fail(path, parser.CurrentLineNumber, f"expected at most {DEEPEST} elements inside each other")
        element = Element(name.rpartition(":")[2], attributes, parser.CurrentLineNumber)
        open_elements[-1].inside.append(element)
        open_elements.append(element)

    def text(more: str) -> None:
        open_elements[-1].text += more

    def entity(*_: object) -> None:
        fail(path, parser.CurrentLineNumber, "expected XML without entity declarations, which are not read for safety")

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: open_elements.pop()
    parser.CharacterDataHandler = text
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(path.read_bytes(), True)
    except expat.ExpatError as error:
        fail(path, error.lineno, f"expected well-formed XML, got: {expat.ErrorString(error.code)}")
    except (LookupError, ValueError) as error:  # raised by Python for an unknown encoding
        fail(path, 1, f"expected an encoding that is known, got: {one_line(printable(error))}")
    return top.inside[0]
