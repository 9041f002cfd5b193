"""OpenDocument files of all three types as LibreOffice and other programs package them."""

from collections.abc import Mapping
from typing import Any

import pytest

from svc_notebooks.convert.document import read as document
from svc_notebooks.convert.job import ConversionError, Job
from svc_notebooks.convert.presentation.odp.read import read as read_odp
from svc_notebooks.convert.spreadsheet import xls
from tests.convert.sources import ODF_SPACES, zipped

_BODIES = {
    "text": "<text:p>Some words</text:p>",
    "spreadsheet": "<table:table><table:table-row><table:table-cell><text:p>Some words</text:p></table:table-cell>"
    "</table:table-row></table:table>",
    "presentation": "<draw:page><draw:frame><draw:text-box><text:p>Some words</text:p></draw:text-box></draw:frame>"
    "</draw:page>",
}
_READERS = {"text": document.odt, "spreadsheet": xls.read_ods, "presentation": read_odp}


def _content(kind: str, root: str = "document-content", prolog: str = "") -> str:
    body = f"<office:body><office:{kind}>{_BODIES[kind]}</office:{kind}></office:body>"
    return f'<?xml version="1.0"?>{prolog}<office:{root} {ODF_SPACES}>{body}</office:{root}>'


def _read(kind: str, members: Mapping[str, str | bytes], job: Job) -> Any:
    return _READERS[kind](zipped({"content.xml": _content(kind)} | members), job)


@pytest.mark.parametrize("kind", _BODIES)
@pytest.mark.parametrize(
    "members",
    [
        {},
        {"styles.xml": ""},
        {"Basic/script-lb.xml": '<!DOCTYPE library:libraries PUBLIC "-//OpenOffice.org//DTD" "libraries.dtd"><a/>'},
        {"META-INF/manifest.xml": '<!DOCTYPE manifest:manifest PUBLIC "-//OpenOffice.org//DTD" "Manifest.dtd"><a/>'},
    ],
    ids=["content only", "empty styles", "macro", "manifest of OpenOffice 1"],
)
def test_parts_that_are_not_read_may_be_anything(kind: str, members: dict[str, str], job: Job) -> None:
    assert "words" in str(_read(kind, members, job))


@pytest.mark.parametrize("kind", _BODIES)
def test_a_comment_and_a_byte_order_mark_may_precede_the_content(kind: str, job: Job) -> None:
    content = _content(kind, prolog="<!-- made by a program -->").encode("utf-8-sig")

    assert "words" in str(_read(kind, {"content.xml": content}, job))


def test_a_spreadsheet_without_tables_is_empty(job: Job) -> None:
    content = f"<office:document-content {ODF_SPACES}><office:body><office:spreadsheet/></office:body>"

    workbook = _read("spreadsheet", {"content.xml": f"{content}</office:document-content>"}, job)

    assert [sheet.rows for sheet in workbook.sheets] == [{}]


@pytest.mark.parametrize("kind", _BODIES)
def test_flat_files_are_read(kind: str, job: Job) -> None:
    assert "words" in str(_READERS[kind](_content(kind, "document").encode(), job))


@pytest.mark.parametrize("kind", _BODIES)
@pytest.mark.parametrize("path", ["content.xml", "encrypted-package"])
def test_encrypted_files_are_said_to_be_encrypted(kind: str, path: str, job: Job) -> None:
    entry = f'<manifest:file-entry manifest:full-path="{path}"><manifest:encryption-data/></manifest:file-entry>'
    manifest = f"<manifest:manifest {ODF_SPACES}>{entry}</manifest:manifest>"

    with pytest.raises(ConversionError, match="the file is encrypted"):
        _READERS[kind](zipped({path: b"\x8a\x01\xff", "META-INF/manifest.xml": manifest}), job)
