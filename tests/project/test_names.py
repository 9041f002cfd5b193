"""Names are the field's standard terms: the retired words of earlier versions do not come back."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("svc_notebooks", "tests", "tools")

# Locals and parameters that say nothing about what they hold.
VAGUE = frozenset(["found", "one", "given", "said", "what", "asked", "told", "heard", "wanted"])

# Words of private metaphors, and the standard term for each.
RETIRED = {
    "blow": "fault",
    "courier": "delivery",
    "carrier": "worker",
    "deed": "action",
    "deeds": "actions",
    "desk": "outbox",
    "dialogue": "driver",
    "door": "endpoint",
    "doors": "endpoints",
    "errand": "request, job",
    "handover": "download",
    "house": "context",
    "inflow": "writer",
    "lanes": "locks",
    "lapse": "expire",
    "lapses": "expiry",
    "outflow": "reader",
    "pulse": "detector",
    "relief": "monitor",
    "rooms": "packages",
    "sitting": "session",
    "tame": "sanitize",
    "wish": "request",
    "wished": "requested",
    "witness": "recorder",
}
# Names that notebooks and signatures of the public functions show: the inputs of an exercise, `lab.faults(**one)`.
PUBLIC = {("svc_notebooks/course", "given"), ("tests/course", "given"), ("svc_notebooks/notebook/sandbox", "one")}

PUBLIC_IN_DOCS = {"given", "found", "what"}
"""The inputs of an exercise, a column of `doctor()`, and a column of three frames of a sandbox."""

DOCS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def files() -> Iterator[Path]:
    for folder in FOLDERS:
        yield from sorted((ROOT / folder).rglob("*.py"))


def defined_names(path: Path) -> Iterator[tuple[int, str]]:
    """Every name that the file defines, with its line: modules, classes, functions, parameters, variables."""
    yield 1, path.stem
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                yield node.lineno, node.name
            case ast.arg():
                yield node.lineno, node.arg
            case ast.Name(ctx=ast.Store()):
                yield node.lineno, node.id
            case ast.Attribute(ctx=ast.Store()):
                yield node.lineno, node.attr
            case ast.alias(asname=str(alias)):
                yield getattr(node, "lineno", 1), alias
            case ast.ExceptHandler(name=str(name)):
                yield node.lineno, name


def words(name: str) -> list[str]:
    """The words of a name, in lower case.

    >>> words("_HandOver"), words("put_back2")
    (['hand', 'over'], ['put', 'back2'])
    """
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)]


def complaints(path: Path) -> Iterator[str]:
    shown = path.relative_to(ROOT).as_posix()
    for line, name in defined_names(path):
        if name.strip("_") in VAGUE and (shown.rpartition("/")[0], name) not in PUBLIC:
            yield f"{shown}:{line}: {name}: name it for what it holds"
        for word in words(name):
            if word in RETIRED:
                yield f"{shown}:{line}: {name}: say {RETIRED[word]}"


def test_no_name_has_a_retired_word():
    assert [complaint for path in files() for complaint in complaints(path)] == []


@pytest.mark.parametrize("source", ["def f(found): pass", "class Courier: pass", "for one in (): pass", "x.house = 1"])
def test_a_retired_word_is_found(tmp_path, monkeypatch, source):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    path = tmp_path / "module.py"
    path.write_text(source)

    assert list(complaints(path))


def test_no_document_names_a_thing_by_a_retired_word():
    """Names in a document stand in backticks; commands and values have other signs in them."""
    named = {
        (path.name, name)
        for path in DOCS
        for name in re.findall(r"`([\w./]+)`", path.read_text(encoding="utf-8"))
        if set(words(name)) & set(RETIRED) or name.split(".")[-1] in VAGUE - PUBLIC_IN_DOCS
    }

    assert named == set()


def test_a_public_class_name_occurs_once():
    count = Counter(
        node.name
        for path in sorted((ROOT / "svc_notebooks").rglob("*.py"))
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )

    assert [name for name, times in count.items() if times > 1] == []
