"""Without npm the diagrams of the site stay text, and a script with another hash than the pinned one is refused."""

import subprocess
from pathlib import Path

import pytest

from tools import mermaid


@pytest.mark.parametrize("error", [RuntimeError("no npm"), subprocess.CalledProcessError(1, "npm")])
def test_without_npm_the_diagrams_stay_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, error: Exception
):
    def fail(package: str, folder: Path) -> None:
        raise error

    monkeypatch.setattr(mermaid, "CACHE", tmp_path)
    monkeypatch.setattr(mermaid, "npm_package", fail)

    assert mermaid.main([str(tmp_path / "static")]) == 0

    assert capsys.readouterr().err.startswith("The diagrams of the site stay text: ")
    assert list((tmp_path / "static").iterdir()) == []


def test_another_file_than_the_pinned_one_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(mermaid, "CACHE", tmp_path)
    (tmp_path / f"mermaid-{mermaid.VERSION}.tgz").write_bytes(b"another")

    with pytest.raises(ValueError, match="does not have the pinned hash"):
        mermaid.main([str(tmp_path / "static")])
