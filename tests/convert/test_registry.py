import subprocess
import sys

import pytest

from svc_notebooks.convert import registry
from svc_notebooks.convert.engines import available
from svc_notebooks.convert.registry import MODELS, exporters, importers
from svc_notebooks.core.http.media_types import EXPORTS, IMPORTS, MAX_IMPORT_SIZES, NATIVES


@pytest.fixture
def everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry.Conversion, "is_available", True)


@pytest.fixture
def nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let only conversions without engines be available. Engines cache their result, so the property is replaced."""
    monkeypatch.setattr(registry.Conversion, "is_available", property(lambda conversion: not conversion.needs))


_OPENXML, _ODF = "application/vnd.openxmlformats-officedocument.", "application/vnd.oasis.opendocument."
SOURCES = {
    "document": (
        *(_OPENXML + "wordprocessingml.document", "application/msword", _ODF + "text", "text/html"),
        *("application/rtf", "text/plain", "image/jpeg", "image/png", "image/gif", "image/bmp", "application/pdf"),
    ),
    "spreadsheet": (
        *(_OPENXML + "spreadsheetml.sheet", "application/vnd.ms-excel", _ODF + "spreadsheet"),
        *("text/csv", "text/tab-separated-values", "text/plain"),
    ),
    "presentation": (
        *(_OPENXML + "presentationml.presentation", "application/vnd.ms-powerpoint", _ODF + "presentation"),
    ),
    "script": ("script+text/plain", "application/json"),
}
"""The import table of the interface, by native type."""


@pytest.mark.usefixtures("everything")
@pytest.mark.spec("A5-01", "A5-05")
@pytest.mark.parametrize("native", SOURCES)
def test_every_source_of_the_interface_is_read(native: str) -> None:
    assert set(SOURCES[native]) <= {conversion.media_type for conversion in importers() if conversion.native == native}


@pytest.mark.usefixtures("everything")
@pytest.mark.spec("A5-01", "A5-05", "A7-01", "A7-01a", "A7-04")
@pytest.mark.parametrize("extended", [False, True])
def test_every_row_of_the_tables_has_its_conversion(extended: bool) -> None:
    offered, sources = ([row for row in rows if extended or not row.extended] for rows in (EXPORTS, IMPORTS))

    written = [(it.native, it.media_type) for it in exporters(extended=extended)]
    read = [(it.native, it.media_type) for it in importers(extended=extended)]
    assert written == [(row.native, row.media_type) for row in offered]
    assert sorted(read) == sorted((row.native, kind) for row in sources for kind in row.media_types)


@pytest.mark.usefixtures("everything")
@pytest.mark.spec("A7-01", "A7-01a")
def test_every_function_is_there_and_the_interface_offers_23_exports() -> None:
    for conversion in (*importers(extended=True), *exporters(extended=True)):
        assert callable(registry.load(f".{conversion.function}"))
        assert conversion.native in MODELS
    assert len(exporters()) == 23


@pytest.mark.usefixtures("nothing")
@pytest.mark.spec("A5-05", "A7-04")
def test_conversions_without_their_engine_are_not_offered() -> None:
    readable, writable = ({it.media_type for it in conversions} for conversions in (importers(), exporters()))

    assert {"text/plain", "text/csv", "application/json"} <= readable
    assert not any("wordprocessingml" in kind or "pdf" in kind for kind in (*readable, *writable))
    assert "text/csv" in writable


def test_conversions_without_engines_import_none() -> None:
    code = """
import sys
modules = "lxml PIL typst xlsxwriter xlrd pptx pypdfium2 tinycss2 tesserocr formualizer msoffcrypto"
sys.modules |= dict.fromkeys(modules.split())
from svc_notebooks.convert.registry import load, readers, writers
for conversion in (*readers(extended=True).values(), *writers(extended=True).values()):
    if not conversion.needs:
        load(f".{conversion.function}")
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def test_every_engine_has_an_install_command_and_sizes_are_of_native_types() -> None:
    assert all(engine.install and engine.name for engine in available.ENGINES)
    assert len({engine.name for engine in available.ENGINES}) == len(available.ENGINES)
    assert MAX_IMPORT_SIZES.keys() <= set(NATIVES)
