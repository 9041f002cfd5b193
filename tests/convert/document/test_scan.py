import contextlib
import io
from dataclasses import replace
from pathlib import Path

import pypdf
import pypdfium2
import pytest
from PIL import Image
from pypdf.actions import JavaScript

from svc_notebooks.convert.document import pdf, read, scanned_pages
from svc_notebooks.convert.document.clean import plain_text
from svc_notebooks.convert.document.model import Document
from svc_notebooks.convert.engines import available, tesseract
from svc_notebooks.convert.job import ConversionError, Job, TooLarge
from tests.convert import sources


def made_pdf(*pages: str, job: Job) -> bytes:
    """Return a PDF with a text layer from our own writer."""
    target = pypdf.PdfWriter()
    for text in pages:
        target.append(io.BytesIO(pdf.write(read.text(text.encode(), job), job)))
    return written(target)


def written(writer: pypdf.PdfWriter) -> bytes:
    target = io.BytesIO()
    writer.write(target)
    return target.getvalue()


def page_of(text: str, job: Job) -> bytes:
    """Return a page of text as PNG in typst's font, which has more letters than Pillow's."""
    with contextlib.closing(pypdfium2.PdfDocument(pdf.write(read.text(text.encode(), job), job))) as document:
        image = document[0].render(scale=3).to_pil()
    return sources.saved(image.crop((0, 0, image.width, image.height // 4)), "PNG")


def kinds(document: Document) -> list[str]:
    return ["picture" if block["c"][0]["t"] == "Image" else "text" for block in document.blocks]


@pytest.mark.spec("A5-01", "A5-03", "A5-03a")
@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "BMP"])
def test_a_picture_and_the_text_in_it(kind: str, job: Job) -> None:
    document = scanned_pages.picture(sources.picture_of("Seven green bottles\nhanging on the wall", kind), job)

    assert kinds(document)[0] == "picture"
    assert "Seven green bottles" in plain_text(document.blocks[1:])
    assert "hanging on the wall" in plain_text(document.blocks[1:])
    [data] = document.resources.values()
    with Image.open(io.BytesIO(data)) as image:
        assert image.size == (1000, 180)
    [note] = job.notes
    assert note.startswith("The text in pictures was read with eng (the language of the account)")


@pytest.mark.spec("A5-03", "A5-03c")
def test_the_language_is_used(job: Job) -> None:
    source = page_of("Grüße aus Köln, schöne Maße", job)

    english = plain_text(scanned_pages.picture(source, job).blocks[1:])
    german = plain_text(scanned_pages.picture(source, replace(job, ocr_language="de-AT")).blocks[1:])

    assert "Grüße aus Köln" in german
    assert "Grüße" not in english


@pytest.mark.spec("A5-03", "A5-03c")
def test_the_default_language_is_that_of_the_other_text(job: Job) -> None:
    scan = pypdf.PdfWriter()
    text = "Der Garten ist nicht weit, und das Haus steht auf dem Berg.\n\nDie Straße ist lang."
    scan.append(io.BytesIO(made_pdf(text, job=job)))
    picture = Image.open(io.BytesIO(page_of("Grüße aus Köln, schöne Maße", job))).convert("RGB")
    scan.append(io.BytesIO(sources.saved(picture, "PDF", resolution=216)))

    assert "Grüße aus Köln" in plain_text(scanned_pages.pdf(written(scan), job).blocks)
    assert "read with deu (the document's other text is in this language)" in job.notes[0]


@pytest.mark.spec("A5-03", "A5-03a", "A5-03c")
def test_a_language_without_a_model_and_a_lack_of_ocr_are_noted(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    source = sources.picture_of("Plain words")

    document = scanned_pages.picture(source, replace(job, ocr_language="fi"))

    assert "Plain words" in plain_text(document.blocks[1:])
    assert job.notes == ["ocrLanguage fi: no model for this language is installed; the text was read with eng."]
    monkeypatch.setattr(tesseract, "ocr_available", lambda: False)
    assert kinds(scanned_pages.picture(source, job)) == ["picture"]
    assert "not read without OCR" in job.notes[1]


def test_a_photo_without_text_has_none(job: Job) -> None:
    noise = sources.saved(Image.effect_noise((400, 300), 90), "PNG")

    assert kinds(scanned_pages.picture(noise, job)) == ["picture"]


@pytest.mark.parametrize(
    "tag,model",
    [("de", "deu"), ("pt-BR", "por"), ("zh-Hant-TW", "chi_tra"), ("zh-TW", "chi_tra"), ("zh", "chi_sim"),
     ("sr-Latn", "srp_latn"), ("nb", "nor"), ("ja", "jpn"), ("fil", "fil"), ("de+de-AT", "deu")],
)  # fmt: skip
def test_models_of_languages(tag: str, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tesseract, "_installed_models", lambda: {model: Path("there"), "eng": Path("here")})

    assert tesseract.choose_model(tag) == (model, Path("there"), None)


def test_models_of_several_languages(monkeypatch: pytest.MonkeyPatch) -> None:
    folders = {"eng": Path("here"), "deu": Path("here"), "fra": Path("there")}
    monkeypatch.setattr(tesseract, "_installed_models", lambda: folders)

    model, folder, note = tesseract.choose_model("de+fr+fi+en") or (None, None, None)

    assert (model, folder) == ("deu+eng", Path("here"))
    assert note == "ocrLanguage fi: no model for this language is installed; the text was read with deu+eng."
    for installed, default in (({"deu": Path("d")}, "deu"), ({}, None)):
        monkeypatch.setattr(tesseract, "_installed_models", lambda installed=installed: installed)
        chosen = tesseract.choose_model(None)
        assert (chosen and chosen.model) == default


@pytest.mark.spec("A5-03", "A5-03a")
@pytest.mark.parametrize("angle", [90, 180, 270])
def test_the_text_of_a_turned_picture_is_read(angle: int, job: Job) -> None:
    lines = "Quarterly report of the northern branch\nSeven green bottles hanging on the wall\n" * 4
    turned = Image.open(io.BytesIO(sources.picture_of(lines))).rotate(angle, expand=True)

    document = scanned_pages.picture(sources.saved(turned, "PNG"), job)

    assert "Seven green bottles hanging on the wall" in " ".join(plain_text(document.blocks[1:]).split())


def test_trained_data_is_found_in_tessdata_prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "xyz.traineddata").touch()
    monkeypatch.setenv("TESSDATA_PREFIX", str(tmp_path))

    assert available.tessdata.__wrapped__()[0] == tmp_path


@pytest.mark.spec("A5-01", "A5-03", "A5-03a")
def test_a_pdf_page_by_page(job: Job) -> None:
    document = scanned_pages.pdf(made_pdf("The first page says this.", "The second one says that.", job=job), job)

    assert kinds(document) == ["picture", "text", "picture", "text"]
    texts = [plain_text(block) for block in document.blocks[1::2]]
    assert texts == ["The first page says this. 1", "The second one says that. 1"]


@pytest.mark.spec("A5-03", "A5-03a")
def test_a_scanned_pdf_is_read(job: Job) -> None:
    page = Image.open(io.BytesIO(sources.picture_of("Words of a scanned page")))

    document = scanned_pages.pdf(sources.saved(page, "PDF", resolution=100), job)

    assert "Words of a scanned page" in plain_text(document.blocks[1:])


def test_hyphenated_words_are_joined() -> None:
    text = scanned_pages._without_hyphenation("a docu\x02\nment and a conver-\nsion, well-\nKnown, ﬁne\ud800")

    assert text == "a document and a conversion, well-\nKnown, ﬁne"


class TestHostile:
    def test_files_with_a_password_and_too_many_pages_are_refused(self, job: Job) -> None:
        open_to_all, secret = (pypdf.PdfWriter(io.BytesIO(made_pdf("words", job=job)), full=True) for _ in "ab")
        open_to_all.encrypt("", "owner", algorithm="RC4-128")
        secret.encrypt("secret", "owner", algorithm="RC4-128")

        assert "words" in plain_text(scanned_pages.pdf(written(open_to_all), job).blocks)
        with pytest.raises(ConversionError, match="without a password"):
            scanned_pages.pdf(written(secret), job)
        with pytest.raises(TooLarge, match="the PDF has 3 pages; the limit is 2"):
            scanned_pages.pdf(made_pdf("a", "b", "c", job=job), replace(job, limits=replace(job.limits, pages=2)))

    @pytest.mark.parametrize("size", [(1_000_000, 1_000_000), (1_000_000, 1), (0.01, 0.01)])
    def test_pages_of_any_size(self, size: tuple[float, float], job: Job) -> None:
        writer = pypdf.PdfWriter()
        writer.add_blank_page(*size)

        [data] = scanned_pages.pdf(written(writer), job).resources.values()

        with Image.open(io.BytesIO(data)) as image:
            assert max(image.size) <= 2000

    def test_circular_page_trees_are_refused(self, job: Job) -> None:
        source = (
            b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
            b"2 0 obj<</Type/Pages/Kids[2 0 R]/Count 100000000>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF"
        )
        with pytest.raises(ConversionError):
            scanned_pages.pdf(source, job)

    def test_pdf_actions_are_removed(self, job: Job) -> None:
        writer = pypdf.PdfWriter(clone_from=io.BytesIO(made_pdf("words", job=job)))
        writer.add_open_action(JavaScript("app.alert('x')"))

        assert b"alert" not in scanned_pages.pdf(written(writer), job).pack()
