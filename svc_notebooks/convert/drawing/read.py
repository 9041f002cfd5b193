"""Reads SVG as a drawing."""

from __future__ import annotations

from typing import Any

from lxml import etree

from ..job import ConversionError, Job
from .clean import SVG, clean
from .complexity import check_depth, check_weight
from .model import Drawing
from .size import set_size

_GZIP = b"\x1f\x8b"


def read(source: bytes, job: Job) -> Drawing:
    """A drawing out of SVG. A document type without entities is left out; one with them is refused.

    Raises:
        ConversionError: it is no SVG, or damaged, or declares entities; TooLarge: it would need too much.
    """
    root = _parse(source)
    check_depth(root)
    clean(root, job)
    width, height = set_size(root, job)
    check_weight(root, width * height)
    etree.cleanup_namespaces(root)
    return Drawing(etree.tostring(root, encoding="unicode", with_tail=False), width, height)


def _parse(source: bytes) -> Any:
    if source.startswith(_GZIP):
        raise ConversionError("the drawing is compressed; send it as plain SVG.")
    if b"<!ENTITY" in source.replace(b"\0", b""):
        raise ConversionError("the drawing declares entities, which it may not.")
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(source, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise ConversionError(f"the drawing is no well-formed XML: {str(error)[:120]}") from error
    declared = root.getroottree().docinfo.internalDTD
    if declared is not None and any(True for _ in declared.iterentities()):
        raise ConversionError("the drawing declares entities, which it may not.")
    return _in_svg_namespace(root)


def _in_svg_namespace(root: Any) -> Any:
    """A root of SVG; one that has forgotten its namespace gets it."""
    if root.tag == f"{{{SVG}}}svg":
        return root
    if root.tag != "svg":
        raise ConversionError("the file is no SVG drawing: its outermost element is not svg.")
    text: bytes = etree.tostring(root)
    return etree.fromstring(text.replace(b"<svg", b'<svg xmlns="' + SVG.encode() + b'"', 1))
