"""Formulas in TeX as typst writes them."""

from __future__ import annotations

from ..job import ConversionError, Job
from . import pandoc
from .clean import nodes_of
from .model import Document


def formulas(document: Document, job: Job) -> dict[str, str]:
    """TeX formulas in typst's notation: all in one call, and those that typst cannot set are left out."""
    sources = list(dict.fromkeys(n["c"][1] for n in nodes_of(document.blocks) if n["t"] == "Math"))
    if not sources:
        return {}
    marker = "\u2016\u2016"
    blocks = [{"t": "Para", "c": [{"t": "Math", "c": [{"t": "InlineMath"}, tex]}]} for tex in sources]
    try:
        made = pandoc.write(Document(blocks), "typst", job, "--wrap=none").decode()
    except ConversionError:
        return {}
    parts = [part.strip() for part in made.replace("\n\n", marker).split(marker) if part.strip()]
    if len(parts) != len(sources):
        return {}
    found = {tex: part[1:-1] for tex, part in zip(sources, parts, strict=True) if _is_formula(part)}
    return {tex: part for tex, part in found.items() if _can_be_set(part)}


def _is_formula(part: str) -> bool:
    return part.startswith("$") and part.endswith("$") and "$" not in part[1:-1] and "#" not in part


def _can_be_set(formula: str) -> bool:
    import typst

    try:
        typst.compile(f'#math.equation(eval({_quoted(formula)}, mode: "math"))'.encode(), ignore_system_fonts=True)
    except typst.TypstError:
        return False
    return True


def _quoted(text: str) -> str:
    """As a string of typst's."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
