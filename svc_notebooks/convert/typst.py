"""The one file that knows typst: a template of ours, the user's text as data beside it, never as code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Literal

from .fonts import folders
from .job import ConversionError, Job


def render(
    job: Job,
    template: str,
    data: Any,
    resources: Mapping[str, bytes],
    format: Literal["pdf", "png", "svg"] = "pdf",
    *,
    ppi: float = 144.0,
) -> bytes:
    """A page or many: `template` is a path below this package, which reads `data.json` and the resources by name.

    Nothing outside the job's folder can be read by it, and no package is fetched.
    """
    import typst

    folder = job.folder
    for name, content in resources.items():
        (folder / name).write_bytes(content)
    (folder / "data.json").write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
    main = folder / "main.typ"
    main.write_text((files(__package__) / template).read_text(encoding="utf-8"), encoding="utf-8")
    try:
        pages = typst.compile(
            main, root=folder, font_paths=folders(), ignore_system_fonts=True, format=format, ppi=ppi,
            timestamp=int(job.now.timestamp()),
        )  # fmt: skip
    except typst.TypstError as error:
        raise ConversionError(f"the page could not be set: {str(error)[:200]}") from error
    return pages
