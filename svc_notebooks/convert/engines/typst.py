"""Renders PDF and images with typst templates. A template gets the user's text as data and never as code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Literal

from ..job import ConversionError, Job
from . import fonts

_CONVERT = __package__.rpartition(".")[0]

_LARGE_INPUT = 100_000
"""The number of bytes of data and resources above which typst's cache is cleared after rendering."""
_CACHE_GENERATIONS = 10
"""The number of compilations after which typst removes an unused result from its cache."""


def render(
    job: Job,
    template: str,
    data: Mapping[str, Any],
    resources: Mapping[str, bytes],
    format: Literal["pdf", "png", "svg"] = "pdf",
    *,
    ppi: float = 144.0,
) -> bytes:
    """Render a template to a PDF, PNG or SVG file, and return the file's bytes.

    A PNG or SVG has only the first page. `template` is a path in the package `convert`. The template reads `data.json`
    and the resources by name, and cannot read files outside the job's folder or download packages. `data.json` has the
    values of `data`, and the key `fallback` with font families for scripts that typst's own fonts do not contain.
    Raises ConversionError if typst cannot compile the template with this data.
    """
    import typst

    text = json.dumps(data, ensure_ascii=False)
    for missing in fonts.missing_glyphs(text):
        job.note(str(missing))
    folder = job.folder
    for name, content in resources.items():
        (folder / name).write_bytes(content)
    data_json = json.dumps({**data, "fallback": fonts.fallback_families(text)}, ensure_ascii=False)
    (folder / "data.json").write_text(data_json, encoding="utf-8", errors="replace")
    main = folder / "main.typ"
    main.write_text((files(_CONVERT) / template).read_text(encoding="utf-8"), encoding="utf-8")
    empty_folder = folder / "packages"
    compiler = typst.Compiler(
        main, root=folder, font_paths=fonts.fonts(), package_path=empty_folder, package_cache_path=empty_folder
    )
    try:
        output = compiler.compile(format=format, ppi=ppi, timestamp=int(job.now.timestamp()))
    except typst.TypstError as error:
        raise ConversionError(f"the page could not be rendered: {str(error)[:200]}") from error
    finally:
        if len(data_json) + sum(map(len, resources.values())) > _LARGE_INPUT:
            for _ in range(_CACHE_GENERATIONS + 1):
                compiles("")
    page = output[0] if isinstance(output, list) else output
    return page or b""


def compiles(code: str) -> bool:
    """Return whether typst can compile a piece of code. Pass only code that pandoc wrote, and never a user's code."""
    import typst

    try:
        typst.Compiler(code.encode(), font_paths=fonts.fonts()).compile(format="svg")
    except typst.TypstError:
        return False
    return True
