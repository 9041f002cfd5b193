"""The layout, master and theme of a slide, and its text in the formats that it inherits."""

from __future__ import annotations

import colorsys
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from itertools import islice
from typing import Any

from .. import clean
from ..model import Dash, Paragraph, Stroke, TextRun, merge_runs, mix, without_empty_end

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"

_THEME_SLOTS = ("dk1", "lt1", "dk2", "lt2", *(f"accent{number}" for number in range(1, 7)), "hlink", "folHlink")
_DEFAULT_COLOR_MAP = {"tx1": "dk1", "bg1": "lt1", "tx2": "dk2", "bg2": "lt2"}

Theme = Mapping[str, str]


def theme(master: Any, color_map: Mapping[str, str]) -> Theme:
    """Return the theme colours as six hexadecimal digits, by name in the theme ("lt1") or in `color_map` ("bg1")."""
    scheme = next(iter(master.iter(f"{A}clrScheme")), ()) if master is not None else ()
    colors = {child.tag.removeprefix(A): _base(child[0], {}) or "000000" for child in scheme if len(child)}
    known = {name: color for name, color in colors.items() if name in _THEME_SLOTS}
    colors = {"dk1": "000000", "lt1": "ffffff"} | known
    names = _DEFAULT_COLOR_MAP | dict(color_map)
    return colors | {name: colors[slot] for name, slot in names.items() if slot in colors}


def fill(properties: Any, colors: Theme, own: str | None = None) -> str | None:
    """Return the fill colour of an element, "" for no fill or a picture, or None if undefined. `own` replaces phClr."""
    kinds = (f"{A}{kind}" for kind in ("noFill", "solidFill", "gradFill", "blipFill"))
    child = None if properties is None else next(properties.iterchildren(*kinds), None)
    return None if child is None else _fill_color(child, colors, own)


def _fill_color(element: Any, colors: Theme, own: str | None) -> str | None:
    match element.tag.removeprefix(A):
        case "noFill" | "blipFill":
            return ""
        case "gradFill":
            return _middle_color(element, colors, own)
        case _:
            return color(element, colors, own)


def theme_format(formats: Any, reference: Any) -> Any:
    """Return the fill or line in a theme's format scheme that a reference such as `a:lnRef` names, or None."""
    index = 0 if reference is None else int(number(reference.get("idx")))
    name = "bgFillStyleLst" if index > 1_000 else "fillStyleLst"
    name = "lnStyleLst" if index and reference.tag == f"{A}lnRef" else name
    entries = () if formats is None or not index else formats.find(f"{A}{name}")
    return next(islice(entries if entries is not None else (), max(0, index % 1_000 - 1), None), None)


def theme_color(formats: Any, reference: Any, colors: Theme) -> str | None:
    """Return the colour of a reference to a theme's fills or lines, or None if the reference means no fill."""
    if reference is None or reference.get("idx") == "0":
        return None
    own, entry = color(reference, colors), theme_format(formats, reference)
    if entry is None:
        return own
    return (fill(entry, colors, own) if entry.tag == f"{A}ln" else _fill_color(entry, colors, own)) or own


def _middle_color(gradient: Any, colors: Theme, own: str | None) -> str | None:
    """Return the colour in the middle of a gradient, or None if the gradient has no colours."""
    stops = [(share(stop.get("pos")), value) for stop in gradient.iter(f"{A}gs") if (value := color(stop, colors, own))]
    if not stops:
        return None
    at, before = max((stop for stop in stops if stop[0] <= 0.5), default=min(stops))
    end, after = min((stop for stop in stops if stop[0] >= 0.5), default=max(stops))
    return mix(after, before, (0.5 - at) / (end - at)) if end > at else before


def color(parent: Any, colors: Theme, own: str | None = None) -> str | None:
    """Return the colour that a child of `parent` defines, "" if transparent, or None if no colour is defined.

    A colour that is partly transparent has eight digits.
    """
    if parent is None or not len(parent):
        return None
    base = _base(parent[0], colors, own)
    return _apply_changes(base, parent[0]) if base else None


