"""Writes docs/reference.md, docs/names.md, docs/rules.md and docs/openapi.json from tables of the code.

python -m tools.docs            writes the files and build/docs, and returns exit status 1 if a link has no target
python -m tools.docs --check    writes nothing, and returns exit status 1 if a file is outdated
"""

import inspect
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import svc_notebooks as svc
from svc_notebooks.core.api.openapi import document
from svc_notebooks.core.api.operations import DOWNLOAD_COST, OPERATIONS, SESSION
from svc_notebooks.core.brand_names import Names
from svc_notebooks.core.errors.catalogue import CATALOGUE
from svc_notebooks.core.events.colors import EVENT_COLORS
from svc_notebooks.core.events.field_table import EVENT_FIELDS
from svc_notebooks.core.faults.presets import PRESETS
from svc_notebooks.core.files.fields import FILE_FIELDS
from svc_notebooks.core.policy import Policy
from svc_notebooks.core.uploads.states import TRANSITIONS
from svc_notebooks.notebook.frames import event_schemas, schemas
from tools import rules_page

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "reference.md"
NAMES = DOCS / "names.md"
RULES = DOCS / "rules.md"
DESCRIPTION = DOCS / "openapi.json"
HEAD = """# Reference

The tables that the code reads, written by `make docs`. Do not edit this page.
"""

NAMES_HEAD = """# Names

All of `svc_notebooks`, written by `make docs` from the docstrings; `help(name)` has the rest,
and [recipes](recipes.md) shows them at work.

"""

SANDBOX_HEAD = """## Methods of a sandbox

`lab = svc.sandbox()`: what a sandbox does beside the functions above.

"""


def main(argv: list[str]) -> int:
    stale = [(path, text) for path, text in written().items() if not path.exists() or text != path.read_text("utf-8")]
    if "--check" in argv:
        return 1 if stale else 0
    for path, text in stale:
        path.write_text(text, encoding="utf-8")
    from tools.site.build import main as site  # only here, because the import reads every notebook

    return site([])


def written() -> dict[Path, str]:
    """Return the text of each generated file by path."""
    return {PAGE: page(), NAMES: names(), RULES: rules_page.page(), DESCRIPTION: description()}


def description() -> str:
    """Return the interface as OpenAPI JSON, for a service with the default policy and names."""
    return json.dumps(document(Names(), Policy(), "https://svc.example"), indent=1, ensure_ascii=False) + "\n"


def names() -> str:
    """Return the Markdown of docs/names.md, with the public names in the order of `__all__`."""
    public = ((f"`{name}`", *_signature_and_summary(getattr(svc, name))) for name in svc.__all__)
    methods = ((f"`lab.{name}`", *_signature_and_summary(method, skip=1)) for name, method in _sandbox_methods())
    columns = "name, takes, says"
    return f"{NAMES_HEAD}{table(columns, public)}\n{SANDBOX_HEAD}{table(columns, methods)}"


_INTERNAL = ("follow", "closes")
"""Methods of a sandbox for the package's own modules."""


def _sandbox_methods() -> Iterator[tuple[str, object]]:
    for kind in reversed(svc.Sandbox.__mro__):
        for name, value in vars(kind).items():
            if inspect.isfunction(value) and not name.startswith("_") and name not in _INTERNAL:
                yield name, value


def _signature_and_summary(value: object, skip: int = 0) -> tuple[str, str]:
    """Return the parameters after the first `skip`, without types, and the first paragraph of the docstring."""
    first = (inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " ")
    if not inspect.isfunction(value):
        return "", first
    taken = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in inspect.signature(value).parameters.values()
    ]
    words = str(inspect.Signature(taken[skip:])).removeprefix("(").removesuffix(")")
    return f"`{words}`" if words else "", first


def page() -> str:
    tables = (operations, upload_states, file_fields, event_fields, colors, refusals, faults, frames)
    return "\n".join([HEAD, *(line for section in tables for line in section())])


