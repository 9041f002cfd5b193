"""Pandoc writes placeholders, and the pictures come in afterwards with their size."""

import base64
import io
import re
import zipfile
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from PIL import Image

from svc_notebooks.convert.document import pandoc, write
from svc_notebooks.convert.document.model import Document
from svc_notebooks.convert.job import Job, JobLimits, TooLarge
from tests.convert import sources

EMU_PER_INCH = 914_400


def picture(format: str, size: tuple[int, int], dpi: tuple[int, int] | None = None) -> bytes:
    return sources.saved(Image.linear_gradient("L").resize(size), format, **({"dpi": dpi} if dpi else {}))


def document(name: str, data: bytes, *attributes: tuple[str, str], count: int = 1) -> Document:
    pairs = [list(pair) for pair in attributes]
    image = {"t": "Image", "c": [["", [], pairs], [{"t": "Str", "c": "alt"}], [name, ""]]}
    return Document([{"t": "Para", "c": [image]}] * count, {}, {name: data})


def extent(made: bytes) -> tuple[float, float]:
    with zipfile.ZipFile(io.BytesIO(made)) as file:
        [element] = ElementTree.fromstring(file.read("word/document.xml")).findall(".//{*}extent")
    return int(element.get("cx", "")) / EMU_PER_INCH, int(element.get("cy", "")) / EMU_PER_INCH


@pytest.mark.parametrize(
    "name,dpi,attributes,size",
    [
        ("a.png", None, (), (300 / 72, 150 / 72)),
        ("a.jpg", None, (), (300 / 72, 150 / 72)),
        ("a.gif", None, (), (300 / 72, 150 / 72)),
        ("a.png", (300, 300), (), (1, 0.5)),
        ("a.jpg", (300, 150), (), (1, 1)),
        ("a.png", (96, 96), (), (300 / 96, 150 / 96)),
        ("a.png", None, (("width", "2in"),), (2, 1)),
        ("a.jpg", None, (("height", "3in"),), (5.83, 2.92)),  # the width of the text
        ("a.gif", None, (("width", "2in"), ("height", "2in")), (2, 2)),
    ],
)
def test_a_picture_keeps_its_size(name, dpi, attributes, size, job):
    data = picture({"png": "PNG", "jpg": "JPEG", "gif": "GIF"}[name[-3:]], (300, 150), dpi)

    assert extent(write.docx(document(name, data, *attributes), job)) == pytest.approx(size, abs=0.01)


each_format = pytest.mark.parametrize("name,format", [("a.png", "PNG"), ("a.jpg", "JPEG"), ("a.gif", "GIF")])


@each_format
@pytest.mark.parametrize("writer", ["docx", "odt", "epub"])
def test_an_archive_contains_the_picture(writer: str, name: str, format: str, job: Job) -> None:
    data = picture(format, (40, 30))
    made = getattr(write, writer)(document(name, data), job)

    with zipfile.ZipFile(io.BytesIO(made)) as file:
        pictures = [member for member in file.namelist() if file.read(member) == data]
        listed = b"".join(file.read(member) for member in file.namelist() if member.endswith((".xml", ".rels", ".opf")))
    assert len(pictures) == 1
    assert pictures[0].endswith(name[1:])
    assert pictures[0].rpartition("/")[2].encode() in listed


@each_format
def test_a_text_contains_the_picture(name: str, format: str, job: Job) -> None:
    data = picture(format, (40, 30))
    shown = document(name, data)
    control = "jpeg" if format == "JPEG" else "png"

    for made in (write.html(shown, job), write.markdown(shown, job)):
        assert f"data:image/{format.lower()};base64,{base64.b64encode(data).decode()}".encode() in made
        assert made.count(b"base64,") == 1
    made = write.rtf(shown, job).decode()
    match = re.search(rf"\\{control}blip\\picw40\\pich30\\picwgoal800\\pichgoal600 ([0-9a-f]+)", made)
    assert match
    with Image.open(io.BytesIO(bytes.fromhex(match[1]))) as image:
        assert (image.size, image.format) == ((40, 30), "JPEG" if control == "jpeg" else "PNG")
        image.load()
    assert "base64" not in made


@pytest.mark.parametrize("writer", ["html", "markdown", "rtf", "docx", "odt", "epub"])
def test_pandoc_does_not_get_the_picture(writer: str, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, run = [], pandoc.run
    monkeypatch.setattr(pandoc, "run", lambda *it: (sizes.append(len(it[1])), run(*it))[1])
    noise = sources.saved(Image.effect_noise((500, 500), 90), "PNG")
    getattr(write, writer)(document("a.png", noise), job)

    assert len(noise) > 100_000
    assert all(size < 2_000 for size in sizes)


@pytest.mark.parametrize("writer", ["html", "markdown", "rtf", "odt"])
def test_a_picture_that_is_shown_often_does_not_exceed_the_limit(writer: str, job: Job) -> None:
    pictures = document("a.png", picture("PNG", (100, 100)), count=500)

    with pytest.raises(TooLarge, match="more than 20000 bytes"):
        getattr(write, writer)(pictures, replace(job, limits=JobLimits(output=20_000)))
