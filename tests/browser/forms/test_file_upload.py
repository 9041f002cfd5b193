"""Files of any size from a real browser to the kernel."""

import hashlib
import os

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

CELL = """
from svc_notebooks.forms.widgets.file_upload import BrowserFiles
box = BrowserFiles()
box
"""
READ = """
import hashlib
print(*(f"{one.name} {hashlib.md5(one.path.read_bytes()).hexdigest()}" for one in box.buffer.files))
"""


@pytest.mark.spec("W-01", "W-01a")
def test_two_files_arrive_whole_whatever_their_size(lab, tmp_path):
    large, small = tmp_path / "large.bin", tmp_path / "<b>small.txt"
    large.write_bytes(os.urandom(1 << 20) * 24)
    small.write_bytes(b"hello")
    lab.write("box.ipynb", CELL)
    page = lab.run("box.ipynb")

    page.get_by_label("Choose files").set_input_files([large, small])
    page.get_by_text("2 of 2 ready to upload").wait_for()

    lab.screenshot(page, "files-ready")
    output = lab.run_code(page, READ)
    for path in (large, small):
        assert f"{path.name} {hashlib.md5(path.read_bytes()).hexdigest()}" in output
