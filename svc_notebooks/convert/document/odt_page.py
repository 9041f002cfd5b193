"""Converts the content of an OpenDocument text to HTML, since pandoc's HTML reader keeps more than its odt reader.

An element without a rule is replaced by its content, so the words in unknown elements are kept.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from html import escape
from itertools import groupby
from math import prod
from typing import Any, NamedTuple

from lxml import etree

from ...core.http.media_types import sniff
from ..input.odf_file import (
    MASTER_PAGE,
    OdfPackage,
    OdfStyles,
    StyleProperties,
    chart_kind,
    color_of,
    count_of,
    inherited,
    length,
    name,
)
from ..job import ConversionError, Job, TooLarge
from .looks import Look, Looks, page_lines, readable_color
from .model import PAGE_COUNT, PAGE_NUMBER, Page

_POINT = 12_700
_ALIGN, _DIRECTION = "paragraph/" + name("fo:text-align"), "paragraph/" + name("style:writing-mode")
_COLOR, _AUTOMATIC_COLOR = "text/" + name("fo:color"), "text/" + name("style:use-window-font-color")
_BACKGROUND = name("fo:background-color")
_BACKGROUNDS = {"background": f"text/{_BACKGROUND}", "shading": f"paragraph/{_BACKGROUND}"}
_SIZE = "text/" + name("fo:font-size")
_FONT, _FONT_FAMILY = "text/" + name("style:font-name"), "text/" + name("fo:font-family")
_NAME = name("style:name")
_SIDES = ("top", "right", "bottom", "left")
_ENDS = {"end": "right"}
_MAX_COLUMNS = 4
_LINE_PARTS = {
    name("text:tab"): "\t", name("text:s"): " ", name("text:line-break"): " ",
    name("text:page-number"): PAGE_NUMBER, name("text:page-count"): PAGE_COUNT,
}  # fmt: skip


class OdtLookReader:
    """Keeps the look at the current place of a text, and makes the markers of changes."""

    def __init__(self, styles: OdfStyles, root: Any, texts: Iterable[str]) -> None:
        """Choose markers that are not in `texts`. `root` is the root of styles.xml."""
        self._root, self._page_styles = root, OdfStyles([root])
        body = styles.properties("paragraph", "Standard") or styles.properties("paragraph", None)
        self._size = _points(body.get(_SIZE))
        self.markers = Looks(texts, self._size)
        self.markers.font = body.get(_FONT) or body.get(_FONT_FAMILY)
        self._masters = {it.get(_NAME): it for it in root.iter(name("style:master-page"))}
        self._master = "Standard" if "Standard" in self._masters else next(iter(self._masters), None)
        self._pages = {key: self._page_of(master) for key, master in self._masters.items()}
        self._paragraphs: Counter[str | None] = Counter()
        self._text: Look = {}
        self._is_body = True
        self._breaks_after = False
        self.cell_background = ""  # around the current place

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
        try:
            yield
        finally:
            self._text, self._is_body = outer

    def block_marker(self, look: Look, *, is_empty: bool) -> str:
        """Return the marker at the start of a block, or "" without a look. An empty block has only its page break."""
        kept = {name: value for name, value in look.items() if name == "page-break" or not is_empty}
        return self.markers.marker(kept) if kept else ""

    def text_marker(self, properties: StyleProperties) -> str:
        """Return the marker before text with these properties, or "" if the look does not change there."""
        look: Look = {"shading": self.cell_background} if self.cell_background else {}
        size = _points(properties.get(_SIZE))
        if size and size != self._size:
            look["size"] = f"{size:g}pt"
        color = color_of(properties.get(_COLOR), "#000000")
        is_automatic = properties.get(_AUTOMATIC_COLOR) == "true" or "link" in properties
        if color and not is_automatic:
            look["color"] = color
        for key, attribute in _BACKGROUNDS.items():
            if background := color_of(properties.get(attribute), "#ffffff"):
                look[key] = background
        look = look if "color" in look else readable_color(look) | look
        if look == self._text:
            return ""
        self._text = look
        return self.markers.marker(look)

    def text_width(self) -> float:
        """Return the width of the text in EMU at the current place, or 0 in a block and if no style defines it."""
        page = self._pages.get(self._master) if self._is_body else None
        return (page.width - page.left - page.right) * _POINT if page else 0.0

    def read_page(self, job: Job) -> None:
        """Take the page of most paragraphs, with its header and footer."""
        most = next((master for master, _ in self._paragraphs.most_common(1)), None)
        self.markers.page, master = self._pages.get(most), self._masters.get(most)
        parts = {kind: None if master is None else master.find(name(f"style:{kind}")) for kind in ("header", "footer")}
        self.markers.header, self.markers.footer = map(self._lines, parts.values())
        kinds = (name(f"style:{kind}{pages}") for kind in parts for pages in ("", "-left", "-first"))
        if any(self._lines(part) for part in self._root.iter(*kinds) if part not in parts.values()):
            job.note("Headers and footers of first pages, of even pages and of other sections were left out.")

    def _lines(self, part: Any) -> tuple[str, ...]:
        paragraphs = () if part is None else part.iter(_PARAGRAPH, _HEADING)
        styled = ((self._page_styles.properties("paragraph", it.get(_STYLE)), it) for it in paragraphs)
        return page_lines((_ENDS.get(style.get(_ALIGN, ""), style.get(_ALIGN, "")), _line(it)) for style, it in styled)

    def _page_of(self, master: Any) -> Page | None:
        layouts = self._root.iter(name("style:page-layout"))
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
        columns = properties.find(name("style:columns"))
        number = 1 if columns is None else count_of(columns, "fo:column-count", _MAX_COLUMNS)
        return Page(width, height, *margins, columns=number) if width and height else None


def _line(element: Any) -> str:
    """Return the text of a part of a header or footer, with tabs, and signs for the numbers of pages."""
    if is_left_out(element) or element.tag.startswith(name("draw:")):  # text boxes have paragraphs of their own
        return ""
    inside = (_line(child) + (child.tail or "") for child in element)
    return _LINE_PARTS.get(element.tag) or "".join([element.text or "", *inside])


def _margin_height(style: Any, side: str) -> float:
    """Return the height of a header or a footer and its distance from the text."""
    properties = None if style is None else style.find(name("style:header-footer-properties"))
    if properties is None:
        return 0.0
    height = properties.get(name("svg:height"), properties.get(name("fo:min-height")))
    return _points(height) + _points(properties.get(name(f"fo:margin-{side}")))


def _points(text: str | None) -> float:
    return round((length(text) or 0.0) / _POINT, 2)


_SKIPPED = frozenset(
    name(it)
    for it in (
        "office:annotation", "office:forms", "svg:title", "svg:desc", "table:title", "table:desc", "text:note-citation",
        "text:script", "text:tracked-changes", "text:table-of-content-source", "text:illustration-index-source",
        "text:table-index-source", "text:object-index-source", "text:user-index-source",
        "text:alphabetical-index-source", "text:bibliography-source",
    )
)  # fmt: skip
_GROUP_NAMES = ("header-rows", "rows", "row-group", "header-columns", "columns", "column-group")
_GROUPS = tuple(name(f"table:table-{it}") for it in _GROUP_NAMES)


def is_left_out(element: Any) -> bool:
    """Return whether an element is hidden, or has no text of the page."""
    is_hidden = element.get(name("text:display")) == "none" or element.get(name("text:is-hidden")) == "true"
    return not isinstance(element.tag, str) or element.tag in _SKIPPED or is_hidden


def link_target(element: Any) -> str:
    """Return where a link or a reference leads. A target in the document is "#" and the name of an anchor."""
    target = str(element.get(name("xlink:href")) or f"#{element.get(name('text:ref-name'), '')}")
    return _fragment(target[1:]) if target.startswith("#") else target


def anchor_of(element: Any) -> str:
    """Return "#" and the name of the anchor that an element defines."""
    return _fragment(element.get(name("text:name"), ""))


def _fragment(text: str) -> str:
    return "#" + re.sub(r"[^\w.-]", "-", text)[:90]


def table_parts(element: Any, tag: str) -> Iterator[Any]:
    """Yield the rows or columns of a table, which may be in groups."""
    for child in element:
        if child.tag == tag:
            yield child
        elif child.tag in _GROUPS:
            yield from table_parts(child, tag)


# HTML tags, from the outermost, the text property that each depends on, and a test of the property's value.
_FORMATS: tuple[tuple[str, str, Callable[[str], bool]], ...] = (
    ("b", name("fo:font-weight"), lambda value: value == "bold" or value[:1] in tuple("6789")),
    ("i", name("fo:font-style"), lambda value: value in ("italic", "oblique")),
    ("u", name("style:text-underline-style"), lambda value: value != "none"),
    ("s", name("style:text-line-through-style"), lambda value: value != "none"),
    ("sup", name("style:text-position"), lambda value: value.startswith("super") or "1" <= value[:1] <= "9"),
    ("sub", name("style:text-position"), lambda value: value.startswith(("sub", "-"))),
    ('span class="smallcaps"', name("fo:font-variant"), lambda value: value == "small-caps"),
)
FORMAT_KEYS = frozenset(f"text/{key}" for _, key, _ in _FORMATS)
_TAGS = (*(tag for tag, _, _ in _FORMATS), "code")

Run = tuple[tuple[str, ...], str]  # the tags that format a piece of a paragraph, and the piece as HTML


def formats(properties: StyleProperties) -> tuple[str, ...]:
    """Return the tags for text with these properties. The keys "code" and "link" mean text in code or in a link."""
    tags = [tag for tag, key, test in _FORMATS if (value := properties.get(f"text/{key}")) and test(value)]
    return tuple(tag for tag in tags if tag != "u" or "link" not in properties) + ("code",) * ("code" in properties)


def join(runs: Iterable[Run], tags: tuple[str, ...] = _TAGS) -> str:
    """Put each tag around the runs that it formats. The first tag in `tags` is the outermost."""
    if not tags:
        return "".join(piece for _, piece in runs)
    markup = ""
    for is_formatted, group in groupby(runs, lambda run: tags[0] in run[0]):
        inside = join(group, tags[1:])
        markup += f"<{tags[0]}>{inside}</{tags[0].split()[0]}>" if is_formatted and inside.strip() else inside
    return markup


_HIDDEN = "text/" + name("text:display")
_INDENTS = tuple("paragraph/" + name(f"fo:{it}") for it in ("margin-left", "text-indent"))
_QUOTE_INDENT = 180_000  # EMU, as in pandoc's odt reader
_STYLE, _PARAGRAPH, _HEADING = name("text:style-name"), name("text:p"), name("text:h")
_ANCHOR_TYPE, _HORIZONTAL = name("text:anchor-type"), "graphic/" + name("style:horizontal-pos")
_FRAME, _IMAGE = name("draw:frame"), name("draw:image")
_NUMBER_FORMATS = ("1", "a", "A", "i", "I")
_MAX_NUMBER = 32_767
_MAX_SPACES = 200
_MAX_REPEATED = 1_000_000  # characters in the repeated cells of all tables
_PLAIN_SPACES = str.maketrans("\t\r\n", "   ")
_JOINTS = (("</code></pre><pre><code>", "\n"), ("</blockquote><blockquote>", ""))


class _List(NamedTuple):
    """The list around an element, with the next number at each level, which lists that continue this one share."""

    numbers: dict[int, int]
    level: int
    style: str | None


class OdtPage:
    """The content of an OpenDocument text as an HTML page. The images are stored in the job's folder `media`."""

    def __init__(self, package: OdfPackage, job: Job) -> None:
        self._package, self._job = package, job
        content, styles = package.xml("content.xml"), package.xml("styles.xml", b"<none/>")
        self._body = content.find(f"{name('office:body')}/{name('office:text')}")
        if self._body is None:
            raise ConversionError("the file is an OpenDocument file, but not a text document.")
        roots = [*styles.findall(name("office:styles")), *content.findall(name("office:automatic-styles"))]
        self._styles = OdfStyles(roots)
        self._looks = OdtLookReader(self._styles, styles, self._body.itertext())
        self._boxes: list[str] = []
        self._notes: list[str] = []
        self._images = 0
        self._repeated_length = 0
        self._numbers: dict[str | None, dict[int, int]] = {}
        self._targets = {link_target(element) for element in self._body.iter(*_LINKS)}
        self._anchors = {anchor_of(element) for element in self._body.iter(*_ANCHORS)}
        self._controls = {control.get(name("form:id")): control for control in self._body.iter(name("form:*"))}
        if any(True for _ in self._body.iter(name("office:annotation"))):
            job.note("Comments were left out.")

    @property
    def looks(self) -> Looks:
        """The looks in the page, after `html`."""
        self._looks.read_page(self._job)
        return self._looks.markers

    def html(self) -> bytes:
        """Return the page. Raises TooLarge if cells are repeated too often, or if elements are nested too deeply."""
        try:
            return (self._blocks(self._body) + "".join(self._notes)).encode("utf-8", "replace")
        except RecursionError as error:
            raise TooLarge("the document is nested too deeply.") from error

    def _blocks(self, parent: Iterable[Any], outer: _List | None = None) -> str:
        markup = "".join(self._block(child, outer) for child in parent)
        for joint, replacement in _JOINTS:
            markup = markup.replace(joint, replacement)
        return markup

    def _block(self, element: Any, outer: _List | None = None) -> str:
        if is_left_out(element):
            return ""
        boxes, background = self._boxes, self._looks.cell_background
        with self._job.leaving_out("The structure of a paragraph, list or table"):
            return self._markup(element, outer)
        self._boxes, self._looks.cell_background = boxes, background
        return f"<p>{escape(' '.join(element.itertext()), quote=False)}</p>"

    def _markup(self, element: Any, outer: _List | None) -> str:
        if rule := _BLOCK_RULES.get(element.tag):
            return rule(self, element, outer)
        if element.tag.startswith(name("draw:")) or (element.text or "").strip():
            return self._with_boxes("p", self._inline(element, {}), {})
        return self._blocks(element, outer)

    def _tight(self, parent: Any, outer: _List | None = None) -> str:
        """Return the blocks of a list item or a cell, in which a single paragraph has no tag."""
        markup = self._blocks(parent, outer)
        is_single = markup.startswith("<p>") and len(parent.findall(_PARAGRAPH)) == 1
        return markup[3:].replace("</p>", "", 1) if is_single else markup

    def _paragraph(self, element: Any, outer: _List | None) -> str:
        hiding = (it for it in element.iter(name("text:hidden-paragraph")) if it.get(name("text:is-hidden")) == "true")
        if any(next(it.iterancestors(_PARAGRAPH, _HEADING)) is element for it in hiding):
            return ""
        style = element.get(_STYLE)
        properties = self._styles.properties("paragraph", style)
        look = self._looks.of_block("paragraph", properties)
        if element.tag == _HEADING:
            level = element.get(name("text:outline-level"), "1")
            tag = f"h{level if level in tuple('123456') else 6}"
            # the formats of a heading's style are the heading's own
            plain = {key: value for key, value in properties.items() if key not in FORMAT_KEYS}
            return self._with_boxes(tag, self._runs(element, plain), look)
        tag = "pre" if self._styles.derives("paragraph", style, "Preformatted_20_Text") else "p"
        markup = self._with_boxes(tag, self._runs(element, properties), look)
        left, first = (length(properties.get(key)) or 0 for key in _INDENTS)
        return f"<blockquote>{markup}</blockquote>" if not outer and left + min(first, 0) > _QUOTE_INDENT else markup

    def _with_boxes(self, tag: str, runs: Iterable[Run], look: Look) -> str:
        """Return a paragraph, and after it the text boxes, shapes and tables in it, which cannot be inside."""
        outer, self._boxes = self._boxes, []
        with self._looks.block():
            runs = list(runs)
        boxes, self._boxes = "".join(self._boxes), outer
        marker = self._looks.block_marker(look, is_empty=not any(piece.strip() for _, piece in runs))
        pieces = [piece for _, piece in runs]
        if tag == "pre" and all(piece == "<br/>" or not piece.startswith("<") for piece in pieces):
            page_break = self._looks.block_marker(look, is_empty=True)
            return f"<p>{page_break}</p>" * bool(page_break) + f"<pre><code>{''.join(pieces)}</code></pre>{boxes}"
        markup, tag = marker + join(runs), "p" if tag == "pre" else tag
        return (f"<{tag}>{markup}</{tag}>" if markup.strip() else "") + boxes

    def _list(self, element: Any, outer: _List | None) -> str:
        style = element.get(_STYLE) or (outer.style if outer else None)
        if outer is None:
            continued = style if element.get(name("text:continue-numbering")) == "true" else None
            continued = element.get(name("text:continue-list"), element.get(name("text:list-id"), continued))
            numbers = self._numbers.get(continued, {}) if continued else {}
            level = count_of(element, "text:level", 10)
            self._numbers |= dict.fromkeys((style, element.get(name("xml:id")), continued), numbers)
        else:
            numbers, level = outer.numbers, outer.level + 1
        levels = (self._styles.list_level(style, it) for it in range(level, 0, -1))
        format = next((it for it in levels if it is not None), None)
        kind = "" if format is None else format.get(name("style:num-format"), "")
        first = 1 if format is None else count_of(format, "text:start-value", _MAX_NUMBER, 0)
        tag = f'ol type="{kind}"' if kind in _NUMBER_FORMATS else "ul"
        parts: list[str] = []
        is_open = False
        for item in element if element.tag == name("text:list") else (element,):
            here = _List(numbers, level, style)
            if item.find(_PARAGRAPH) is not None and item.tag != name("text:list-header"):
                if restarts := item.get(name("text:start-value")) is not None:
                    numbers[level] = count_of(item, "text:start-value", _MAX_NUMBER, 0)
                number = numbers.setdefault(level, first)
                if not is_open or restarts:
                    parts += [f"</{tag[:2]}>" * is_open, f'<{tag} start="{number}">']
                numbers[level] = number + 1
                for deeper in [it for it in numbers if it > level]:
                    del numbers[deeper]
                parts += ["<li>", self._tight(item, here), "</li>"]
                is_open = True
            elif is_open and item.find(_HEADING) is None:
                parts[-1:] = [self._blocks(item, here), "</li>"]
            else:
                parts += [f"</{tag[:2]}>" * is_open, self._blocks(item, here)]
                is_open = False
        return "".join(parts) + f"</{tag[:2]}>" * is_open

    def _table(self, element: Any, outer: _List | None) -> str:
        properties = self._styles.properties("table", element.get(name("table:style-name")))
        page_break = self._looks.block_marker(self._looks.of_block("table", properties), is_empty=True)
        outer_background = self._looks.cell_background
        background = color_of(properties.get(f"table/{_BACKGROUND}"), "#ffffff")
        self._looks.cell_background = background or outer_background
        with self._looks.block():
            lines = list(table_parts(element, name("table:table-row")))
            while lines and count_of(lines[-1], "table:number-rows-repeated") > 1 and not any(map(len, lines[-1])):
                lines.pop()
            rows = [(row.getparent().tag == name("table:table-header-rows"), self._row(row)) for row in lines]
        self._looks.cell_background = outer_background
        head, body = ("".join(markup for is_head, markup in rows if is_head is it) for it in (True, False))
        before = f"<p>{page_break}</p>" if page_break else ""
        return f"{before}<table>{self._columns(element, lines)}<thead>{head}</thead><tbody>{body}</tbody></table>"

    def _columns(self, element: Any, rows: list[Any]) -> str:
        """Return the widths of columns as shares of the text's width, or "" if the styles do not define all widths."""
        widths: list[float] = []
        for column in table_parts(element, name("table:table-column")):
            properties = self._styles.properties("table-column", column.get(name("table:style-name")))
            width = length(properties.get("table-column/" + name("style:column-width"))) or 0.0
            widths += [width] * count_of(column, "table:number-columns-repeated")
        keys = ("table:number-columns-spanned", "table:number-columns-repeated")
        counts = [sum(prod(count_of(cell, key) for key in keys) for cell in self._cells(row)) for row in rows]
        if not all(widths) or len(widths) != max(counts, default=0):
            return ""
        total = max(sum(widths), self._looks.text_width())
        return "".join(f'<col width="{100 * width / total:.4g}%"/>' for width in widths)

    def _row(self, element: Any) -> str:
        cells = ""
        for cell in self._cells(element):
            spans = ((it, count_of(cell, f"table:number-{it}s-spanned")) for it in ("column", "row"))
            attributes = "".join(f' {it[:3]}span="{count}"' for it, count in spans if count > 1)
            cells += self._repeated(f"<td{attributes}>{self._cell(cell, element)}</td>", cell, "columns")
        return self._repeated(f"<tr>{cells}</tr>", element, "rows")

    def _cell(self, element: Any, row: Any) -> str:
        outer, kinds = self._looks.cell_background, (("table-cell", element), ("table-row", row))
        styles = ((kind, self._styles.properties(kind, it.get(name("table:style-name")))) for kind, it in kinds)
        own = (color_of(style.get(f"{kind}/{_BACKGROUND}"), "#ffffff") for kind, style in styles)
        self._looks.cell_background = color = next(filter(None, own), outer)
        markup = self._tight(element)
        self._looks.cell_background = outer
        if not color:
            return markup
        blank = self._looks.markers.marker({"shading": color}) + "\u00a0"
        return markup.replace("<li></li>", f"<li>{blank}</li>") or blank

    def _cells(self, row: Any) -> list[Any]:
        """Return the cells of a row without the empty cells of a sheet at its end, which are repeated."""
        cells = list(row.iterchildren(name("table:table-cell")))
        while cells and not len(cells[-1]) and count_of(cells[-1], "table:number-columns-repeated") > 1:
            cells.pop()
        return cells

    def _repeated(self, markup: str, element: Any, kind: str) -> str:
        """Repeat a cell ("columns") or a row ("rows") as its element says. Raises TooLarge above `_MAX_REPEATED`."""
        times = count_of(element, f"table:number-{kind}-repeated")
        self._repeated_length += len(markup) * (times - 1)
        if self._repeated_length > _MAX_REPEATED:
            raise TooLarge(f"repeated table cells have more than {_MAX_REPEATED} characters.")
        return markup * times

    def _runs(self, element: Any, properties: StyleProperties) -> Iterator[Run]:
        yield from self._text(element.text, properties)
        for child in element:
            yield from self._inline(child, properties)
            yield from self._text(child.tail, properties)

    def _text(self, text: str | None, properties: StyleProperties) -> Iterator[Run]:
        if text and properties.get(_HIDDEN) != "none":
            content = text.translate(_PLAIN_SPACES).lstrip(" ")
            marker = self._looks.text_marker(properties) if content and "code" not in properties else ""
            yield formats(properties), " " * (len(text) - len(content)) + marker + escape(content, quote=False)

    def _inline(self, element: Any, properties: StyleProperties) -> Iterator[Run]:
        if is_left_out(element):
            return
        if element.tag in _BLOCK_RULES:
            self._boxes.append(self._block(element))
        elif rule := _INLINE_RULES.get(element.tag):
            yield from rule(self, element, properties)
        else:
            yield from self._runs(element, properties)

    def _span(self, element: Any, properties: StyleProperties) -> Iterator[Run]:
        style = element.get(_STYLE)
        code = {"code": ""} if self._styles.derives("text", style, "Source_20_Text") else {}
        yield from self._runs(element, inherited(properties, self._styles.properties("text", style)) | code)

    def _blank(self, element: Any, properties: StyleProperties) -> Iterator[Run]:
        kind = etree.QName(element).localname
        spaces = " " * count_of(element, "text:c", _MAX_SPACES)
        yield formats(properties), {"s": spaces, "tab": "\t", "line-break": "<br/>"}[kind]

    def _link(self, element: Any, properties: StyleProperties) -> Iterator[Run]:
        target = link_target(element)
        if target.startswith("#") and target not in self._anchors:
            yield from self._runs(element, properties)
        else:
            inside = join(self._runs(element, {**properties, "link": ""}))
            yield (), f'<a href="{escape(target)}">{inside}</a>'

    def _mark(self, element: Any, properties: StyleProperties) -> Iterator[Run]:
        if (anchor := anchor_of(element)) in self._targets:
            yield (), f'<span id="{anchor[1:]}"></span>'
        yield from self._runs(element, properties)

    def _ruby(self, element: Any, properties: StyleProperties) -> Iterator[Run]:
        yield from (*self._text("(", properties), *self._runs(element, properties), *self._text(")", properties))

    def _note(self, element: Any, properties: StyleProperties) -> Iterator[Run]:
        if any(True for _ in element.iterancestors(element.tag)):  # pandoc reads no notes in notes
            self._boxes.append(self._blocks(element))
            return
        number = len(self._notes)
        self._notes.append("")
        self._notes[number] = f'<aside epub:type="footnote" id="note{number}">{self._blocks(element)}</aside>'
        yield (), f'<a epub:type="noteref" href="#note{number}"></a>'

    def _frame(self, element: Any, properties: StyleProperties) -> Iterator[Run]:
        embedded = element.find(name("draw:object"))
        markup = None if embedded is None else self._object(embedded)
        images = element.findall(_IMAGE)
        pictures = [self._package.picture(image)[1] for image in images] if markup is None else []
        if markup is None and embedded is not None and not any(map(sniff, pictures)):
            with suppress(TooLarge):
                self._boxes.append(self._blocks(self._package.embedded(embedded).iter(name("office:body"))))
        if markup is None and images:
            markup = self._image(element, pictures)
        if markup and images and element.get(_ANCHOR_TYPE) in ("paragraph", "char", "page", "frame"):
            side = self._styles.properties("graphic", element.get(name("draw:style-name"))).get(_HORIZONTAL, "")
            align = self._looks.block_marker({"align": side} if side in ("center", "right") else {}, is_empty=False)
            self._boxes.append(f"<p>{align}{markup}</p>")
        elif markup is not None:
            yield (), markup
        else:
            yield from self._runs(element, {})

    def _object(self, element: Any) -> str | None:
        """Return a formula as MathML. The table of a chart becomes a box. Returns None for other objects."""
        root = self._package.embedded(element)
        if root.tag == name("math:math"):
            for part in root.iter(name("math:*")):
                part.tag = etree.QName(part).localname
            return str(etree.tostring(root, encoding="unicode", with_tail=False))
        chart = next(root.iter(name("office:chart")), None)
        if chart is None:
            return None
        self._job.note("a chart is kept as a table.")
        corner = next(chart.iter(name("table:table-cell")), None)
        if corner is not None and (kind := chart_kind(root)):
            paragraph = corner.find(_PARAGRAPH)
            paragraph = etree.SubElement(corner, _PARAGRAPH) if paragraph is None else paragraph
            paragraph.text = self._looks.markers.marker({"chart": kind}) + (paragraph.text or "\u00a0")
        self._boxes += [self._block(part) for part in chart.iter(name("chart:title"), name("table:table"))]
        return ""

    def _image(self, frame: Any, pictures: list[bytes]) -> str:
        data = next((it for it in pictures if sniff(it)), next(filter(None, pictures), b""))
        self._images += 1
        path = self._job.folder / "media" / str(self._images)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        sizes = ((side, frame.get(name(f"svg:{side}"), "")) for side in ("width", "height"))
        alt = next(filter(None, (frame.findtext(name(f"svg:{it}")) for it in ("title", "desc"))), "")
        attributes = {"src": path.name if data else "missing", "alt": alt, **dict(sizes)}
        return "<img" + "".join(f' {key}="{escape(value)}"' for key, value in attributes.items() if value) + "/>"

    def _control(self, element: Any, properties: StyleProperties) -> Iterator[Run]:
        control = self._controls.get(element.get(name("draw:control")))
        if control is not None and control.tag not in (name("form:password"), name("form:hidden")):
            values = [control.get(name(f"form:{it}")) for it in ("label", "current-value", "value")]
            is_checked = control.get(name("form:current-state"), control.get(name("form:state"))) == "checked"
            box = ("☒ " if is_checked else "☐ ") if control.tag == name("form:checkbox") else ""
            yield from self._text(box + (next(filter(None, values), None) or "".join(control.itertext())), properties)


_BLOCK_RULES: dict[str, Callable[[OdtPage, Any, _List | None], str]] = {
    _PARAGRAPH: OdtPage._paragraph, _HEADING: OdtPage._paragraph, name("table:table"): OdtPage._table,
    name("text:list"): OdtPage._list, name("text:numbered-paragraph"): OdtPage._list,
}  # fmt: skip
_LINKS = tuple(name(it) for it in ("text:a", "draw:a", "text:bookmark-ref", "text:reference-ref"))
_ANCHORS = tuple(name(f"text:{it}") for it in ("bookmark", "bookmark-start", "reference-mark", "reference-mark-start"))
_INLINE_RULES: dict[str, Callable[[OdtPage, Any, StyleProperties], Iterator[Run]]] = {
    name("text:span"): OdtPage._span, name("text:note"): OdtPage._note, name("text:ruby-text"): OdtPage._ruby,
    _FRAME: OdtPage._frame, name("draw:control"): OdtPage._control,
    **dict.fromkeys((name(f"text:{it}") for it in ("s", "tab", "line-break")), OdtPage._blank),
    **dict.fromkeys(_LINKS, OdtPage._link), **dict.fromkeys(_ANCHORS, OdtPage._mark),
}  # fmt: skip
