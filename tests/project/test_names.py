"""Names are the field's standard terms: the retired words of earlier versions do not come back."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("svc_notebooks", "tests", "tools")

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
        for word in words(name):
            if word in RETIRED:
                yield f"{shown}:{line}: {name}: say {RETIRED[word]}"


def test_no_name_has_a_retired_word():
    assert [complaint for path in files() for complaint in complaints(path)] == []


def test_a_public_class_name_occurs_once():
    count = Counter(
        node.name
        for path in sorted((ROOT / "svc_notebooks").rglob("*.py"))
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )

    assert [name for name, times in count.items() if times > 1] == []