def _base(element: Any, colors: Theme, own: str | None = None) -> str | None:
    kind, value = str(element.tag).removeprefix(A), element.get("val", "")
    if kind == "schemeClr":
        return own if value == "phClr" else colors.get(value)
    if kind == "sysClr":
        value = element.get("lastClr", "ffffff" if value == "window" else "000000")
    elif kind == "prstClr":
        value = {"black": "000000", "white": "ffffff"}.get(value, "808080")
    elif kind == "scrgbClr":
        value = _digits(max(0.0, share(element.get(name))) ** (1 / _GAMMA) for name in "rgb")
    return value.lower() if len(value) == 6 and all(c in "0123456789abcdefABCDEF" for c in value) else None


def number(value: str | None, otherwise: float = 0.0) -> float:
    """Return the number that an attribute contains, limited to a billion, or `otherwise` if it contains no number."""
    try:
        return otherwise if value is None else max(-1e9, min(1e9, float(value)))
    except ValueError:
        return otherwise


def share(value: str | None) -> float:
    """Parse "40%" or "40000" (thousandths of a percent) as 0.4. Returns 0.0 if the value is not a number."""
    return number(value[:-1]) / 100 if value and value.endswith("%") else number(value) / 100_000


def _digits(parts: Iterable[float]) -> str:
    return "".join(f"{max(0, min(255, round(part * 255))):02x}" for part in parts)


_GAMMA = 2.2
_CIRCLE = 360 * 60_000
_HLS_CHANGES = ("hue", "lum", "sat")