def table(head: str, rows: Iterable[Iterable[object]]) -> str:
    """Return a Markdown table. Commas separate the columns of `head`."""
    columns = [column.strip() for column in head.split(",")]
    lines = [columns, ["---"] * len(columns), *([str(cell) for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |\n" for line in lines)


def operations() -> Iterator[str]:
    yield "## Operations\n"
    yield "A path is below `/storage/v3` or `/calendar/v3`; with media it answers below `/upload/storage/v3` as well."
    yield f"The cost is in the units of `rate_limit`; to download content costs {DOWNLOAD_COST}.\n"
    yield table(
        "operation, cost, methods, path, media, one of these scopes, its success is decided by",
        (
            (
                operation.name,
                operation.units,
                " ".join(operation.methods),
                f"`/{'/'.join(operation.path)}`" if operation.path else "the session URI",
                "yes" if operation.media else "",
                ", ".join(sorted(operation.scopes)),
                operation.decided_by,
            )
            for operation in (*OPERATIONS, SESSION)
        ),
    )


def upload_states() -> Iterator[str]:
    yield "## States of a resumable upload\n"
    yield "A move that is not here does not exist. The service answers the status; the client reads it backwards.\n"
    arrows = (f"    {old.value} --> {new.state.value} : {event.name}\n" for (old, event), new in TRANSITIONS.items())
    yield f"```mermaid\nstateDiagram-v2\n{''.join(arrows)}```\n"
    yield table(
        "state, what happens, next state, status, decided by",
        (
            (old.value, event.value, new.state.value, new.status, new.decided_by)
            for (old, event), new in TRANSITIONS.items()
        ),
    )


def file_fields() -> Iterator[str]:
    yield "## Fields of a file\n"
    yield table(
        "field, type, a client may write it, only with content, parts",
        (
            (f"`{field.name}`", field.type, field.write.value, "yes" if field.binary else "", ", ".join(field.parts))
            for field in FILE_FIELDS
        ),
    )


def event_fields() -> Iterator[str]:
    yield "## Fields of an event\n"
    yield "What a client sends of a field that it cannot write is ignored; extensions are not in the interface.\n"
    yield 'A limit of the family is one of characters or entries, and counts with `event_limits="family"` alone.\n'
    yield table(
        "field, type, required, default, allowed or rule, limit of the family, a client may write it, extension",
        (
            (
                f"`{field.path}`",
                field.type,
                "yes" if field.required else "",
                "" if field.default is None else f"`{json.dumps(field.default)}`",
                ", ".join(field.values) if field.values else field.rule,
                field.limit or "",
                "yes" if field.writable else "",
                "yes" if field.extension else "",
            )
            for field in EVENT_FIELDS
        ),
    )


def colors() -> Iterator[str]:
    yield "## Colours of events\n"
    yield table(
        "colorId, name, background, foreground",
        ((key, color.name, f"`{color.background}`", f"`{color.foreground}`") for key, color in EVENT_COLORS.items()),
    )


def refusals() -> Iterator[str]:
    yield "## Refusals\n"
    yield 'In the envelope `{"error": {"code", "message", "errors": [...]}}`; a name in braces is filled in.\n'
    yield "What decides is one of the [rules](rules.md), a field of Policy or a row of the [decisions](decisions.md).\n"
    yield table(
        "status, reason, message, location, location type, domain, decided by",
        (
            (
                row.status,
                f"`{row.reason}`",
                row.message,
                row.location or "",
                row.location_type or "",
                row.domain,
                row.decided_by or "the field's rule",
            )
            for row in CATALOGUE.values()
        ),
    )


def faults() -> Iterator[str]:
    yield "## Plans of faults\n"
    yield "For `lab.faults(name)`; what a step can do is in `control.md`.\n"
    yield table(
        "name, teaches, steps", ((preset.name, preset.teaches, "; ".join(preset.descriptions())) for preset in PRESETS)
    )


def frames() -> Iterator[str]:
    yield "## Frames\n"
    yield "Columns and dtypes are the same for no row, one and many. Sizes are in bytes.\n"
    yield "Times of events have the zone that their function names, instead of UTC.\n"
    for name, schema in {**vars(schemas), **vars(event_schemas)}.items():
        if isinstance(schema, schemas.Schema):
            yield f"### {name.capitalize()}\n"
            yield table("column, dtype", ((f"`{column.name}`", column.dtype) for column in schema.columns))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
