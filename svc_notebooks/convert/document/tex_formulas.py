"""Converts TeX formulas to typst's notation."""

from __future__ import annotations

from ..engines.typst import compiles
from ..job import ConversionError, Job
from . import pandoc
from .clean import nodes_of
from .model import Document


def typst_formulas(document: Document, job: Job) -> dict[str, str]:
    """TeX formulas in typst's notation: all in one call, and those that typst cannot set are left out."""
    sources = list(dict.fromkeys(n["c"][1] for n in nodes_of(document.blocks) if n["t"] == "Math"))
    if not sources:
        return {}
    marker = "\u2016\u2016"
    blocks = [{"t": "Para", "c": [{"t": "Math", "c": [{"t": "InlineMath"}, tex]}]} for tex in sources]
    try:
        markup = pandoc.write(Document(blocks), "typst", job, "--wrap=none").decode()
    except ConversionError:
        return {}
    parts = [part.strip() for part in markup.replace("\n\n", marker).split(marker) if part.strip()]
    if len(parts) != len(sources):
        return {}
    converted = {tex: part[1:-1] for tex, part in zip(sources, parts, strict=True) if _is_formula(part)}
    valid = _compilable(list(set(converted.values())))
    return {tex: part for tex, part in converted.items() if part in valid}


def _is_formula(part: str) -> bool:
    return part.startswith("$") and part.endswith("$") and "$" not in part[1:-1] and "#" not in part


def _compilable(formulas: list[str]) -> set[str]:
    """Those that typst can set: all at once, and where that fails each half, down to the bad ones."""
    if not formulas or compiles("\n".join(map(_equation, formulas))):
        return set(formulas)
    half = len(formulas) // 2
    return _compilable(formulas[:half]) | _compilable(formulas[half:]) if half else set()


def _equation(formula: str) -> str:
    """As the template sets it: evaluated from a string of typst's, out of reach of `std`, which can read files."""
    escaped = formula.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'#math.equation(eval("{escaped}", mode: "math", scope: (std: none)))'
