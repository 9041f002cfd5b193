"""Resolves the styles of a docx file, and gives list styles their level."""

from __future__ import annotations

import re
import zipfile
from typing import Any

from lxml import etree

from ...input.opc import OpcPackage
from ...input.zip_file import refuse_entities
from ...job import ConversionError, TooLarge

_OFFICE = "http://schemas.openxmlformats.org"
NAMESPACES = {
    "w": f"{_OFFICE}/wordprocessingml/2006/main", "r": f"{_OFFICE}/officeDocument/2006/relationships",
    "m": f"{_OFFICE}/officeDocument/2006/math", "wp": f"{_OFFICE}/drawingml/2006/wordprocessingDrawing",
    "a": f"{_OFFICE}/drawingml/2006/main", "pic": f"{_OFFICE}/drawingml/2006/picture",
    "c": f"{_OFFICE}/drawingml/2006/chart", "dgm": f"{_OFFICE}/drawingml/2006/diagram",
    "mc": f"{_OFFICE}/markup-compatibility/2006", "v": "urn:schemas-microsoft-com:vml",
    "o": "urn:schemas-microsoft-com:office:office", "rel": f"{_OFFICE}/package/2006/relationships",
}  # fmt: skip
_STRICT = re.compile(r"\{http://purl\.oclc\.org/ooxml/(\w+)/")
_PARSER = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True)


def tag(name: str) -> str:
    """Replace the prefix of a name by its namespace: "w:p" becomes "{http://...}p", as lxml writes names."""
    prefix, _, local = name.partition(":")
    return f"{{{NAMESPACES[prefix]}}}{local}"


def tags(names: str) -> tuple[str, ...]:
    """Return `tag` of each of the names, which are separated by blanks."""
    return tuple(map(tag, names.split()))


class DocxPackage(OpcPackage):
    """The parts in the zip archive of a docx file."""

    def root(self, name: str | None) -> Any:
        """Return the root element of a part in the transitional variant, or None if the part is missing.

        Raises ConversionError if the part is damaged, and TooLarge above libxml2's limits of nesting and of text.
        """
        if name is None or self.member(name) is None:
            return None
        try:
            with self.open(name) as part:
                root = etree.fromstring(part.read(), _PARSER)
        except (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, etree.XMLSyntaxError) as error:
            if "XML_PARSE_HUGE" in str(error):
                raise TooLarge("the document is nested too deeply, or a text is too long.") from error
            raise ConversionError(f"the file is damaged at {name[:80]!r}: {str(error)[:100]}.") from error
        refuse_entities(root)
        if _STRICT.match(root.tag):
            for element in root.iter(etree.Element):
                element.tag = _transitional(element.tag)
                for attribute in filter(_STRICT.match, element.keys()):
                    element.set(_transitional(attribute), element.attrib.pop(attribute))
        return root


def _transitional(name: str) -> str:
    return _STRICT.sub(rf"{{{_OFFICE}/\1/2006/", name)


_VAL = tag("w:val")
OFF = ("0", "false", "off", "none")
_MAX_CHAIN = 50
_CODE = ("source code", "sourcecode", "source_code")
_HEADING = re.compile("heading [1-9]|title|subtitle|author|date|abstract")
_LIST_STYLE = re.compile(r"list (?:bullet|number) ([2-5])")


def value(element: Any, name: str) -> str | None:
    """Return the attribute w:val of the child `name` ("w:b"), "" if the child has no value, None if it is missing."""
    child = None if element is None else element.find(tag(name))
    return None if child is None else child.get(_VAL, "")


