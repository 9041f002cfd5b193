"""Docstrings begin with a plain sentence, and functions are named by verbs."""

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "svc_notebooks"
IRREGULAR = (
    "begun built chosen done drawn found given gone held hidden kept known left made said seen sent shown taken "
    "told written"
)
PARTICIPLE = re.compile(rf"_*(?:\w+_)?(?:\w{{3,}}ed|{'|'.join(IRREGULAR.split())})")


@pytest.fixture(scope="module")
def nodes() -> list[ast.AST]:
    """The syntax of the package, which is read in the one process that runs these tests."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")]
    return [node for tree in trees for node in ast.walk(tree)]


@pytest.fixture(scope="module")
def functions(nodes: list[ast.AST]) -> list[ast.FunctionDef]:
    return [node for node in nodes if isinstance(node, ast.FunctionDef)]


@pytest.fixture(scope="module")
def first_sentences(nodes: list[ast.AST]) -> list[str]:
    return [
        re.split(r"(?<=[.?!])\s| >>> ", text.replace("\n", " "), maxsplit=1)[0]
        for node in nodes
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node))
    ]


def share(some: list[str], of: list) -> float:
    return len(some) / len(of)


def test_first_sentences_have_no_colon_or_semicolon(first_sentences):
    with_colon = [text for text in first_sentences if re.search(r"[:;](\s|$)", re.sub(r"`[^`]*`", "", text))]

    assert share(with_colon, first_sentences) <= 0.05, with_colon


def test_first_sentences_do_not_begin_with_a_question_word(first_sentences):
    questions = [text for text in first_sentences if re.match(r"(What|Whether|Who|Whoever|One)\b", text)]

    assert share(questions, first_sentences) <= 0.01, questions


def test_functions_are_not_named_by_a_participle(functions):
    names = [
        node.name
        for node in functions
        if not any("property" in ast.unparse(decorator) for decorator in node.decorator_list)
        and not re.match(r"_*(is|has|was|are)_", node.name)
    ]
    participles = [name for name in names if PARTICIPLE.fullmatch(name)]

    assert share(participles, functions) <= 0.02, participles
