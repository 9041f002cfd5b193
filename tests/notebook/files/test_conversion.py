from pathlib import Path

import pandas as pd
import pytest

import svc_notebooks as svc
from svc_notebooks.convert.engines import available

pytestmark = pytest.mark.usefixtures("in_folder")

NATIVE = "application/vnd.svc-apps."
ID = "1" * 33
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>'
CITIES = pd.DataFrame({"city": ["Riga", "Kyōto"], "people": [605_000, 1_464_000], "share": [0.25, 0.5]})


def sheet(**options):
    return svc.upload(CITIES, name="cities", convert_to="spreadsheet", **options)


def words(file):
    path = svc.export(file, "txt", "words.txt")["path"].item()
    return Path(path).read_text(encoding="utf-8-sig").strip()


class TestUpload:
    @pytest.mark.spec("A5-01")
    @pytest.mark.parametrize(
        "name,content,word",
        [
            ("letter.html", b"<p>Dear you</p>", "document"),
            ("notes.txt", b"first\nsecond", "document"),
            ("table.csv", b"a,b\n1,2\n", "spreadsheet"),
            ("table.tsv", b"a\tb\n1\t2\n", "spreadsheet"),
            ("plan.svg", SVG, "drawing"),
            ("project.json", b'{"files": []}', "script"),
        ],
    )
    def test_each_word_and_each_full_type(self, lab, name, content, word):
        path = Path(name)
        path.write_bytes(content)

        short, full = svc.upload(path, convert_to=word), svc.upload(path, convert_to=NATIVE + word)

        for made in (short, full):
            assert made[["name", "mime_type"]].values.tolist() == [[path.stem, NATIVE + word]]
            assert made["size"].isna().all()

    @pytest.mark.parametrize(
        "options,expected",
        [({}, "report"), ({"name": "report.docx"}, "report.docx"), ({"metadata": {"name": "r.html"}}, "r.html")],
    )
    def test_the_name_loses_its_extension_unless_it_was_given(self, lab, options, expected):
        Path("report.html").write_bytes(b"<p>x</p>")

        assert svc.upload("report.html", convert_to="document", **options)["name"].tolist() == [expected]

    @pytest.mark.parametrize("own,name", [("page.html", "Page.csv"), ("page.bin", "Page.html"), ("page", "Page")])
    def test_a_source_s_own_name_tells_what_it_is_unless_it_tells_nothing(self, lab, own, name):
        Path(own).write_bytes(b"<html><p>some <b>words</b></p></html>")

        made = svc.upload(own, name=name, convert_to="document")

        assert (made["name"].item(), words(made)) == (name, "some words")

    def test_auto_takes_what_the_type_fits(self, lab):
        Path("t.csv").write_bytes(b"a\n1\n")
        Path("t.html").write_bytes(b"<p>x</p>")

        made = svc.upload(["t.csv", "t.html"], convert_to="auto")

        assert made["mime_type"].tolist() == [NATIVE + "spreadsheet", NATIVE + "document"]

    @pytest.mark.parametrize("language", ["en", "de", "sw"])
    @pytest.mark.spec("A5-02", "A5-03", "A5-03c")
    def test_the_language_of_pictures_goes_along_and_text_of_another_type_is_refused(self, lab, language):
        svc.upload(b"plain", mime_type="text/plain", convert_to="document", ocr_language=language)

        assert f"ocrLanguage={language}" in svc.exchanges()["query"].item()
        with pytest.raises(svc.BadRequest, match='Declare it as plain text: mime_type="text/plain"'):
            svc.upload(b"# Title", name="r.md", mime_type="text/markdown", convert_to="document")

    def test_what_contradicts_itself_is_not_sent(self, lab):
        with pytest.raises(ValueError, match="ocr_language applies only to converted content"):
            svc.upload(b"x", ocr_language="de")
        with pytest.raises(TypeError, match="ocr_language must be a language tag"):
            svc.upload(b"x", convert_to="document", ocr_language=7)
        with pytest.raises(ValueError, match="give source too"):
            svc.update(ID, name="other", ocr_language="de")
        with pytest.raises(ValueError, match="leave out one of the two"):
            svc.upload(b"x", convert_to="document", metadata={"mime_type": "text/plain"})
        with pytest.raises(ValueError, match="convert_to"):
            svc.upload(b"x", convert_to="document", upload_type="media")
        for native in ("sheet", "Document", "", "text/csv", NATIVE + "folder", NATIVE + "form"):
            with pytest.raises(ValueError, match=r"convert_to must be one of .*document, spreadsheet, .*, script"):
                svc.upload(b"x", convert_to=native)
        assert svc.exchanges().empty

        with pytest.raises(ValueError, match="'auto', but video/mp4 cannot be converted"):
            svc.upload(b"x", mime_type="video/mp4", convert_to="auto")
        assert svc.files().empty


OTHER_FORMAT = r"an extension \(html, zip, .*\), a title like 'MS Word', or a media"


