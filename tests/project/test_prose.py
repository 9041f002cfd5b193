"""Docstrings begin with a plain sentence, and functions are named by verbs."""

import ast
import re
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "svc_notebooks"
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")}
FUNCTIONS = [node for tree in TREES.values() for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
FIRST_SENTENCES = [
    re.split(r"(?<=[.?!])\s| >>> ", text.replace("\n", " "), maxsplit=1)[0]
    for tree in TREES.values()
    for node in ast.walk(tree)
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node))
]
IRREGULAR = (
    "begun built chosen done drawn found given gone held hidden kept known left made said seen sent shown taken "
    "told written"
)
PARTICIPLE = re.compile(rf"_*(?:\w+_)?(?:\w{{3,}}ed|{'|'.join(IRREGULAR.split())})")


def share(some: list[str], of: list) -> float:
    return len(some) / len(of)


def test_first_sentences_have_no_colon_or_semicolon():
    with_colon = [text for text in FIRST_SENTENCES if re.search(r"[:;](\s|$)", re.sub(r"`[^`]*`", "", text))]

    assert share(with_colon, FIRST_SENTENCES) <= 0.05, with_colon


def test_first_sentences_do_not_begin_with_a_question_word():
    questions = [text for text in FIRST_SENTENCES if re.match(r"(What|Whether|Who|Whoever|One)\b", text)]

    assert share(questions, FIRST_SENTENCES) <= 0.01, questions


def test_functions_are_not_named_by_a_participle():
    names = [
        node.name
        for node in FUNCTIONS
        if not any("property" in ast.unparse(decorator) for decorator in node.decorator_list)
        and not re.match(r"_*(is|has|was|are)_", node.name)
    ]
    participles = [name for name in names if PARTICIPLE.fullmatch(name)]

    assert share(participles, FUNCTIONS) <= 0.02, participles
