"""Converts the TeX formulas in a document to typst's formula syntax."""

from __future__ import annotations

import re

from ..engines.typst import compiles
from ..job import ConversionError, Job
from . import pandoc
from .clean import nodes_of
from .model import Document


def typst_formulas(document: Document, job: Job) -> dict[str, str]:
    """Return a dict from TeX to typst formulas, without formulas that pandoc or typst cannot process."""
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
    converted = {tex: part[1:-1] for tex, part in zip(sources, parts, strict=True) if re.fullmatch(r"\$[^$#]*\$", part)}
    valid = _compilable(list(set(converted.values())))
    return {tex: part for tex, part in converted.items() if part in valid}


def _compilable(formulas: list[str]) -> set[str]:
    """Return the formulas that typst can compile. After an error, each half is compiled separately."""
    if not formulas or compiles("\n".join(map(_equation, formulas))):
        return set(formulas)
    half = len(formulas) // 2
    return _compilable(formulas[:half]) | _compilable(formulas[half:]) if half else set()


def _equation(formula: str) -> str:
    """Return typst code for a formula as in `document.typ`, without `std`, whose functions can read files."""
    escaped = formula.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'#math.equation(eval("{escaped}", mode: "math", scope: (std: none)))'
