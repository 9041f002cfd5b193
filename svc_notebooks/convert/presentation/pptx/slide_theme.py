"""The layout, master and theme of a slide, and the text properties that it inherits from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from .colors import A, Theme, fill, theme

P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"

_BODY_TYPES = frozenset({"obj", "body", "subTitle", "chart", "tbl", "clipArt", "dgm", "media", "pic"})
_ON_MASTER = dict.fromkeys(_BODY_TYPES, "body") | {"ctrTitle": "title"}
_STYLES = {"title": "titleStyle", "body": "bodyStyle"}
_ALIGNS = {"l": "left", "ctr": "center", "r": "right", "just": "justify", "dist": "justify"}
_LEVELS = 9


@dataclass(frozen=True, slots=True)
class RunStyle:
    """The formatting of letters and paragraphs."""

    align: str = ""
    rtl: bool = False
    marker: str = ""
    size: float = 18.0
    bold: bool = False
    italic: bool = False
    underline: bool = False
    strike: bool = False
    color: str | None = None


@dataclass(frozen=True, slots=True)
class SlideTheme:
    """The parts under a slide; their XML is `layout` and `master`."""

    layout_part: Any
    master_part: Any
    colors: Theme
    defaults: Any = None
    _run_styles: dict[tuple[str | None, int], RunStyle] = field(default_factory=dict)

    @property
    def layout(self) -> Any:
        """The layout's XML."""
        return self.layout_part._element if self.layout_part is not None else None

    @property
    def master(self) -> Any:
        """The master's XML."""
        return self.master_part._element if self.master_part is not None else None

    def ancestors(self, placeholder: Any) -> tuple[Any, ...]:
        """The placeholders that this one inherits from, the nearest first."""
        placeholder_type, index = placeholder.get("type", "obj"), placeholder.get("idx", "0")
        on_layout = _matching(
            self.layout,
            lambda ph: ph.get("idx", "0") == index and _same_master_type(ph.get("type", "obj"), placeholder_type),
        )
        if on_layout is None:
            on_layout = _matching(self.layout, lambda ph: ph.get("type", "obj") == placeholder_type)
        master_type = _ON_MASTER.get(placeholder_type, placeholder_type)
        on_master = _matching(
            self.master, lambda ph: _ON_MASTER.get(ph.get("type", "obj"), ph.get("type")) == master_type
        )
        return tuple(shape for shape in (on_layout, on_master) if shape is not None)

    def run_style_for(self, placeholder_type: str | None, level: int) -> RunStyle:
        """The style that the master gives to the text of a placeholder of this type, None for all other text."""
        if (placeholder_type, level) not in self._run_styles:
            self._run_styles[placeholder_type, level] = self._inherited_run_style(placeholder_type, level)
        return self._run_styles[placeholder_type, level]

    def _inherited_run_style(self, placeholder_type: str | None, level: int) -> RunStyle:
        run_style = apply_paragraph_properties(RunStyle(), level_style(self.defaults, level), self.colors)
        styles = self.master.find(f"{P}txStyles") if placeholder_type and self.master is not None else None
        if styles is None:
            return run_style
        name = _STYLES.get(_ON_MASTER.get(str(placeholder_type), str(placeholder_type)), "otherStyle")
        return apply_paragraph_properties(run_style, level_style(styles.find(f"{P}{name}"), level), self.colors)


def _same_master_type(first: str, second: str) -> bool:
    return _ON_MASTER.get(first, first) == _ON_MASTER.get(second, second)


def _matching(root: Any, predicate: Any) -> Any:
    return next((shape for shape, placeholder in _placeholders(root) if predicate(placeholder)), None)


def _placeholders(root: Any) -> Iterator[tuple[Any, Any]]:
    tree = root.find(f"{P}cSld/{P}spTree") if root is not None else None
    for shape in () if tree is None else tree:
        placeholder = placeholder_of(shape)
        if placeholder is not None:
            yield shape, placeholder


def placeholder_of(shape: Any) -> Any:
    """The element that makes a shape a placeholder."""
    if not isinstance(shape.tag, str) or not len(shape):
        return None
    return shape[0].find(f"{P}nvPr/{P}ph")


def level_style(styles: Any, level: int) -> Any:
    """The properties that a list of styles has for a level, from 0."""
    return None if styles is None else styles.find(f"{A}lvl{min(level, _LEVELS - 1) + 1}pPr")


def apply_paragraph_properties(run_style: RunStyle, properties: Any, colors: Theme) -> RunStyle:
    """The style with what a paragraph's properties say differently."""
    if properties is None:
        return run_style
    align = _ALIGNS.get(properties.get("algn", ""), run_style.align)
    rtl = _flag(properties.get("rtl"), run_style.rtl)
    run_style = replace(run_style, align=align, rtl=rtl, marker=_marker(properties, run_style.marker))
    return apply_run_properties(run_style, properties.find(f"{A}defRPr"), colors)


def _marker(properties: Any, marker: str) -> str:
    for child in properties:
        match str(child.tag).removeprefix(A):
            case "buNone":
                return ""
            case "buChar" | "buBlip":
                return "bullet"
            case "buAutoNum":
                return "number"
    return marker


def apply_run_properties(run_style: RunStyle, properties: Any, colors: Theme) -> RunStyle:
    """The style with what a run's properties say differently."""
    if properties is None:
        return run_style
    get = properties.get
    color = fill(properties, colors)
    return replace(
        run_style,
        size=_size(get("sz"), run_style.size),
        bold=_flag(get("b"), run_style.bold),
        italic=_flag(get("i"), run_style.italic),
        underline=get("u", "none") != "none" if get("u") else run_style.underline,
        strike=get("strike", "noStrike") != "noStrike" if get("strike") else run_style.strike,
        color=run_style.color if color is None else color or None,
    )


def _flag(value: str | None, otherwise: bool) -> bool:
    return otherwise if value is None else value in ("1", "true", "on")


def _size(value: str | None, otherwise: float) -> float:
    try:
        return max(1.0, min(4_000.0, int(value) / 100)) if value else otherwise
    except ValueError:
        return otherwise


def slide_theme_of(slide_part: Any, defaults: Any) -> SlideTheme:
    """What a slide stands on, as far as the file has it."""
    layout = _related(slide_part, "slideLayout")
    master = _related(layout, "slideMaster")
    return SlideTheme(layout, master, _colors(master), defaults)


def _colors(master: Any) -> Theme:
    theme_part = _related(master, "theme")
    color_map = master._element.find(f"{P}clrMap") if master is not None else None
    return theme(_parse_part(theme_part), {} if color_map is None else dict(color_map.attrib))


def _related(part: Any, relationship_type: str) -> Any:
    """The part that a relationship of this kind leads to, or None."""
    for relationship in () if part is None else part.rels.values():
        if relationship.reltype.endswith(f"/{relationship_type}") and not relationship.is_external:
            return relationship.target_part
    return None


def _parse_part(part: Any) -> Any:
    return None if part is None else parse_xml(part.blob)


def parse_xml(blob: bytes) -> Any:
    """XML of a part that python-pptx does not know; None when it is broken."""
    from lxml import etree

    try:
        return etree.fromstring(blob, etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError:
        return None
