"""Writes paragraphs as DrawingML. All properties are explicit, so that the format does not depend on the template."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from lxml import etree

from ..model import Paragraph, TextRun
from .colors import A
from .slide_theme import NUMBER_SCHEMES, R

AddHyperlink = Callable[[str], str]
"""A function that adds a hyperlink relationship for an address, and returns the relationship id."""

_ALIGNS = {"left": "l", "center": "ctr", "right": "r", "justify": "just"}
_INDENT = 342_900
_MARKERS: dict[str, tuple[str, dict[str, str]]] = {
    "bullet": ("buChar", {"char": "•"}), "number": ("buAutoNum", {}), "": ("buNone", {}),
}  # fmt: skip
_SCHEMES = {label: scheme for scheme, label in NUMBER_SCHEMES.items()}
_BASELINES = {"super": "30000", "sub": "-25000"}


def fill_body(body: Any, paragraphs: Iterable[Paragraph], add_hyperlink: AddHyperlink) -> None:
    """Replace the paragraphs in a text body element by `paragraphs`."""
    for old in body.findall(f"{A}p"):
        body.remove(old)
    for paragraph in paragraphs:
        _add_paragraph(body, paragraph, add_hyperlink)
    if body.find(f"{A}p") is None:
        etree.SubElement(body, f"{A}p")


def _add_paragraph(body: Any, paragraph: Paragraph, add_hyperlink: AddHyperlink) -> None:
    element = etree.SubElement(body, f"{A}p")
    marker, attributes = _MARKERS[paragraph.marker]
    properties = etree.SubElement(element, f"{A}pPr", _properties(paragraph))
    if paragraph.indent is not None:
        _add_spacing(properties, paragraph)
    if paragraph.marker == "number":
        attributes = {"type": _SCHEMES.get(paragraph.bullet, "arabicPeriod"), "startAt": str(paragraph.start)}
    elif paragraph.marker and paragraph.bullet:
        attributes = {"char": paragraph.bullet}
    etree.SubElement(properties, f"{A}{marker}", attributes)
    for run in paragraph.runs:
        for n, line in enumerate(run.text.split("\n")):
            if n:
                _add_run_properties(etree.SubElement(element, f"{A}br"), run, add_hyperlink)
            if line:
                run_element = etree.SubElement(element, f"{A}r")
                _add_run_properties(run_element, run, add_hyperlink)
                etree.SubElement(run_element, f"{A}t").text = line


def _properties(paragraph: Paragraph) -> dict[str, str]:
    hanging = _INDENT if paragraph.marker else 0
    indent = _INDENT * paragraph.level + hanging if paragraph.indent is None else paragraph.indent
    attributes = {"marL": str(indent), "indent": str(-hanging if paragraph.indent is None else paragraph.first)}
    if paragraph.level:
        attributes["lvl"] = str(min(8, paragraph.level))
    attributes["algn"] = _ALIGNS[paragraph.align or ("right" if paragraph.rtl else "left")]
    return attributes | ({"rtl": "1", "marR": attributes["marL"], "marL": "0"} if paragraph.rtl else {})


def _add_spacing(properties: Any, paragraph: Paragraph) -> None:
    lines = etree.SubElement(properties, f"{A}lnSpc")
    etree.SubElement(lines, f"{A}spcPct", {"val": str(round(paragraph.line_spacing * 100_000))})
    for name, points in (("spcBef", paragraph.before), ("spcAft", paragraph.after)):
        distance = etree.SubElement(properties, f"{A}{name}")
        etree.SubElement(distance, f"{A}spcPts", {"val": str(round(points * 100))})


def _add_run_properties(parent: Any, run: TextRun, add_hyperlink: AddHyperlink) -> None:
    element = etree.SubElement(parent, f"{A}rPr", _run_attributes(run))
    if run.color:
        add_fill(element, run.color)
    else:
        etree.SubElement(etree.SubElement(element, f"{A}solidFill"), f"{A}schemeClr", {"val": "tx1"})
    if run.link and not run.link.startswith("#"):
        etree.SubElement(element, f"{A}hlinkClick", {f"{R}id": add_hyperlink(run.link)})


def _run_attributes(run: TextRun) -> dict[str, str]:
    """Return the XML attributes of a run. Bold and italic always override the placeholder's style."""
    attributes = {"b": "1" if run.bold else "0", "i": "1" if run.italic else "0", "dirty": "0"}
    if run.size:
        attributes["sz"] = str(int(max(1.0, min(4_000.0, run.size)) * 100))
    if run.capitals:
        attributes["cap"] = "all"
    if run.baseline:
        attributes["baseline"] = _BASELINES[run.baseline]
    if run.underline:
        attributes["u"] = "sng"
    if run.strike:
        attributes["strike"] = "sngStrike"
    return attributes


def add_fill(element: Any, color: str | None) -> None:
    """Add a solid fill to an element. If `color` is None or "", add an element that means no fill."""
    if color:
        digits = etree.SubElement(etree.SubElement(element, f"{A}solidFill"), f"{A}srgbClr", {"val": color[:6].upper()})
        if color[6:]:
            etree.SubElement(digits, f"{A}alpha", {"val": str(round(int(color[6:], 16) / 255 * 100_000))})
    else:
        etree.SubElement(element, f"{A}noFill")