class TestExport:
    @pytest.mark.spec("A7-05", "A7-05a")
    @pytest.mark.parametrize(
        "format,extension",
        [
            ("xlsx", "xlsx"), (".XLSX", "xlsx"), ("MS Excel", "xlsx"), ("ms excel", "xlsx"),
            ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
            ("csv", "csv"), ("text/csv; charset=utf-8", "csv"), ("CSV (first sheet only)", "csv"),
            ("zip", "zip"), ("HTML (zipped)", "zip"), ("ods", "ods"),
        ],
    )  # fmt: skip
    def test_by_extension_title_or_media_type(self, lab, format, extension):
        saved = svc.export(sheet(), format)

        assert saved["path"].tolist() == [f"cities.{extension}"]
        assert saved["size"].item() == Path(f"cities.{extension}").stat().st_size

    def test_exports_of_one_name_get_a_path_each(self, lab):
        Path("out").mkdir()
        files = [svc.upload(f"{n}".encode(), name=name, convert_to="spreadsheet")["id"].item()
                 for n, name in enumerate(["a.csv", "A", "b", "a"])]  # fmt: skip

        first, again = (svc.export(files, "csv", "out") for _ in range(2))

        assert [Path(path).name for path in first["path"]] == ["a.csv", "A (1).csv", "b.csv", "a (2).csv"]
        assert [Path(path).read_text().strip() for path in first["path"]] == ["0", "1", "2", "3"]
        assert again["path"].tolist() == first["path"].tolist()
        assert again["outcome"].tolist() == ["unchanged"] * 4
        assert first["name"].tolist() == ["a.csv", "A", "b", "a"]
        with pytest.raises(ValueError, match="for 4 files it must be a folder"):
            svc.export(files, "tsv", "one.tsv")

    @pytest.mark.parametrize("extension", ["docx", "odt", "epub", "pdf"])
    def test_the_date_of_a_document_alone_makes_no_other_export(self, lab, extension):
        file = svc.upload(b"<h1>Birds</h1>", name="birds.html", convert_to="document")
        svc.export(file, extension, "birds")
        lab.clock.advance("1d")
        svc.update(file, starred=True)

        assert svc.export(file, extension, "birds")["outcome"].item() == "unchanged"

        svc.update(file, b"<h1>Bees</h1>", mime_type="text/html")
        with pytest.raises(svc.PathExists):
            svc.export(file, extension, "birds")

    @pytest.mark.spec("A7-02", "A7-02a", "A7-05", "A7-05a")
    def test_a_format_that_the_file_cannot_become_is_answered_with_those_it_can(self, lab):
        with pytest.raises(svc.BadRequest, match=r"cities is a spreadsheet, .* as xlsx, ods, pdf, csv, tsv, zip"):
            svc.export(sheet(), "docx")
        with pytest.raises(ValueError, match="byte_range is for the content"):
            svc.read(svc.files(), format="tsv", byte_range=(0, 1))

        assert list(Path().iterdir()) == []

    @pytest.mark.spec("A7-05", "A7-05a")
    @pytest.mark.parametrize(
        "format, to, error, message",
        [
            ("xslx", None, ValueError, "did you mean 'xlsx'"),
            ("", None, ValueError, OTHER_FORMAT),
            ("word document", None, ValueError, OTHER_FORMAT),
            ("csv", "x.tsv", ValueError, "to is 'x.tsv', and the format is csv; give a path"),
            ("MS Excel", "x.PDF", ValueError, "to is 'x.PDF', and the format is ms excel; give a path"),
            ("pdf", "x.jpeg", ValueError, "to is 'x.jpeg', and the format is pdf; give a path"),
            (7, None, TypeError, None),
            ("pdf", 7, TypeError, None),
        ],
    )
    def test_a_format_or_path_that_cannot_be_meant_is_not_sent(self, lab, format, to, error, message):
        file = sheet()

        with pytest.raises(error, match=message):
            svc.export(file, format, to)
        with pytest.raises(TypeError):
            svc.export(7, "pdf")
        assert len(svc.exchanges()) == 1
        assert svc.export(file, "csv", "x.data")["outcome"].item() == "saved"
        assert svc.read(file, format="csv") == Path("x.data").read_bytes()


class TestFormats:
    def test_about(self, lab):
        svc.upload(b"12345")

        about = svc.about()[["display_name", "email_address", "quota_usage"]]
        assert about.values.tolist() == [["Ada", "ada@svc.example", 5]]

    @pytest.mark.spec("A5-05")
    def test_every_format_that_is_imported_has_a_row(self, lab):
        about = svc.current_session().call("GET", "/storage/v3/about", query={"fields": "importFormats"})
        offered = {(media_type, native) for media_type, natives in about["importFormats"].items() for native in natives}

        formats = svc.import_formats()

        assert set(zip(formats["media_type"], formats["native_type"], strict=True)) <= offered
        assert not formats.duplicated(["native", "title"]).any()
        assert set(formats["native"]) == {"document", "spreadsheet", "presentation", "drawing", "script"}
        assert formats.set_index("title").loc["SVG", "max_size"] == 2_097_152

    @pytest.mark.parametrize("reads,says", [(True, "read"), (False, 'not read here: pip install "svc-notebooks[ocr]"')])
    def test_it_says_whether_text_in_pictures_is_read(self, lab, monkeypatch, reads, says):
        monkeypatch.setattr(available, "ocr_available", lambda: reads)

        notes = svc.import_formats().set_index("title")["note"]

        assert notes["PNG"] == f"text in pictures is {says}"
        assert notes["PDF"].endswith(says)
        assert notes[["HTML", "CSV"]].isna().all()

    @pytest.mark.spec("A7-04")
    def test_every_format_that_is_exported_has_a_row(self, lab):
        about = svc.current_session().call("GET", "/storage/v3/about", query={"fields": "exportFormats"})
        offered = [
            (native, media_type) for native, media_types in about["exportFormats"].items() for media_type in media_types
        ]

        formats = svc.export_formats()

        assert list(zip(formats["native_type"], formats["media_type"], strict=True)) == offered

    @pytest.mark.spec("A7-05", "A7-05b")
    def test_of_a_file_only_what_it_can_become(self, lab):
        drawing = svc.upload(SVG, name="d", convert_to="drawing")

        assert svc.export_formats(drawing)["extension"].tolist() == ["jpg", "png", "svg", "pdf"]
        assert set(svc.export_formats(pd.concat([drawing, sheet()]))["native"]) == {"drawing", "spreadsheet"}
        assert svc.export_formats(svc.upload(b"x")).empty
