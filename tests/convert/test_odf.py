"""OpenDocument files of all three types as LibreOffice and other programs package them."""

from collections.abc import Callable

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


_LIBRARIES = '<!DOCTYPE library:libraries PUBLIC "-//OpenOffice.org//DTD" "libraries.dtd"><a/>'
_MANIFEST = '<!DOCTYPE manifest:manifest PUBLIC "-//OpenOffice.org//DTD" "Manifest.dtd"><a/>'
_SOURCES: dict[str, Callable[[str], bytes]] = {
    "content only": lambda kind: zipped({"content.xml": _content(kind)}),
    "empty styles": lambda kind: zipped({"content.xml": _content(kind), "styles.xml": ""}),
    "macro": lambda kind: zipped({"content.xml": _content(kind), "Basic/script-lb.xml": _LIBRARIES}),
    "manifest of OpenOffice 1": lambda kind: zipped(
        {"content.xml": _content(kind), "META-INF/manifest.xml": _MANIFEST}
    ),
    "comment and byte order mark": lambda kind: zipped(
        {"content.xml": _content(kind, prolog="<!-- made by a program -->").encode("utf-8-sig")}
    ),
    "flat": lambda kind: _content(kind, "document").encode(),
}


@pytest.mark.parametrize("kind", _BODIES)
@pytest.mark.parametrize("name", _SOURCES)
def test_files_of_other_programs_are_read(kind: str, name: str, job: Job) -> None:
    assert "words" in str(_READERS[kind](_SOURCES[name](kind), job))


def test_a_spreadsheet_without_tables_is_empty(job: Job) -> None:
    body = "<office:body><office:spreadsheet/></office:body>"
    content = f"<office:document-content {ODF_SPACES}>{body}</office:document-content>"

    workbook = xls.read_ods(zipped({"content.xml": content}), job)

    assert [sheet.rows for sheet in workbook.sheets] == [{}]


@pytest.mark.parametrize("kind", _BODIES)
@pytest.mark.parametrize("path", ["content.xml", "encrypted-package"])
def test_encrypted_files_are_said_to_be_encrypted(kind: str, path: str, job: Job) -> None:
    entry = f'<manifest:file-entry manifest:full-path="{path}"><manifest:encryption-data/></manifest:file-entry>'
    manifest = f"<manifest:manifest {ODF_SPACES}>{entry}</manifest:manifest>"

    with pytest.raises(ConversionError, match="the file is encrypted"):
        _READERS[kind](zipped({path: b"\x8a\x01\xff", "META-INF/manifest.xml": manifest}), job)
