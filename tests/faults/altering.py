"""Texts, bytes and JSON, altered: half of the time so little that most readers still take them."""

from __future__ import annotations

import contextlib
import json
import random
import re

EXTREMES = [
    *("0", "-1", "1", "2", "3", "7", "0.5", "1000000000", "2147483648", "9223372036854775808", "-9223372036854775809"),
    *("nan", ".inf", "1e308", "-1e308", "1e-320", "1e400", "9" * 400, "null", "true", "", '""', "[]", "{}", "[[1]]"),
    *('"x"', "x", "'", "[", "}", "(", "\x00", "\u202e", "\x1b[2J", "\ud800", "é", "../x", "/dev/zero", "x" * 70_000),
]
WHOLE = ["0", "1", "2", "3", "4", "5", "6", "8"]
MILD = ["0.1", "0.5", "0.25", "1", "2.5"]
# words of which one may stand where another does
ALIKE = [
    ["ring", "torus", "mesh", "hypercube", "full_mesh", "circulant", "dragonfly"],
    [
        "uniform",
        "tornado",
        "transpose",
        "random_permutation",
        "bit_complement",
        "nearest_neighbour",
        "hot_spot",
        "all_to_all",
    ],
    ["minimal", "minimal_ecmp", "dimension_order", "valiant", "up_down", "adaptive"],
    ["none", "dateline", "bubble", "hops"],
    ["straight", "folded"],
    ["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast"],
    ["distances", "bisection", "connectivity", "spectrum"],
    ["true", "false"],
    ["undirected", "directed"],
    ["symmetric", "general"],
    ["pattern", "integer", "real"],
    ["graph", "digraph"],
    ["B", "KiB", "MiB", "GiB", "kB", "MB", "GB"],
    ["send", "recv"],
]
WORD = re.compile(r"[A-Za-z_][\w-]*|-?\d+(?:\.\d+)?(?:e-?\d+)?|\s+|.", re.DOTALL)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def mild(text: str, chance: random.Random) -> str:
    """Another small number in place of one: most inputs are still valid."""
    places = list(NUMBER.finditer(text))
    if not places:
        return text
    one = chance.choice(places)
    return text[: one.start()] + chance.choice(MILD if "." in one[0] else WHOLE) + text[one.end() :]


def near(text: str, chance: random.Random) -> str:
    """In place of a number, another of the text, its neighbour, or its double."""
    places = list(NUMBER.finditer(text))
    if not places:
        return text
    one = chance.choice(places)
    word, what = one[0], chance.randrange(6)
    if what < 3 or not word.isdigit() or len(word) > 9:
        given = chance.choice([other[0] for other in places if ("." in other[0]) == ("." in word)])
    else:
        given = [str(int(word) + 1), str(max(0, int(word) - 1)), str(2 * int(word))][what - 3]
    return text[: one.start()] + given + text[one.end() :]


def alike(text: str, chance: random.Random) -> str:
    """A word of the same kind in place of one."""
    places = [(one, words) for one in WORD.finditer(text) for words in ALIKE if one[0] in words]
    if not places:
        return near(text, chance)
    one, words = chance.choice(places)
    return text[: one.start()] + chance.choice(words) + text[one.end() :]


def blanks(text: str, chance: random.Random) -> str:
    """Blanks at a line's end, an empty line, Windows' or no line ends, a byte-order mark: readers see no difference."""
    lines = text.splitlines(keepends=True)
    place, what = chance.randrange(len(lines) + 1), chance.randrange(5)
    if what == 0:
        return "".join(line.rstrip("\n") + chance.choice(["", " ", "  "]) + "\n" for line in lines)
    if what == 1:
        return "".join([*lines[:place], "\n", *lines[place:]])
    return [text.replace("\n", "\r\n"), text.rstrip("\n"), "\ufeff" + text][what - 2]


