import re
from pathlib import Path

import pytest

import svc_notebooks as svc
from svc_notebooks.cli import main
from tests.closing import closing

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
README = PAGES[0].read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z][\w.-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def fenced(language: str, text: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_make_command_is_a_target(page):
    named = re.findall(r"(?:`|^)make ([a-z][\w.-]*\w)", page.read_text(encoding="utf-8"), re.MULTILINE)

    assert named
    assert set(named) <= TARGETS


def test_every_command_of_the_program_exists(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    commands = re.findall(r"^ {4}([a-z]+)\b", capsys.readouterr().out, re.MULTILINE)
    named = re.findall(r"svc-notebooks ([a-z]+)", README)

    assert named
    assert set(named) <= set(commands)


def test_the_python_runs_from_the_first_block_to_the_last(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}

    with closing():
        for block in fenced("python"):
            exec(compile(block, "README.md", "exec"), names)

        assert (tmp_path / "cities.csv").read_bytes() == b"city,people\nRiga,605000\n"
        assert (tmp_path / "Birds.docx").read_bytes().startswith(b"PK")
        assert len(svc.files()) == 10


def test_the_python_of_the_start_page_runs(capsys):
    (block,) = fenced("python", (ROOT / "docs" / "index.md").read_text(encoding="utf-8"))

    with closing():
        exec(compile(block, "index.md", "exec"), {})

    assert capsys.readouterr().out.startswith("POST /upload/")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_that_is_named_is_there(page):
    named = re.findall(r"`((?:[\w.-]+/)+[\w.-]*|[A-Z]+(?:\.md)?)`", page.read_text(encoding="utf-8"))
    existing = [name for name in named if (ROOT / name).exists() or (ROOT / "svc_notebooks" / name).exists()]
    made = [name for name in named if name.startswith("build/")]

    assert [name for name in named if name not in existing + made and not re.fullmatch("[A-Z]+", name)] == []