def _apply_changes(base: str, element: Any) -> str:
    """Apply the changes of a colour in their order (20.1.2.3). Tints and shades mix light, not digits."""
    parts = [int(base[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    opacity = int(base[6:] or "ff", 16) / 255
    for change in element:
        kind, value = str(change.tag).removeprefix(A), share(change.get("val"))
        if kind in ("alpha", "alphaMod"):
            opacity *= value
        elif kind in ("tint", "shade"):
            white = 1 - value if kind == "tint" else 0
            parts = [max(0.0, part**_GAMMA * value + white) ** (1 / _GAMMA) for part in parts]
        elif kind[:3] in _HLS_CHANGES:
            value = number(change.get("val")) / _CIRCLE if kind in ("hue", "hueOff") else value
            values, at = list(colorsys.rgb_to_hls(*parts)), _HLS_CHANGES.index(kind[:3])
            value = {"Mod": values[at] * value, "Off": values[at] + value, "": value}.get(kind[3:], values[at])
            values[at] = value % 1 if at == 0 else max(0.0, min(1.0, value))
            parts = list(colorsys.hls_to_rgb(*values))
    return "" if opacity < 0.05 else _digits(parts) + (_digits([opacity]) if opacity < 0.99 else "")


_DASHES: dict[str, Dash] = {"sysDot": "dot", "dot": "dot", "sysDash": "dash", "dash": "dash", "lgDash": "dash"}
_ARROWHEADS = ("triangle", "arrow", "stealth", "diamond", "oval")


def stroke(lines: Iterable[Any]) -> Stroke:
    """Return the width, dashes and arrowheads that `a:ln` elements define, the first of which comes first."""
    lines = list(lines)
    width = next((int(number(value)) for line in lines if (value := line.get("w"))), 9_525)
    dash = next((it.get("val", "") for line in lines if (it := line.find(f"{A}prstDash")) is not None), "solid")
    ends = ([it for line in lines if (it := line.find(f"{A}{name}")) is not None] for name in ("headEnd", "tailEnd"))
    arrowheads: Any = (it[0].get("type") if it and it[0].get("type") in _ARROWHEADS else "" for it in ends)
    return Stroke(max(0, width), "" if dash == "solid" else _DASHES.get(dash, "dashdot"), *arrowheads)


P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"

_BODY_TYPES = frozenset({"obj", "body", "subTitle", "chart", "tbl", "clipArt", "dgm", "media", "pic"})
_ON_MASTER = dict.fromkeys(_BODY_TYPES, "body") | {"ctrTitle": "title"}
_STYLES = {"title": "titleStyle", "body": "bodyStyle"}
_ALIGNS = {"l": "left", "ctr": "center", "r": "right", "just": "justify", "dist": "justify"}
_MARKERS = {"buNone": "", "buChar": "bullet", "buBlip": "bullet", "buAutoNum": "number"}
_LEVELS = 9
NUMBER_SCHEMES = {  # the label of the first number
    f"{digits}{form}": label.format(first)
    for digits, first in (("arabic", "1"), ("alphaLc", "a"), ("alphaUc", "A"), ("romanLc", "i"), ("romanUc", "I"))
    for form, label in (("Period", "{}."), ("ParenR", "{})"), ("ParenBoth", "({})"), ("Plain", "{}"))
}
_SYMBOL_FONTS = ("Wingdings", "Webdings", "Symbol", "Monotype Sorts", "Zapf")
# Common letters of two symbol fonts of Windows as Unicode has them. Bullets of all such fonts are like Wingdings.
_SYMBOLS: dict[str, dict[str, str]] = json.loads((files(__package__) / "symbols.json").read_text("utf-8"))
_PRIVATE = {  # the characters of symbol fonts in the text of runs
    font: {0xF000 + ord(letter): symbol for letter, symbol in symbols.items()} for font, symbols in _SYMBOLS.items()
}
Spacing = tuple[float, float]


@dataclass(frozen=True, slots=True)
class RunStyle:
    """The format of a run and its paragraph, such as font size, colour and alignment.

    A spacing is a multiple of the line height and a length in points, one of which is 0.
    """

    align: str = ""
    rtl: bool = False
    marker: str = ""
    bullet: str = ""
    start: int = 1
    indent: int = 0
    first: int = 0
    line_spacing: Spacing = (1.0, 0.0)
    before: Spacing = (0.0, 0.0)
    after: Spacing = (0.0, 0.0)
    baseline: str = ""
    capitals: bool = False
    size: float = 18.0
    bold: bool = False
    italic: bool = False
    underline: bool = False
    strike: bool = False
    color: str | None = None


@dataclass(frozen=True, slots=True)
class SlideTheme:
    """The layout, master, theme colours, format scheme, default text styles and table styles by id of a slide."""

    layout_part: Any
    master_part: Any
    colors: Theme
    formats: Any = None
    defaults: Any = None
    table_styles: Mapping[str, Any] = field(default_factory=dict)
    _run_styles: dict[tuple[str | None, int], RunStyle] = field(default_factory=dict)

    @property
    def layout(self) -> Any:
        """The root element of the layout's XML, or None if the slide has no layout."""
        return self.layout_part._element if self.layout_part is not None else None

    @property
    def master(self) -> Any:
        """The root element of the master's XML, or None if the slide has no master."""
        return self.master_part._element if self.master_part is not None else None

    def ancestors(self, element: Any) -> tuple[Any, ...]:
        """Return the shapes from which a placeholder inherits, first on the layout, then on the master."""
        placeholder = placeholder_of(element)
        if placeholder is None:
            return ()
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
        kinds = ((shape, other.get("type", "obj")) for shape, other in _placeholders(self.master))
        on_master = next((shape for shape, kind in kinds if _ON_MASTER.get(kind, kind) == master_type), None)
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
                if name != "otherStyle":  # titles and bodies inherit nothing from the default text style
                    run_style = RunStyle()
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
    bullet = next((child for child in properties if str(child.tag).removeprefix(A) in _MARKERS), None)
    if bullet is not None:
        run_style = replace(run_style, marker=_MARKERS[bullet.tag.removeprefix(A)], bullet="", start=1)
        if run_style.marker:
            run_style = replace(run_style, bullet=_bullet(bullet, properties), start=_int(bullet.get("startAt"), 1))
    run_style = replace(
        run_style, align=align, rtl=rtl, indent=_int(properties.get("marL"), run_style.indent),
        first=_int(properties.get("indent"), run_style.first),
        line_spacing=_spacing(properties.find(f"{A}lnSpc"), run_style.line_spacing),
        before=_spacing(properties.find(f"{A}spcBef"), run_style.before),
        after=_spacing(properties.find(f"{A}spcAft"), run_style.after),
    )  # fmt: skip
    return apply_run_properties(run_style, properties.find(f"{A}defRPr"), colors)


def _bullet(element: Any, properties: Any) -> str:
    """Return the character of a bullet, or the label of the first number in a list."""
    if element.tag == f"{A}buAutoNum":
        return NUMBER_SCHEMES.get(element.get("type", ""), "1.")
    font, character = properties.find(f"{A}buFont"), element.get("char", "")[:1]
    if "\uf000" <= character <= "\uf0ff":
        character = chr(ord(character) - 0xF000)
    elif font is None or not font.get("typeface", "").startswith(_SYMBOL_FONTS):
        return str(character)
    return _SYMBOLS["Wingdings"].get(character, "•")


def _spacing(element: Any, inherited: Spacing) -> Spacing:
    if element is None or not len(element):
        return inherited
    value = share(element[0].get("val"))
    return (min(10.0, value), 0.0) if element[0].tag == f"{A}spcPct" else (0.0, min(2_000.0, value * 1_000))


def _int(value: str | None, otherwise: int) -> int:
    return int(max(-51_206_400, min(51_206_400, number(value, otherwise))))


def apply_run_properties(run_style: RunStyle, properties: Any, colors: Theme) -> RunStyle:
    """Return a copy of the style that is updated with run properties. `properties` may be None."""
    if properties is None:
        return run_style
    get = properties.get
    color, raised = fill(properties, colors), share(get("baseline")) if get("baseline") is not None else None
    return replace(
        run_style, size=max(1.0, min(4_000.0, number(get("sz"), run_style.size * 100) / 100)),
        bold=_flag(get("b"), run_style.bold), italic=_flag(get("i"), run_style.italic),
        underline=get("u", "none") != "none" if get("u") else run_style.underline,
        strike=get("strike", "noStrike") != "noStrike" if get("strike") else run_style.strike,
        color=run_style.color if color is None else color[:6] or None,
        baseline=run_style.baseline if raised is None else "super" if raised > 0 else "sub" if raised < 0 else "",
        capitals=get("cap") == "all" if get("cap") else run_style.capitals,
    )  # fmt: skip


def _flag(value: str | None, otherwise: bool) -> bool:
    return otherwise if value is None else value in ("1", "true", "on")


def slide_theme_of(slide_part: Any, presentation_part: Any) -> SlideTheme:
    """Find the layout, the master and the theme of a slide. A missing layout or master is None."""
    layout = related(slide_part, "slideLayout")
    master = related(layout, "slideMaster")
    theme_part = related(master, "theme")
    color_maps = [color_map_override(part) for part in (slide_part, layout)]
    color_maps += [master._element.find(f"{P}clrMap") if master is not None else None]
    color_map = next((it for it in color_maps if it is not None), None)
    theme_root = None if theme_part is None else parse_xml(theme_part.blob)
    colors = theme(theme_root, {} if color_map is None else dict(color_map.attrib))
    formats = None if theme_root is None else next(theme_root.iter(f"{A}fmtScheme"), None)
    styles_part = related(presentation_part, "tableStyles")
    styles = None if styles_part is None else parse_xml(styles_part.blob)
    table_styles = {} if styles is None else {style.get("styleId", ""): style for style in styles}
    defaults = presentation_part._element.find(f"{P}defaultTextStyle")
    return SlideTheme(layout, master, colors, formats, defaults, table_styles)


def color_map_override(part: Any) -> Any:
    """Return the element with the colours by name that a slide or layout has instead of its master's, or None."""
    return None if part is None else part._element.find(f"{P}clrMapOvr/{A}overrideClrMapping")


def related(part: Any, relationship_type: str) -> Any:
    """Return the first part to which a part has a relationship of this type, or None. `part` may be None."""
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


_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_A14 = "{http://schemas.microsoft.com/office/drawing/2010/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_BLACK = "000000"
_LINE = 1.2  # the height of a line in most fonts, as a multiple of the font size


@dataclass(slots=True)
class PptxTextStyles:
    """Reads the text of one shape. The text inherits its format from `slide_theme` and the list styles `styles`.

    `scale` is the factor of font sizes, and `reduction` is subtracted from the line spacing. `slide_number` replaces
    the text of its fields.
    """

    slide_theme: SlideTheme
    part: Any
    placeholder_type: str | None = None
    styles: tuple[Any, ...] = ()
    scale: float = 1.0
    reduction: float = 0.0
    color: str | None = None
    bold: bool = False
    slide_number: int | None = None
    _run_styles: dict[int, RunStyle] = field(default_factory=dict)

    def paragraphs(self, body: Any) -> tuple[Paragraph, ...]:
        """Return the paragraphs of a text body element, without empty paragraphs at the end."""
        return without_empty_end(self._paragraph(it) for it in (() if body is None else body.iterchildren(f"{A}p")))

    def _paragraph(self, element: Any) -> Paragraph:
        properties = element.find(f"{A}pPr")
        level = 0 if properties is None else int(max(0, min(8, number(properties.get("lvl")))))
        run_style = apply_paragraph_properties(self._run_style(level), properties, self.slide_theme.colors)
        runs = tuple(merge_runs(self._runs(element, run_style)))
        marker = run_style.marker if any(run.text.strip() for run in runs) else ""
        size = max((run.size or 0.0 for run in runs), default=0.0) or run_style.size * self.scale
        lines, points = run_style.line_spacing
        return Paragraph(
            runs, level, marker, run_style.align, run_style.rtl,  # type: ignore[arg-type]
            line_spacing=round(max(0.2, (lines or points / (size * _LINE)) - self.reduction), 2),
            before=_distance(run_style.before, size), after=_distance(run_style.after, size),
            indent=max(0, run_style.indent), first=max(-max(0, run_style.indent), run_style.first),
            bullet=run_style.bullet, start=max(1, run_style.start),
        )  # fmt: skip

    def _run_style(self, level: int) -> RunStyle:
        if level not in self._run_styles:
            run_style = self.slide_theme.run_style_for(self.placeholder_type, level)
            if self.color:
                run_style = replace(run_style, color=self.color)
            if self.bold:
                run_style = replace(run_style, bold=True)
            for styles in reversed(self.styles):
                run_style = apply_paragraph_properties(run_style, level_style(styles, level), self.slide_theme.colors)
            self._run_styles[level] = run_style
        return self._run_styles[level]

    def _runs(self, element: Any, run_style: RunStyle) -> Iterator[TextRun]:
        for child in element:
            match str(child.tag):
                case tag if tag in (f"{A}r", f"{A}fld"):
                    properties = child.find(f"{A}rPr")
                    text = clean.ooxml_text("".join(part.text or "" for part in child.iterchildren(f"{A}t")))
                    font = None if properties is None else properties.find(f"{A}sym")
                    text = text if font is None else text.translate(_PRIVATE.get(font.get("typeface", ""), {}))
                    if self.slide_number is not None and child.get("type") == "slidenum":
                        text = str(self.slide_number)
                    own_style = apply_run_properties(run_style, properties, self.slide_theme.colors)
                    yield self._text_run(text, own_style, self._link(properties))
                case tag if tag == f"{A}br":
                    own_style = apply_run_properties(run_style, child.find(f"{A}rPr"), self.slide_theme.colors)
                    yield self._text_run("\n", own_style, None)
                case tag if tag == f"{_MC}AlternateContent" and len(child):
                    yield from self._runs(child[0], run_style)
                case tag if tag.startswith((_M, _A14)):
                    formula = clean.ooxml_text("".join(part.text or "" for part in child.iter(f"{_M}t")))
                    yield self._text_run(formula, run_style, None)

    def _link(self, properties: Any) -> str | None:
        link = None if properties is None else properties.find(f"{A}hlinkClick")
        if link is None or link.get("action"):
            return None
        relationship = self.part.rels.get(link.get(f"{R}id", ""))
        return clean.link(relationship.target_ref) if relationship is not None and relationship.is_external else None

    def _text_run(self, text: str, run_style: RunStyle, link: str | None) -> TextRun:
        size = round(run_style.size * self.scale, 1)
        color = self.slide_theme.colors.get("hlink", run_style.color) if link else run_style.color
        color = None if color == _BLACK else color
        return TextRun(
            text, run_style.bold, run_style.italic, run_style.underline, run_style.strike, size, color, link,
            run_style.baseline, run_style.capitals,  # type: ignore[arg-type]
        )  # fmt: skip


def _distance(spacing: Spacing, size: float) -> float:
    lines, points = spacing
    return round(max(0.0, lines * size * _LINE + points), 1)