def words(text: str, chance: random.Random) -> str:
    """A word or number is replaced, left out, repeated, or changes places with another."""
    parts = WORD.findall(text)
    solid = [place for place, word in enumerate(parts) if not word.isspace()]
    if not solid:
        return chance.choice(EXTREMES)
    one, other = chance.choice(solid), chance.choice(solid)
    what = chance.randrange(5)
    if what == 0:
        parts[one] = chance.choice(EXTREMES)
    elif what == 1:
        parts[one] = ""
    elif what == 2:
        parts[one] += chance.choice(["", " "]) + parts[one]
    elif what == 3:
        parts[one], parts[other] = parts[other], parts[one]
    else:
        parts[one] = parts[other]
    return "".join(parts)


def numbers(text: str, chance: random.Random) -> str:
    """An extreme value in place of a number."""
    places = list(NUMBER.finditer(text))
    if not places:
        return words(text, chance)
    one = chance.choice(places)
    return text[: one.start()] + chance.choice(EXTREMES) + text[one.end() :]


def lines(text: str, chance: random.Random) -> str:
    """A line is left out, repeated, moved, or the end is missing."""
    lines = text.splitlines(keepends=True) or [text]
    one, what = chance.randrange(len(lines)), chance.randrange(4)
    if what == 0:
        del lines[one]
    elif what == 1:
        lines[one:one] = [lines[one]] * chance.choice([1, 1, 2, 500])
    elif what == 2:
        lines.insert(chance.randrange(len(lines)), lines.pop(one))
    else:
        del lines[one + 1 :]
    return "".join(lines)


def altered_bytes(content: bytes, chance: random.Random) -> bytes:
    """A byte is another, a piece is left out, stands twice, or the end is missing."""
    one, other = sorted(chance.randrange(len(content) + 1) for _ in range(2))
    what = chance.randrange(5)
    if what == 0:
        return content[:one] + bytes([chance.randrange(256)]) + content[one + 1 :]
    if what == 1:
        return content[:one] + content[min(other, one + 8) :]
    if what == 2:
        return content[:other] + content[one:other] + content[other:]
    if what == 3:
        flipped = bytes([(content[one : one + 1] or b"\0")[0] ^ 1 << chance.randrange(8)])
        return content[:one] + flipped + content[one + 1 :]
    return content[:one]


def altered(content: bytes, chance: random.Random) -> bytes:
    """Alter a text: most of the time mildly, so that half of it is still read."""
    ways = [near, alike, mild, blanks, words, numbers, lines, None]
    for _ in range(chance.choice([1, 1, 1, 1, 2, 3])):
        how = chance.choices(ways, [6, 4, 4, 1, 2, 2, 2, 1])[0]
        if how is None:
            content = altered_bytes(content, chance)
        else:
            content = how(content.decode("utf-8", "surrogateescape"), chance).encode("utf-8", "surrogatepass")
    return content


def altered_tree(content: bytes, chance: random.Random) -> bytes:
    """Alter a JSON text at one of its places: another value, a key less, more or twice, items in another order."""
    tree = json.loads(content)
    places: list[tuple[dict | list, str | int]] = []

    def walk(inner: object) -> None:
        if isinstance(inner, (dict, list)):
            for key in list(inner) if isinstance(inner, dict) else range(len(inner)):
                places.append((inner, key))
                walk(inner[key])  # type: ignore[index]

    walk(tree)
    if not places or chance.random() < 0.2:
        return altered(content, chance)
    inner, key = chance.choice(places)
    values = [None, True, 0, -1, 2**31, 2**63, 10**400, 1e308, float("nan"), "", "x", "\ud800", [], {}, [[]], {"a": 1}]
    what = chance.randrange(6)
    if what == 0:
        del inner[key]  # type: ignore[arg-type]
    elif what == 1 and isinstance(inner, list):
        chance.shuffle(inner)
    elif what == 2 and isinstance(inner, list):
        inner.append(inner[key])  # type: ignore[index]
    elif what <= 3 and isinstance(inner[key], int):  # type: ignore[index]
        inner[key] += chance.choice([-1, 1])  # type: ignore[index]
    elif what == 4:
        inner[key] = chance.choice(places)[0]  # type: ignore[index]
        with contextlib.suppress(ValueError):  # a tree in itself
            return json.dumps(tree).encode()
        return content[:-2]
    else:
        inner[key] = chance.choice(values)  # type: ignore[index]
    return json.dumps(tree).encode()
