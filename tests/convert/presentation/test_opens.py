import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pypdf
import pytest

from svc_notebooks.convert.presentation.model import INCH, Box, Paragraph, Presentation, Shape, Slide, Text, TextRun
from svc_notebooks.convert.presentation.odp.read import read as read_odp
from svc_notebooks.convert.presentation.odp.write import write as write_odp
from svc_notebooks.convert.presentation.pptx.read import read_ppt
from svc_notebooks.convert.presentation.pptx.write import write as write_pptx
from tests.convert.presentation import decks
from tests.convert.presentation.test_pptx import sample
from tests.patience import PATIENCE

pytestmark = [pytest.mark.opens, pytest.mark.spec("A7-01", "A7-01b")]

_SCRIPTS = ("Größe", "日本語", "한국어", "中文", "Ελληνικά", "Русский")


def convert_with_libreoffice(source: bytes, extension: str, target: str, folder: Path) -> bytes:
    folder = folder / "office"
    folder.mkdir(exist_ok=True)
    source_file = folder / f"given.{extension}"
    source_file.write_bytes(source)
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    command = [shutil.which("soffice"), profile, "--headless", "--convert-to", target, "--outdir", folder, source_file]
    subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE)
    return source_file.with_suffix(f".{target}").read_bytes()


@pytest.fixture
def presentation() -> Presentation:
    words = tuple(Paragraph((TextRun(text),), marker="bullet") for text in _SCRIPTS)
    scripts = Slide((Text(Box(INCH, INCH, 8 * INCH, 4 * INCH), words, "body"),))
    shapes = tuple(_roomy(shape, n) for n, shape in enumerate(sample().slides[0].shapes))
    return replace(sample(), slides=(replace(sample().slides[0], shapes=shapes, hidden=False), scripts))


def _roomy(shape: Shape, n: int) -> Shape:
    """Return the shape in a larger box that covers no other."""
    return replace(shape, box=Box(n % 2 * 6 * INCH, n // 2 * 2 * INCH, 5 * INCH, 2 * INCH))


@pytest.mark.parametrize("write, extension", [(write_pptx, "pptx"), (write_odp, "odp")])
def test_libreoffice_shows_the_same_slides(job, presentation, tmp_path, write, extension):
    shown = convert_with_libreoffice(write(presentation, job), extension, "pdf", tmp_path)

    (tmp_path / "seen.pdf").write_bytes(shown)
    command = ["pdftotext", "-layout", tmp_path / "seen.pdf", "-"]
    text = subprocess.run(command, check=True, capture_output=True).stdout.decode()
    pages = pypdf.PdfReader(tmp_path / "seen.pdf").pages
    assert [(round(it.mediabox.width), round(it.mediabox.height)) for it in pages] == [(960, 540)] * 2
    assert [word for word in ("Title", "one", "two", "oval", "wide", *_SCRIPTS) if word not in text] == []


@pytest.mark.spec("A5-01")
def test_slides_that_libreoffice_writes_are_read(job, tmp_path):
    theirs = convert_with_libreoffice(decks.full_pptx(), "pptx", "odp", tmp_path)
    old = convert_with_libreoffice(decks.full_pptx(), "pptx", "ppt", tmp_path)
    new, was = read_odp(theirs, job), read_ppt(old, job)

    for presentation in (new, was):
        assert [slide.shapes[0].text for slide in presentation.slides[:2]] == ["Überblick 日本語", "Numbers"]
        assert presentation.slides[0].notes == "Say hello\nand more"
        assert [it.level for it in presentation.slides[0].shapes[1].paragraphs] == [0, 1, 2, 0]
        assert presentation.slides[2].hidden
        assert len(presentation.pictures) >= 1
