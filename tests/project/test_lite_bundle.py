import hashlib
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tools.lite.bundle import BundleError, download_packages

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
