"""LibreOffice opens our spreadsheets, calculates their formulas and finds the same values."""

import csv
import io
import subprocess

import pytest

from svc_notebooks.convert.engines.available import soffice
from svc_notebooks.convert.spreadsheet.model import Cell, Sheet, Workbook
from svc_notebooks.convert.spreadsheet.ods.write import write as write_ods
from svc_notebooks.convert.spreadsheet.xlsx.write import write as write_xlsx

pytestmark = [pytest.mark.opens, pytest.mark.spec("A7-01", "A7-01b")]

ROWS = {
    0: {0: Cell(1.5), 1: Cell(2), 2: Cell(None, formula="SUM(A1:B1,'My data'!A1)"), 3: Cell("Größe 日本語 😀")},
    1: {0: Cell(True), 1: Cell("=1+1"), 2: Cell(None, formula='IF(A1>1,"yes","no")'), 3: Cell("a, b")},
}


@pytest.mark.parametrize("extension,write", [("xlsx", write_xlsx), ("ods", write_ods)])
def test_cells_and_formulas(job, tmp_path, extension, write):
    source_file = tmp_path / f"book.{extension}"
    source_file.write_bytes(write(Workbook((Sheet("My data", ROWS),)), job))

    subprocess.run(
        [
            soffice() or "soffice", f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}", "--headless",
            "--convert-to", "csv:Text - txt - csv (StarCalc):44,34,76", "--outdir", str(tmp_path), str(source_file),
        ],
        check=True, capture_output=True,
    )  # fmt: skip

    rows = list(csv.reader(io.StringIO((tmp_path / "book.csv").read_text("utf-8"), newline="")))
    assert rows == [["1.5", "2", "5", "Größe 日本語 😀"], ["TRUE", "=1+1", "yes", "a, b"]]
