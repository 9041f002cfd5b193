import base64
import io
import re
import zipfile
from collections.abc import Callable

import pytest
from PIL import Image

from svc_notebooks.convert.document import read
from svc_notebooks.convert.document.scanned_pages import picture
from svc_notebooks.convert.drawing.read import read as read_svg
from svc_notebooks.convert.job import ConversionError, Job
from svc_notebooks.convert.presentation.odp.read import read as read_odp
from svc_notebooks.convert.presentation.pptx.read import read as read_pptx
from tests.convert import sources
from tests.convert.presentation import decks

GOOD = sources.png()


PICTURES = {
    "large": (sources.saved(Image.new("1", (10_000, 10_000)), "PNG"), "pixels"),
    "damaged": (sources.picture_of("words")[:-900], "damaged"),
    "unknown": (b"no picture", "not a picture"),
}


def _in_archive(source: bytes, data: bytes) -> bytes:
    """Return a zip file in which the data replace each PNG file."""
    with zipfile.ZipFile(io.BytesIO(source)) as archive:
        pictures = [name for name in archive.namelist() if name.endswith(".png")]
    return sources.rezipped(source, dict.fromkeys(pictures, data))


def _odp() -> bytes:
    frame = '<draw:frame svg:width="9cm" svg:height="2cm">{}</draw:frame>'
    text = frame.format("<draw:text-box><text:p>Annual report</text:p></draw:text-box>")
    picture = frame.format('<draw:image xlink:href="Pictures/p.png"/>')
    return decks.odp(f"<draw:page>{text}{picture}</draw:page>", members={"Pictures/p.png": GOOD})


def _svg(data: bytes) -> bytes:
    uri = base64.b64encode(data).decode()
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text>Annual report</text>
<image width="9" height="9" href="data:image/png;base64,{uri}"/></svg>""".encode()


READERS: dict[str, tuple[Callable[[bytes, Job], object], Callable[[bytes], bytes]]] = {
    "docx": (read.docx, lambda data: _in_archive(sources.docx(), data)),
    "odt": (read.odt, lambda data: _in_archive(sources.odt(), data)),
    "html": (read.html, lambda data: sources.html().replace(base64.b64encode(GOOD), base64.b64encode(data))),
    "rtf": (read.rtf, lambda data: sources.rtf().replace(GOOD.hex().encode(), data.hex().encode())),
    "pptx": (read_pptx, lambda data: _in_archive(decks.full_pptx(), data)),
    "odp": (read_odp, lambda data: _in_archive(_odp(), data)),
    "svg": (read_svg, _svg),
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("kind", PICTURES)
def test_a_picture_that_cannot_be_read_is_left_out(name: str, kind: str, job: Job) -> None:
    data, reason = PICTURES[kind]
    reader, source = READERS[name]

    document = reader(source(data), job)

    assert [note for note in job.notes if re.match(f"A picture was left out: .*{reason}", note)], job.notes
    assert "report" in str(document) or "Numbers" in str(document)


@pytest.mark.parametrize("name", READERS)
def test_a_good_picture_is_kept(name: str, job: Job) -> None:
    reader, source = READERS[name]

    reader(source(GOOD), job)

    assert not [note for note in job.notes if "picture" in note]


@pytest.mark.spec("A5-02")
@pytest.mark.parametrize("kind", PICTURES)
def test_an_upload_that_is_such_a_picture_is_refused(kind: str, job: Job) -> None:
    data, reason = PICTURES[kind]

    with pytest.raises(ConversionError, match=reason):
        picture(data, job)
