import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from svc_notebooks.core.api.operations import ALL_SCOPES
from svc_notebooks.core.brand_names import NATIVE_NAMES, Names
from svc_notebooks.core.http.media_types import VENDOR_TYPES
from svc_notebooks.core.notifications.deliveries import HEADERS
from svc_notebooks.server.request_pipeline import NOT_OFFERED
from tests.family import FAMILY, PAGE

SERVER = Path(__file__).parents[2] / "svc_notebooks" / "server"
TEXT = PAGE.read_text(encoding="utf-8")


def kinds(method: str) -> list[str]:
    """The resources whose `kind` the service makes with this method of Names."""
    package = "\n".join(path.read_text("utf-8") for path in SERVER.parent.rglob("*.py"))
    return re.findall(rf'names\.{method}\("(\w+)"\)', package)


def names(own: Names) -> Iterator[str]:
    yield from (own.path("files"), own.upload_path("files"), own.calendar_path("calendars"))
    yield from (own.header(row.name) for row in HEADERS)
    yield from (own.native(name) for name in (*NATIVE_NAMES, *VENDOR_TYPES))
    yield from sorted({own.kind(name) for name in kinds("kind")})
    yield from sorted({own.calendar_kind(name) for name in kinds("calendar_kind")})
    yield from (own.scope(scope) for scope in ALL_SCOPES)
    yield own.update_method


def test_the_tables_of_names_are_those_of_the_code():
    section = TEXT.partition("## The names\n")[2].partition("### Names that are not in `Names`")[0]
    rows = [
        tuple(cell.strip(" `") for cell in row) for row in re.findall(r"^\| (`.*) \| (.*) \|$", section, re.MULTILINE)
    ]
    shown = [(here, here if there == "the same" else there) for here, there in rows]
    fields_of_headings = set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^### .*: (.*)$", section, re.MULTILINE))))

    assert sorted(shown) == sorted(set(zip(names(Names()), names(FAMILY), strict=True)))
    assert fields_of_headings == {field.name for field in fields(Names)}


def test_the_operations_that_are_left_out_are_those_of_the_code():
    assert f"left out: {NOT_OFFERED}." in " ".join(TEXT.split())


def test_the_page_of_the_ten_tasks_shows_every_file():
    page = (PAGE.parent / "clients.md").read_text(encoding="utf-8")
    shown = re.findall(r"^```\{literalinclude\} (clients/[\w.]+)$", page, re.MULTILINE)

    assert sorted(shown) == sorted(f"clients/{path.name}" for path in (PAGE.parent / "clients").glob("*.*"))
