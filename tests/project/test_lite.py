"""What the JupyterLite site is made of: pins that fit what is tested, a lock, pages that say what lacks."""

import hashlib
import re
import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import nbformat
import pytest

from tools.lite import pages
from tools.lite.bundle import BundleError, download_packages
from tools.lite.lock import BUILDER, WIDGETS
from tools.lite.wheels import KERNEL, OURS, entry

REQUIREMENTS = Path(__file__).parents[2] / "requirements"
PIN = re.compile(r"^([\w.-]+)==([^ ;\\]+)", re.MULTILINE)


def pins(name: str) -> dict[str, set[str]]:
    pinned: dict[str, set[str]] = {}
    for package, version in PIN.findall((REQUIREMENTS / name).read_text(encoding="utf-8")):
        pinned.setdefault(package, set()).add(version)
    return pinned


@pytest.fixture
def wheel(tmp_path):
    made = tmp_path / "Some_Thing-1.2-py3-none-any.whl"
    metadata = """Metadata-Version: 2.1
Name: Some.Thing
Version: 1.2
Requires-Dist: always>=1
Requires-Dist: old; python_version < "3.12"
Requires-Dist: native; sys_platform != "emscripten"
Requires-Dist: page; sys_platform == "emscripten"
Requires-Dist: extra; extra == "more"

The words behind it.
"""
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("some_thing/__init__.py", "")
        archive.writestr("alone.py", "")
        archive.writestr("Some_Thing-1.2.dist-info/METADATA", metadata)
        archive.writestr("Some_Thing-1.2.data/data/share/x", "")
    return made


def test_a_page_runs_the_versions_that_are_tested():
    tested, page = pins("dev.txt"), pins("lite-wheels.txt")

    assert {name: page[name] for name in page.keys() & tested if not page[name] <= tested[name]} == {}
    assert page.keys() == {*KERNEL, *OURS}


def test_the_two_halves_of_a_widget_fit():
    tested, builder = pins("dev.txt"), pins("lite.txt")

    assert all(builder[name] == tested[name] for name in WIDGETS)
    assert all(builder[name] == {version} for name, _, version in (pin.partition("==") for pin in BUILDER) if version)


def test_an_entry_of_the_lock_says_what_a_page_needs(wheel):
    lock_entry = entry(wheel)

    assert (lock_entry["name"], lock_entry["version"], lock_entry["file_name"]) == ("some-thing", "1.2", wheel.name)
    assert lock_entry["depends"] == ["always", "page"]
    assert lock_entry["imports"] == ["alone", "some_thing"]


def test_a_page_says_above_a_cell_that_it_cannot_run_there(tmp_path, monkeypatch):
    new = nbformat.v4
    cells = [
        new.new_markdown_cell("# Title"),
        new.new_code_cell("lacks"),
        new.new_code_cell("import io\n\nneeds(report)"),
        new.new_code_cell(""),
    ]
    (tmp_path / "from").mkdir()
    nbformat.write(new.new_notebook(cells=cells), tmp_path / "from" / "one.ipynb")
    rows = [
        {"notebook": "one.ipynb", "cell": 1, "ename": "Unsupported", "evalue": "no pandoc"},
        {"notebook": "one.ipynb", "cell": 2, "ename": "NameError", "evalue": "name 'report' is not defined"},
    ]
    monkeypatch.setattr(pages, "rehearsed", lambda paths: rows)

    pages.lay_out(tmp_path / "from", tmp_path / "to")

    made = nbformat.read(tmp_path / "to" / "one.ipynb", 4)
    sources = [cell.source for cell in made.cells]
    expected = "import io\n\n" + pages.MISSING.format(name="report") + "needs(report)"
    assert sources == ["# Title", pages.HEAD, pages.LACKS, "lacks", pages.FOLLOWS, expected, ""]
    assert ["raises-exception" in cell.metadata.get("tags", []) for cell in made.cells] == [0, 0, 0, 1, 0, 1, 0]
    assert made.metadata["kernelspec"]["name"] == "python"


CONTENT = {"one-1.0-cp314-cp314-pyemscripten_2026_0_wasm32.whl": b"first", "two-2.0-py3-none-any.whl": b"second"}
PACKAGES = {
    name.split("-")[0]: {"file_name": name, "sha256": hashlib.sha256(content).hexdigest()}
    for name, content in CONTENT.items()
}


class Handler(SimpleHTTPRequestHandler):
    def log_message(self, *_args):
        pass


@pytest.fixture
def distribution(tmp_path):
    """Serve a folder like that of a distribution, and return the folder and its address."""
    folder = tmp_path / "full"
    folder.mkdir()
    for name, content in CONTENT.items():
        (folder / name).write_bytes(content)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_all_packages_are_downloaded_once(distribution, tmp_path):
    folder, address = distribution

    paths = download_packages(PACKAGES, address, tmp_path / "cache")
    for path in folder.iterdir():
        path.unlink()

    assert {path.name: path.read_bytes() for path in paths} == CONTENT
    assert download_packages(PACKAGES, address, tmp_path / "cache") == paths


def test_another_digest_than_that_of_the_lock_is_an_error(distribution, tmp_path):
    folder, address = distribution
    (folder / "two-2.0-py3-none-any.whl").write_bytes(b"other")

    with pytest.raises(BundleError, match=rf"{address}/two-2\.0-py3-none-any\.whl: the digest is d9298a10.* is pinned"):
        download_packages(PACKAGES, address, tmp_path / "cache")
    assert not (tmp_path / "cache" / "two-2.0-py3-none-any.whl").exists()
