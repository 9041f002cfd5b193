"""Builds pandoc nodes with looks."""

from typing import Any

from svc_notebooks.convert.document.model import Node, text_inlines

NONE: list[Any] = ["", [], []]


def attributes(**look: str) -> list[Any]:
    return ["", [], [[name.replace("_", "-"), value] for name, value in look.items()]]


def div(block: Node, **look: str) -> Node:
    return {"t": "Div", "c": [attributes(**look), [block]]}


def span(text: str, **look: str) -> Node:
    return {"t": "Span", "c": [attributes(**look), text_inlines(text)]}


def para(*inlines: Node) -> Node:
    return {"t": "Para", "c": list(inlines)}


def table(cell: Node) -> Node:
    row = [NONE, [[NONE, {"t": "AlignDefault"}, 1, 1, [cell]]]]
    column = [{"t": "AlignDefault"}, {"t": "ColWidthDefault"}]
    return {"t": "Table", "c": [NONE, [None, []], [column], [NONE, []], [[NONE, 0, [], [row]]], [NONE, []]]}
