import csv
import io
import zipfile

import pytest

from tests.browser.keyboard import tab_to

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

CELL = '''
import svc_notebooks as svc
lab = svc.sandbox()
report = """
<h1>Birds of four ponds</h1>
<p>Counted by <b>Ada</b> and <i>Jānis</i>; 東京 and Αθήνα sent their greetings.</p>
<table><tr><th>Pond</th><th>Birds</th></tr>
<tr><td>Mill pond</td><td>12</td></tr><tr><td>Ķīšezers</td><td>40</td></tr></table>
<ul><li>coot</li><li>grey heron</li></ul>
"""
drawing = """<svg xmlns="http://www.w3.org/2000/svg" width="320" height="120">
<rect width="320" height="120" fill="#e3f2fd"/><circle cx="60" cy="60" r="40" fill="#1976d2"/></svg>"""
svc.upload(drawing.encode(), name="Pond map", mime_type="image/svg+xml", convert_to="drawing")
lab.clock.advance("1h")
svc.upload(b"pond,birds\\nMill pond,12\\n", name="Counts", mime_type="text/csv", convert_to="spreadsheet")
lab.clock.advance("1h")
svc.upload(report.encode(), name="Pond <b>report</b>", mime_type="text/html", convert_to="document")
form = svc.export_form()
form
'''


def open_form(lab, name, *cells):
    page = lab.show(name, CELL, *cells)
    page.get_by_role("button", name="Export", exact=True).wait_for()
    return page


@pytest.mark.spec("W-02", "W-02a", "W-02b", "W-02c", "A7-05", "A7-05b")
def test_by_mouse_beside_the_kernel(lab):
    page = open_form(lab, "export-mouse.ipynb")
    lab.screenshot(page, "export-1-begun")
    assert page.get_by_label("MS Word (.docx)").is_visible()
    assert page.get_by_label("MS Excel (.xlsx)").count() == 0

    page.get_by_label("Document", exact=True).select_option(index=1)
    page.get_by_label("CSV (first sheet only) (.csv)").check()
    page.get_by_label("Path").fill("counts-out.csv")
    page.get_by_role("button", name="Export", exact=True).click()
    page.get_by_text("saved as counts-out.csv").wait_for()

    lab.screenshot(page, "export-2-saved")
    text = (lab.folder / "counts-out.csv").read_text(encoding="utf-8-sig")
    assert list(csv.reader(io.StringIO(text))) == [["pond", "birds"], ["Mill pond", "12"]]
    output = lab.run_code(page, "print(form.result[['name', 'path', 'size']].values.tolist(), form.last_error)")
    assert output == f"[['Counts', 'counts-out.csv', {(lab.folder / 'counts-out.csv').stat().st_size}]] None"


@pytest.mark.spec("W-02", "W-02c")
def test_a_download_of_the_browser(lab, tmp_path):
    page = open_form(lab, "export-download.ipynb")
    page.get_by_label("MS Word (.docx)").check()
    page.get_by_label("Browser download").check()
    page.get_by_label("Path").wait_for(state="hidden")

    with page.expect_download() as coming:
        page.get_by_role("button", name="Export", exact=True).click()
    coming.value.save_as(tmp_path / "report.docx")

    page.get_by_text("received by the browser").wait_for()
    lab.screenshot(page, "export-3-downloaded")
    assert coming.value.suggested_filename == "Pond _b_report__b_.docx"
    with zipfile.ZipFile(tmp_path / "report.docx") as docx:
        assert "Ķīšezers" in docx.read("word/document.xml").decode()
    assert lab.run_code(page, "print(form.result['path'].isna().tolist())") == "[True]"


def test_previews(lab):
    page = open_form(lab, "export-preview.ipynb")

    def look(name, media_type):
        page.get_by_label(media_type, exact=True).check()
        page.get_by_role("button", name="Preview", exact=True).click()
        page.get_by_text(f"Preview of {name}").wait_for()
        page.get_by_text("Equivalent code").evaluate("element => element.scrollIntoView()")  # also if it is replaced

    look("Pond", "HTML (.html)")
    lab.screenshot(page, "export-4-html")
    frame = page.frame_locator("iframe[title='The exported page']")
    assert frame.locator("h1").inner_text() == "Birds of four ponds"
    assert frame.locator("td").count() == 4

    look("Pond", "Plain text (.txt)")
    lab.screenshot(page, "export-5-text")
    look("Pond", "PDF (.pdf)")
    page.locator("object[type='application/pdf']").scroll_into_view_if_needed()
    lab.screenshot(page, "export-6-pdf")

    page.get_by_label("Document", exact=True).select_option(index=1)
    look("Counts", "CSV (first sheet only) (.csv)")
    lab.screenshot(page, "export-7-csv")
    assert page.locator("td", has_text="Mill pond").count() == 1

    page.get_by_label("Document", exact=True).select_option(index=2)
    look("Pond map", "PNG (.png)")
    lab.screenshot(page, "export-8-png")

    assert page.locator("img[alt='The exported picture']").evaluate("e => e.naturalWidth") > 0


@pytest.mark.spec("W-02", "W-02a", "W-02b", "W-02c", "W-05", "W-05a", "W-05c")
def test_the_keyboard_alone(lab):
    page = open_form(lab, "export-keys.ipynb")

    tab_to(page, "combobox", "Document")
    page.keyboard.press("ArrowDown")  # the spreadsheet
    page.get_by_label("MS Excel (.xlsx)").wait_for()
    tab_to(page, "radio", "MS Excel (.xlsx)")
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    tab_to(page, "textbox", "Path")
    page.keyboard.type("by-keys.csv")
    tab_to(page, "button", "Export")
    page.keyboard.press("Enter")

    page.get_by_text("saved as by-keys.csv").wait_for()
    lab.screenshot(page, "export-9-keyboard")
    assert "Mill pond,12" in (lab.folder / "by-keys.csv").read_text(encoding="utf-8-sig")
