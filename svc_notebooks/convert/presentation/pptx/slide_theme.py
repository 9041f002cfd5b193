"""The layout, master and theme of a slide, and the text format that the slide inherits."""

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
_MARKERS = {"buNone": "", "buChar": "bullet", "buBlip": "bullet", "buAutoNum": "number"}
_LEVELS = 9


@dataclass(frozen=True, slots=True)
class RunStyle:
    """The format of a run and its paragraph, such as font size, colour and alignment."""

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
    """The layout, master, theme colours and default text styles (an XML element or None) of a slide."""

    layout_part: Any
    master_part: Any
    colors: Theme
    defaults: Any = None
    _run_styles: dict[tuple[str | None, int], RunStyle] = field(default_factory=dict)

    @property
    def layout(self) -> Any:
        """The root element of the layout's XML, or None if the slide has no layout."""
        return self.layout_part._element if self.layout_part is not None else None

    @property
    def master(self) -> Any:
        """The root element of the master's XML, or None if the slide has no master."""
        return self.master_part._element if self.master_part is not None else None

    def ancestors(self, placeholder: Any) -> tuple[Any, ...]:
        """Return the shapes from which a placeholder inherits, first on the layout, then on the master."""
        own_type, index = placeholder.get("type", "obj"), placeholder.get("idx", "0")
        master_type = _ON_MASTER.get(own_type, own_type)
        same_type: Any = None
        on_layout = None
        for shape, other in _placeholders(self.layout):
            other_type = other.get("type", "obj")
            if other.get("idx", "0") == index and _ON_MASTER.get(other_type, other_type) == master_type:
                on_layout = shape
                break
            if same_type is None and other_type == own_type:
                same_type = shape
        on_master = next(
            (
                shape
                for shape, other in _placeholders(self.master)
                if _ON_MASTER.get(other.get("type", "obj"), other.get("type")) == master_type
            ),
            None,
        )
        shapes = (same_type if on_layout is None else on_layout, on_master)
        return tuple(shape for shape in shapes if shape is not None)

    def run_style_for(self, placeholder_type: str | None, level: int) -> RunStyle:
        """Return the text format that a placeholder type (None for the default) inherits at a list level."""
        key = (placeholder_type, level)
        if key not in self._run_styles:
            run_style = apply_paragraph_properties(RunStyle(), level_style(self.defaults, level), self.colors)
            styles = self.master.find(f"{P}txStyles") if placeholder_type and self.master is not None else None
            if styles is not None:
                name = _STYLES.get(_ON_MASTER.get(str(placeholder_type), str(placeholder_type)), "otherStyle")
                properties = level_style(styles.find(f"{P}{name}"), level)
                run_style = apply_paragraph_properties(run_style, properties, self.colors)
            self._run_styles[key] = run_style
        return self._run_styles[key]


def _placeholders(root: Any) -> Iterator[tuple[Any, Any]]:
    tree = root.find(f"{P}cSld/{P}spTree") if root is not None else None
    for shape in () if tree is None else tree:
        placeholder = placeholder_of(shape)
        if placeholder is not None:
            yield shape, placeholder


def placeholder_of(shape: Any) -> Any:
    """Return the `p:ph` element of a placeholder. Return None if the shape is not a placeholder."""
    if not isinstance(shape.tag, str) or not len(shape):
        return None
    return shape[0].find(f"{P}nvPr/{P}ph")


def level_style(styles: Any, level: int) -> Any:
    """Return the paragraph properties element of a list level (from 0) in a list style, or None if undefined."""
    return None if styles is None else styles.find(f"{A}lvl{min(level, _LEVELS - 1) + 1}pPr")


def apply_paragraph_properties(run_style: RunStyle, properties: Any, colors: Theme) -> RunStyle:
    """Return a copy of the style that is updated with paragraph properties. `properties` may be None."""
    if properties is None:
        return run_style
    align = _ALIGNS.get(properties.get("algn", ""), run_style.align)
    rtl = _flag(properties.get("rtl"), run_style.rtl)
    tags = (str(child.tag).removeprefix(A) for child in properties)
    marker = next((_MARKERS[tag] for tag in tags if tag in _MARKERS), run_style.marker)
    run_style = replace(run_style, align=align, rtl=rtl, marker=marker)
    return apply_run_properties(run_style, properties.find(f"{A}defRPr"), colors)


def apply_run_properties(run_style: RunStyle, properties: Any, colors: Theme) -> RunStyle:
    """Return a copy of the style that is updated with run properties. `properties` may be None."""
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
    """Find the layout, the master and the theme colours of a slide. A missing layout or master is None."""
    layout = _related(slide_part, "slideLayout")
    master = _related(layout, "slideMaster")
    theme_part = _related(master, "theme")
    color_map = master._element.find(f"{P}clrMap") if master is not None else None
    theme_root = None if theme_part is None else parse_xml(theme_part.blob)
    colors = theme(theme_root, {} if color_map is None else dict(color_map.attrib))
    return SlideTheme(layout, master, colors, defaults)


def _related(part: Any, relationship_type: str) -> Any:
    for relationship in () if part is None else part.rels.values():
        if relationship.reltype.endswith(f"/{relationship_type}") and not relationship.is_external:
            return relationship.target_part
    return None


def parse_xml(blob: bytes) -> Any:
    """Parse a part that python-pptx does not parse. Return the root element, or None if the XML is malformed."""
    from lxml import etree

    try:
        return etree.fromstring(blob, etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError:
        return None
