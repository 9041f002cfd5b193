"""Cleans style sheets and style attributes, so that CSS cannot load external content or run code.

Tinycss2 parses the CSS text. The allowed tokens are then serialized to new text, so that a browser finds the same
strings, values and rules in the text that were checked here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import tinycss2

_SAFE_FUNCTIONS = frozenset({
    "rgb", "rgba", "hsl", "hsla", "hwb", "lab", "lch", "oklab", "oklch", "calc", "min", "max", "clamp", "var",
    "matrix", "translate", "translatex", "translatey", "scale", "scalex", "scaley", "rotate", "skew", "skewx",
    "skewy", "circle", "ellipse", "inset", "polygon", "path",
})  # fmt: skip
_SAFE_TOKENS = frozenset({"whitespace", "ident", "number", "percentage", "dimension", "hash", "string"})
_SAFE_LITERALS = frozenset(",/+-*:")
_UNSAFE_PROPERTIES = frozenset({"behavior", "-moz-binding"})
_UNSAFE_SELECTOR_TOKENS = frozenset({"at-keyword", "error", "url", "{} block"})
_FRAGMENT = re.compile(r"#[^\"'()\s\\]+")
_UNSAFE_CHARACTERS = re.compile("[<\0-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")
"""The characters that XML does not allow, and `<`, which could end the style sheet in an HTML page."""
_LONG_NUMBER = re.compile(r"[0-9]{1000}")  # tinycss2 calls int(), which refuses more than 4,300 digits
_MAX_DEPTH = 32


def clean_value(text: str) -> str | None:
    """Return a CSS value in serialized form, or None if the value is not safe, such as an external address.

    >>> clean_value("url(#a)"), clean_value("url(http://svc.example/a)"), clean_value("rgb(1, 2, 3)")
    ('url(#a)', None, 'rgb(1, 2, 3)')
    """
    if _LONG_NUMBER.search(text):
        return None
    return _safe_value(tinycss2.parse_component_value_list(text, skip_comments=True))


def clean_declarations(text: str) -> str:
    """Return the safe declarations of a style attribute. Unsafe declarations are left out.

    >>> clean_declarations("fill: red; filter: url(//svc.example/a)")
    'fill: red'
    """
    if _LONG_NUMBER.search(text):
        return ""
    return _safe_declarations(tinycss2.parse_blocks_contents(text, skip_comments=True, skip_whitespace=True))


def clean_stylesheet(text: str) -> str:
    """Return a style sheet with its safe declarations only. At-rules and rules with unsafe selectors are left out.

    >>> clean_stylesheet("@import '//svc.example/a.css'; .a { fill: red }")
    '.a { fill: red }'
    """
    rules = []
    for selector, content in _rules(text):
        kept = _safe_declarations(tinycss2.parse_blocks_contents(content, skip_comments=True, skip_whitespace=True))
        if kept and selector and _is_safe_selector(selector):
            rules.append(f"{tinycss2.serialize(selector).strip()} {{ {kept} }}")
    return "\n".join(rule for rule in rules if not _UNSAFE_CHARACTERS.search(rule))


def references(text: str) -> list[str]:
    """Return each id that occurs as `url(#id)` in a CSS value or in declarations."""
    if "url" not in text.lower():
        return []
    return _references(tinycss2.parse_component_value_list(text, skip_comments=True))


def rule_references(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each simple selector (".a", "#a", "[a]" or "a") whose rule has `url(#id)` values, with the ids."""
    for selector, content in _rules(text):
        if ids := _references(content):
            for key in _simple_selectors(selector):
                yield key, ids


def _rules(text: str) -> Iterator[tuple[list[Any], list[Any]]]:
    """Yield the selector tokens and the content tokens of each rule in a style sheet, except at-rules."""
    if not _LONG_NUMBER.search(text):
        for rule in tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True):
            if rule.type == "qualified-rule":
                yield rule.prelude, rule.content


def _references(tokens: list[Any]) -> list[str]:
    return [target[1:] for token in _walk(tokens) if (target := _url_target(token))]


def _simple_selectors(tokens: list[Any]) -> Iterator[str]:
    previous = " "
    for token in tokens:
        if token.type == "ident" and previous != ":":
            yield f".{token.value}" if previous == "." else token.value
        elif token.type == "hash":
            yield f"#{token.value}"
        elif token.type == "[] block":
            yield from (f"[{name.value}]" for name in token.content[:1] if name.type == "ident")
        elif token == "*" or (token == ":" and previous in " ,>+~"):
            yield "*"  # a pseudo-class that stands alone may match any element
        previous = token.value if token.type == "literal" else " " if token.type == "whitespace" else token.type


def _is_safe_selector(tokens: Iterable[Any], depth: int = 0) -> bool:
    return depth < _MAX_DEPTH and all(
        token.type not in _UNSAFE_SELECTOR_TOKENS and _is_safe_selector(_inside(token), depth + 1) for token in tokens
    )


def _inside(token: Any) -> list[Any]:
    return getattr(token, "arguments", None) or getattr(token, "content", None) or []


def _walk(tokens: Iterable[Any]) -> Iterator[Any]:
    pending = list(tokens)
    while pending:
        token = pending.pop()
        yield token
        pending += _inside(token)


def _safe_declarations(nodes: Iterable[Any]) -> str:
    declarations = []
    for node in nodes:
        if node.type == "declaration" and node.lower_name not in _UNSAFE_PROPERTIES:
            value = _safe_value(node.value)
            name = tinycss2.serializer.serialize_identifier(node.name)
            if value and not _UNSAFE_CHARACTERS.search(name):
                declarations.append(f"{name}: {value}{' !important' if node.important else ''}")
    return "; ".join(declarations)


def _safe_value(nodes: list[Any]) -> str | None:
    if not _is_safe(nodes):
        return None
    text = tinycss2.serialize(nodes).strip()
    return None if _UNSAFE_CHARACTERS.search(text) else text


def _is_safe(nodes: list[Any], depth: int = 0) -> bool:
    for node in nodes:
        target = _url_target(node)
        if target is not None:
            safe = _FRAGMENT.fullmatch(target) is not None
        elif node.type == "() block" or (node.type == "function" and node.lower_name in _SAFE_FUNCTIONS):
            safe = depth < _MAX_DEPTH and _is_safe(_inside(node), depth + 1)
        else:
            safe = node.type in _SAFE_TOKENS or (node.type == "literal" and node.value in _SAFE_LITERALS)
        if not safe:
            return False
    return True


def _url_target(node: Any) -> str | None:
    """Return the address in a `url(...)` token, or None for another token. Returns "" for invalid arguments."""
    if node.type == "url":
        return str(node.value)
    if node.type != "function" or node.lower_name != "url":
        return None
    arguments = [argument for argument in node.arguments if argument.type != "whitespace"]
    return str(arguments[0].value) if len(arguments) == 1 and arguments[0].type == "string" else ""
