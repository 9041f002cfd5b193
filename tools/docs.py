"""Writes docs/reference.md and docs/openapi.json from tables of the code, and docs/rules.md for the site.

python -m tools.docs            writes the files
python -m tools.docs --check    writes nothing, and returns exit status 1 if a file is outdated
"""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from svc_notebooks.core.api.openapi import document
from svc_notebooks.core.api.operations import DOWNLOAD_COST, OPERATIONS, SESSION
from svc_notebooks.core.brand_names import Names
from svc_notebooks.core.errors.catalogue import CATALOGUE
from svc_notebooks.core.events.fields import EVENT_FIELDS
from svc_notebooks.core.fault_plan import PRESETS
from svc_notebooks.core.files.fields import FILE_FIELDS
from svc_notebooks.core.policy import Policy
from svc_notebooks.core.resources.calendars import EVENT_COLORS
from svc_notebooks.core.resources.field import Field
from svc_notebooks.core.uploads.transitions import TRANSITIONS
from tools import rules_page

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "reference.md"
RULES = DOCS / "rules.md"
DESCRIPTION = DOCS / "openapi.json"
HEAD = """# Tables of the interface

The [rules](../tests/rules.csv) say how a service answers, and the [OpenAPI document](openapi.json) describes the
operations for programs. `make docs` writes this page from the tables in the code. Do not edit it.
"""


def main(argv: list[str]) -> int:
    stale = [(path, text) for path, text in written().items() if not path.exists() or text != path.read_text("utf-8")]
    if "--check" in argv:
        return 1 if stale else 0
    for path, text in stale:
        path.write_text(text, encoding="utf-8")
    return 0


def written() -> dict[Path, str]:
    """Return the text of each generated file by path."""
    return {PAGE: page(), RULES: rules_page.page(), DESCRIPTION: description()}


def description() -> str:
    """Return the interface as OpenAPI JSON, for a service with the default policy and names."""
    return json.dumps(document(Names(), Policy(), "https://svc.example"), indent=1, ensure_ascii=False) + "\n"


def page() -> str:
    tables = (operations, upload_states, file_fields, event_fields, colors, refusals, faults)
    return "\n".join([HEAD, *(line for section in tables for line in section())])


def table(head: str, rows: Iterable[Iterable[object]]) -> str:
    """Return a Markdown table. Commas separate the columns of `head`."""
    columns = [column.strip() for column in head.split(",")]
    lines = [columns, ["---"] * len(columns), *([str(cell) for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |\n" for line in lines)


def operations() -> Iterator[str]:
    yield "## Operations\n"
    yield "Paths begin with `/storage/v3` or `/calendar/v3`. An operation with media also has a path that begins"
    yield "with `/upload/storage/v3`. The [OpenAPI document](openapi.json) names the scopes of a token. The cost of"
    yield f"a request counts against `Policy.rate_limit`; a download of content costs {DOWNLOAD_COST}. Extensions are"
    yield "off with `Policy(extensions=False)`. [Rules](../tests/rules.csv) and [decisions](decisions.md) explain the"
    yield "last column.\n"
    yield table(
        "operation, cost, methods, path, media, extension, rule",
        (
            (
                operation.name,
                operation.units,
                " ".join(operation.methods),
                f"`/{'/'.join(operation.path)}`" if operation.path else "the session URI",
                "yes" if operation.accepts_content else "",
                "yes" if operation.extension else "",
                operation.decided_by,
            )
            for operation in (*OPERATIONS, SESSION)
        ),
    )


def upload_states() -> Iterator[str]:
    yield "## States of a resumable upload\n"
    yield "The tables have every possible transition. The service changes the state and returns the status; the client"
    yield "derives the new state from the status.\n"
    arrows = (f"    {old.value} --> {new.state.value} : {event.name}\n" for (old, event), new in TRANSITIONS.items())
    yield f"```mermaid\nstateDiagram-v2\n{''.join(arrows)}```\n"
    yield table(
        "state, event, next state, status, rule",
        (
            (old.value, event.value, new.state.value, new.status, new.decided_by)
            for (old, event), new in TRANSITIONS.items()
        ),
    )


def file_fields() -> Iterator[str]:
    yield "## Fields of a file\n"
    yield table(
        "field, type, writable, only with content, subfields",
        (
            (f"`{field.name}`", field.type, field.write.value, "yes" if field.binary else "", ", ".join(field.members))
            for field in FILE_FIELDS
        ),
    )


def event_fields() -> Iterator[str]:
    yield "## Fields of an event\n"
    yield "The service ignores values for fields that are read only. An extension is a field that the interface does"
    yield "not list. A limit is a number of characters or entries, and applies only with"
    yield '`Policy(event_limits="family")`.\n'
    yield table("field, type, values and rules", (_event_field(field) for field in EVENT_FIELDS))


def _event_field(field: Field) -> tuple[str, str, str]:
    rules = (
        "required" if field.required else "",
        ", ".join(field.values) if field.values else field.note,
        "" if field.default is None else f"default `{json.dumps(field.default)}`",
        f"limit {field.max_length}" if field.max_length else "",
        "" if field.writable else "read only",
        "extension" if field.extension else "",
    )
    return f"`{field.path}`", field.type, "; ".join(rule for rule in rules if rule)


def colors() -> Iterator[str]:
    yield "## Colours of events\n"
    yield table(
        "colorId, name, background, foreground",
        ((key, color.name, f"`{color.background}`", f"`{color.foreground}`") for key, color in EVENT_COLORS.items()),
    )


def refusals() -> Iterator[str]:
    yield "## Errors\n"
    yield 'The body of an error response is `{"error": {"code", "message", "errors": [...]}}`. Words in braces are'
    yield "replaced by values. The last column names one of the [rules](../tests/rules.csv), a field of `Policy` or a"
    yield "row of the [decisions](decisions.md); where it is empty, the rule of the field decides. The domain is"
    yield "`global` if the reason has no other in parentheses.\n"
    yield table(
        "status, reason, message, location, rule",
        (
            (
                row.status,
                f"`{row.reason}`" if row.domain == "global" else f"`{row.reason}` (`{row.domain}`)",
                row.message,
                f"{row.location} ({row.location_type})" if row.location else "",
                row.decided_by or "",
            )
            for row in CATALOGUE.values()
        ),
    )


def faults() -> Iterator[str]:
    yield "## Fault presets\n"
    yield "`lab.faults(name)` injects the faults of a preset. [The control interface](control.md#faults) describes the"
    yield "steps.\n"
    yield table(
        "name, teaches, steps", ((preset.name, preset.teaches, "; ".join(preset.descriptions())) for preset in PRESETS)
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
