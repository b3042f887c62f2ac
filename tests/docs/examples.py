"""Commands that a text shows."""

from __future__ import annotations

import re


def examples(text: str) -> list[str]:
    """Lines that begin with `torusweep`, joined with the lines on which their quotation goes on."""
    found = re.findall(r"^ {2,}(torusweep (?:\"[^\"]*\"|[^\"\n])*)", text, re.MULTILINE)
    return [re.split(r" [|>#&] ?", line)[0].split("…")[0] for line in found]
