"""Reads the looks of OpenDocument texts: alignment, page breaks, size and colours of text, and the page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ...input.odf.namespaces import length, name
from ...input.odf.styles import MASTER_PAGE, OdfStyles, StyleProperties
from ..looks import Look, Looks
from ..model import Page

_POINT = 12_700
_ALIGN, _DIRECTION = "paragraph/" + name("fo:text-align"), "paragraph/" + name("style:writing-mode")
_COLOR, _AUTOMATIC_COLOR = "text/" + name("fo:color"), "text/" + name("style:use-window-font-color")
_BACKGROUNDS = {
    "background": "text/" + name("fo:background-color"),
    "shading": "paragraph/" + name("fo:background-color"),
}
_SIZE = "text/" + name("fo:font-size")
_NAME = name("style:name")
_HEX_COLOR = re.compile("#[0-9a-f]{6}")
_SIDES = ("top", "right", "bottom", "left")


class OdtLookReader:
    """Keeps the look at the current place of a text, and makes the markers of changes."""

    def __init__(self, styles: OdfStyles, root: Any, texts: Iterable[str]) -> None:
        """Choose markers that are not in `texts`. `root` is the root of styles.xml."""
        self._root = root
        body = styles.properties("paragraph", "Standard") or styles.properties("paragraph", None)
        self._size = _points(body.get(_SIZE))
        self.markers = Looks(texts, self._size)
        self._masters = {it.get(_NAME): it for it in root.iter(name("style:master-page"))}
        self._master = "Standard" if "Standard" in self._masters else next(iter(self._masters), None)
        self._pages: dict[str | None, Page | None] = {}
        self._paragraphs: Counter[str | None] = Counter()
        self._text: Look = {}
        self._is_body = True
        self._breaks_after = False

    def of_block(self, kind: str, properties: StyleProperties) -> Look:
        """Return the alignment of a block, and the page break before it. `kind` is "paragraph" or "table"."""
        is_rtl = properties.get(_DIRECTION, "").startswith("rl")
        default, other = ("right", "left") if is_rtl else ("left", "right")
        align = {"start": default, "end": other}.get(properties.get(_ALIGN, ""), properties.get(_ALIGN, default))
        look = {"align": align} if align in ("left", "right", "center", "justify") and align != default else {}
        if self._is_body:
            master_name = properties.get(MASTER_PAGE)
            before, after = (properties.get(f"{kind}/" + name(f"fo:break-{it}")) for it in ("before", "after"))
            if self._paragraphs and (before == "page" or self._breaks_after or master_name):
                look["page-break"] = "before"
            if (master := self._masters.get(master_name)) is not None:
                self._master = master.get(name("style:next-style-name"), master_name)
            self._breaks_after = after == "page"
            self._paragraphs[self._master] += 1
        return look

    @contextmanager
    def block(self) -> Iterator[None]:
        """Begin a block, in which text is plain at first. Blocks inside it, such as notes, have no page breaks."""
        outer = self._text, self._is_body
        self._text, self._is_body = {}, False
        yield
        self._text, self._is_body = outer

    def block_marker(self, look: Look, *, is_empty: bool) -> str:
        """Return the marker at the start of a block, or "" without a look. An empty block has only its page break."""
        kept = {name: value for name, value in look.items() if name == "page-break" or not is_empty}
        return self.markers.marker(kept) if kept else ""

    def text_marker(self, properties: StyleProperties) -> str:
        """Return the marker before text with these properties, or "" if the look does not change there."""
        look = self._of_text(properties)
        if look == self._text:
            return ""
        self._text = look
        return self.markers.marker(look)

    def _of_text(self, properties: StyleProperties) -> Look:
        look: Look = {}
        size = _points(properties.get(_SIZE))
        if size and size != self._size:
            look["size"] = f"{size:g}pt"
        color = properties.get(_COLOR, "").lower()
        is_automatic = properties.get(_AUTOMATIC_COLOR) == "true" or "link" in properties
        if _HEX_COLOR.fullmatch(color) and color != "#000000" and not is_automatic:
            look["color"] = color
        for key, attribute in _BACKGROUNDS.items():
            background = properties.get(attribute, "").lower()
            if _HEX_COLOR.fullmatch(background) and background != "#ffffff":
                look[key] = background
        return look

    def text_width(self) -> float:
        """Return the width of the text in EMU at the current place, or 0 in a block and if no style defines it."""
        page = self._page(self._master) if self._is_body else None
        return (page.width - page.left - page.right) * _POINT if page else 0.0

    def page(self) -> Page | None:
        """Return the page of most paragraphs, or None if the styles do not define its size."""
        return self._page(self._paragraphs.most_common(1)[0][0]) if self._paragraphs else None

    def _page(self, name_of_master: str | None) -> Page | None:
        if name_of_master not in self._pages:
            self._pages[name_of_master] = self._page_of(self._masters.get(name_of_master))
        return self._pages[name_of_master]

    def _page_of(self, master: Any) -> Page | None:
        layouts = self._root.iter(name("style:page-layout")) if master is not None else ()
        layout = next((it for it in layouts if it.get(_NAME) == master.get(name("style:page-layout-name"))), None)
        properties = None if layout is None else layout.find(name("style:page-layout-properties"))
        if layout is None or properties is None:
            return None
        width, height = (_points(properties.get(name(f"fo:page-{it}"))) for it in ("width", "height"))
        default = properties.get(name("fo:margin"))
        margins = [_points(properties.get(name(f"fo:margin-{it}"), default)) for it in _SIDES]
        for place, kind, side in ((0, "header", "bottom"), (2, "footer", "top")):
            if master.find(name(f"style:{kind}")) is not None:
                margins[place] += _margin_height(layout.find(name(f"style:{kind}-style")), side)
        return Page(width, height, *margins) if width and height else None


def _margin_height(style: Any, side: str) -> float:
    """Return the height of a header or a footer and its distance from the text."""
    properties = None if style is None else style.find(name("style:header-footer-properties"))
    if properties is None:
        return 0.0
    height = properties.get(name("svg:height"), properties.get(name("fo:min-height")))
    return _points(height) + _points(properties.get(name(f"fo:margin-{side}")))


def _points(text: str | None) -> float:
    return round((length(text) or 0.0) / _POINT, 2)
