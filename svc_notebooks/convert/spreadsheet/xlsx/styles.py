"""Reads number formats and bold type from the styles of an xlsx file."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, iterparse

from ..model import DEFAULT_STYLE, CellStyle

if TYPE_CHECKING:
    from .read import XlsxPackage

# fmt: off
BUILT_IN = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 5: '"$"#,##0_);("$"#,##0)', 6: '"$"#,##0_);[Red]("$"#,##0)',
    7: '"$"#,##0.00_);("$"#,##0.00)', 8: '"$"#,##0.00_);[Red]("$"#,##0.00)', 9: "0%", 10: "0.00%", 11: "0.00E+00",
    12: "# ?/?", 13: "# ??/??", 14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm", 37: "#,##0_);(#,##0)",
    38: "#,##0_);[Red](#,##0)", 39: "#,##0.00_);(#,##0.00)", 40: "#,##0.00_);[Red](#,##0.00)", 45: "mm:ss",
    46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
}
# fmt: on
"""Formats that files name by number only. 14 and 22 are the local date formats, here ISO 8601."""


def read_styles(package: XlsxPackage, part: str | None) -> list[CellStyle]:
    """Return the styles of a file, to which cells refer by index."""
    if part is None or not package.has(part):
        return [DEFAULT_STYLE]
    with package.open(part) as file:
        root = next((element for _, element in iterparse(file, ("end",)) if element.tag.endswith("styleSheet")), None)
    if root is None:
        return [DEFAULT_STYLE]
    formats = BUILT_IN | {int(e.get("numFmtId", 0)): e.get("formatCode", "") for e in _children(root, "numFmts")}
    bold = [
        any(child.tag.endswith("}b") and child.get("val", "1") in ("1", "true") for child in font)
        for font in _children(root, "fonts")
    ]
    return [_style(element, formats, bold) for element in _children(root, "cellXfs")]


def _children(root: Element, name: str) -> list[Element]:
    return [child for parent in root if parent.tag.endswith(f"}}{name}") for child in parent]


def _style(element: Element, formats: dict[int, str], bold: list[bool]) -> CellStyle:
    font = int(element.get("fontId", 0))
    code = formats.get(int(element.get("numFmtId", 0)), "")
    return CellStyle("" if code.lower() == "general" else code[:255], font < len(bold) and bold[font])