class WordStyles:
    """The styles in the part `root`, which may be None."""

    def __init__(self, root: Any) -> None:
        elements = () if root is None else root.iter(tag("w:style"))
        self._elements = {style.get(tag("w:styleId"), ""): style for style in elements}
        self._defaults = [] if root is None else root.findall(tag("w:docDefaults"))
        paragraph_styles = [style for style in self._elements.values() if style.get(tag("w:type")) == "paragraph"]
        defaults = [style for style in paragraph_styles if style.get(tag("w:default"), "0") not in OFF]
        self.default = defaults[0].get(tag("w:styleId"), "") if defaults else ""
        self._parents = {name: value(style, "w:basedOn") for name, style in self._elements.items()}
        self._switched: dict[tuple[str | None, str], bool] = {}
        for name, parent in self._parents.items():  # pandoc ignores a style without a root
            if parent not in self._elements and parent is not None:
                self._elements[name].remove(self._elements[name].find(tag("w:basedOn")))

    def name(self, style: str | None) -> str:
        """Return the name of a style in lower case, such as "title", or "" if the style is unknown."""
        return next(iter(self.names(style)), "")

    def names(self, style: str | None) -> list[str]:
        """Return the names, in lower case, of a style and of the styles that it is based on, such as "heading 1"."""
        return [(value(element, "w:name") or "").lower() for element in self.chain(style)]

    def chain(self, style: str | None) -> list[Any]:
        """Return the element of a style, of the style that it is based on, and so on."""
        chain: list[Any] = []
        while style in self._elements and len(chain) < _MAX_CHAIN:  # the styles of a damaged file may be a circle
            chain.append(self._elements[style])
            style = self._parents.get(style)
        return chain

    def properties(self, style: str | None, kind: str) -> list[Any]:
        """Return the w:pPr or w:rPr (`kind`) of a style after those of its base, or for None of the defaults."""
        if style is None:
            return [element for defaults in self._defaults for element in defaults.iter(kind)]
        return [element.find(kind) for element in reversed(self.chain(style))]

    def is_code(self, style: str | None) -> bool:
        """Return whether pandoc reads a paragraph with this style as code."""
        return not set(_CODE).isdisjoint(self.names(style))

    def is_heading(self, style: str | None) -> bool:
        """Return whether pandoc reads a paragraph with this style as a heading or as metadata."""
        return any(map(_HEADING.fullmatch, self.names(style)))

    def switches(self, paragraph_style: str | None, properties: Any, name: str) -> bool:
        """Return whether a run with these properties (w:rPr or None) has a property such as "w:b" or "w:u".

        A toggle property that both styles have is off (ECMA-376-1, 17.7.3).
        """
        direct = value(properties, name)
        if direct is not None:
            return direct not in OFF
        style_values = (self.style_switches(style, name) for style in (paragraph_style, value(properties, "w:rStyle")))
        return sum(style_values) in ((1, 2) if name == "w:u" else (1,))

    def style_switches(self, style: str | None, name: str) -> bool:
        """Return whether a style switches a property such as "w:b" or "w:u" on."""
        if (style, name) not in self._switched:
            values = (value(element.find(tag("w:rPr")), name) for element in self.chain(style))
            self._switched[style, name] = next((text for text in values if text is not None), "0") not in OFF
        return self._switched[style, name]


def set_list_levels(styles: Any, numbering: Any) -> None:
    """Give the styles "List Bullet 2", "List Number 3" and so on their list level in both parts.

    Word defines a separate one-level list for each style, and pandoc would not nest these lists.
    """
    levels: dict[str | None, str] = {}
    for style in styles.iter(tag("w:style")):
        match = _LIST_STYLE.fullmatch((value(style, "w:name") or "").lower())
        number = style.find(f"{tag('w:pPr')}/{tag('w:numPr')}")
        if match and number is not None and value(number, "w:ilvl") is None:
            levels[value(number, "w:numId")] = level = str(int(match[1]) - 1)
            number.insert(0, number.makeelement(tag("w:ilvl"), {_VAL: level}))
    lists = {value(num, "w:abstractNumId"): levels.get(num.get(tag("w:numId"))) for num in numbering.iter(tag("w:num"))}
    for abstract in numbering.iter(tag("w:abstractNum")):
        plans, new_level = abstract.findall(tag("w:lvl")), lists.get(abstract.get(tag("w:abstractNumId")))
        if new_level and len(plans) == 1:
            plans[0].set(tag("w:ilvl"), new_level)
