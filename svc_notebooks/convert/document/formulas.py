"""Formulas in TeX as typst writes them."""

from __future__ import annotations

from ..engines.typst import sets
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
    good = _settable(list(set(found.values())))
    return {tex: part for tex, part in found.items() if part in good}


def _is_formula(part: str) -> bool:
    return part.startswith("$") and part.endswith("$") and "$" not in part[1:-1] and "#" not in part


def _settable(formulas: list[str]) -> set[str]:
    """Those that typst can set: all at once, and where that fails each half, down to the bad ones."""
    if not formulas or sets("\n".join(map(_equation, formulas))):
        return set(formulas)
    half = len(formulas) // 2
    return _settable(formulas[:half]) | _settable(formulas[half:]) if half else set()


def _equation(formula: str) -> str:
    """As the template sets it: evaluated from a string of typst's, out of reach of `std`, which can read files."""
    escaped = formula.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'#math.equation(eval("{escaped}", mode: "math", scope: (std: none)))'
