"""Writes paragraphs as DrawingML with explicit properties, so that nothing depends on the template."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from lxml import etree

from ..model import Paragraph, TextRun
from .colors import A

R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
Linked = Callable[[str], str]
"""Makes a relationship to an address, and gives its name."""

_ALIGNS = {"left": "l", "center": "ctr", "right": "r", "justify": "just"}
_STEP = 342_900
_MARKERS = {"bullet": ("buChar", {"char": "•"}), "number": ("buAutoNum", {"type": "arabicPeriod"}), "": ("buNone", {})}


def fill_body(body: Any, paragraphs: Iterable[Paragraph], linked: Linked) -> None:
    """Put paragraphs in the place of what a text body has."""
    for old in body.findall(f"{A}p"):
        body.remove(old)
    for paragraph in paragraphs:
        _add_paragraph(body, paragraph, linked)
    if body.find(f"{A}p") is None:
        etree.SubElement(body, f"{A}p")


def _add_paragraph(body: Any, paragraph: Paragraph, linked: Linked) -> None:
    element = etree.SubElement(body, f"{A}p")
    etree.SubElement(etree.SubElement(element, f"{A}pPr", _properties(paragraph)), *_marker(paragraph))
    for run in paragraph.runs:
        for n, line in enumerate(run.text.split("\n")):
            if n:
                _add_look(etree.SubElement(element, f"{A}br"), run, linked)
            if line:
                made = etree.SubElement(element, f"{A}r")
                _add_look(made, run, linked)
                etree.SubElement(made, f"{A}t").text = line


def _marker(paragraph: Paragraph) -> tuple[str, dict[str, str]]:
    name, attributes = _MARKERS[paragraph.marker]
    return f"{A}{name}", attributes


def _properties(paragraph: Paragraph) -> dict[str, str]:
    hanging = _STEP if paragraph.marker else 0
    found = {"marL": str(_STEP * paragraph.level + hanging), "indent": str(-hanging)}
    if paragraph.level:
        found["lvl"] = str(min(8, paragraph.level))
    if paragraph.align or paragraph.rtl:
        found["algn"] = _ALIGNS[paragraph.align or "right"]
    return found | ({"rtl": "1", "marR": found["marL"], "marL": "0"} if paragraph.rtl else {})


def _add_look(parent: Any, run: TextRun, linked: Linked) -> None:
    element = etree.SubElement(parent, f"{A}rPr", _look(run))
    if run.color:
        add_fill(element, run.color)
    else:
        etree.SubElement(etree.SubElement(element, f"{A}solidFill"), f"{A}schemeClr", {"val": "tx1"})
    if run.link and not run.link.startswith("#"):
        etree.SubElement(element, f"{A}hlinkClick", {f"{R}id": linked(run.link)})


def _look(run: TextRun) -> dict[str, str]:
    """What is not said is said not to be: a placeholder's own style may have it."""
    found = {"b": "1" if run.bold else "0", "i": "1" if run.italic else "0", "dirty": "0"}
    if run.size:
        found["sz"] = str(int(max(1.0, min(4_000.0, run.size)) * 100))
    if run.underline:
        found["u"] = "sng"
    if run.strike:
        found["strike"] = "sngStrike"
    return found


def add_fill(element: Any, color: str | None) -> None:
    """A surface of one colour, or none."""
    if color:
        etree.SubElement(etree.SubElement(element, f"{A}solidFill"), f"{A}srgbClr", {"val": color.upper()})
    else:
        etree.SubElement(element, f"{A}noFill")
