"""Removes from style sheets and style attributes everything that could fetch or run something."""

from __future__ import annotations

import re
from collections.abc import Iterator

_COMMENT = re.compile(r"/\*.*?(?:\*/|$)", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.DOTALL)
_TOKEN = re.compile(r""""[^"\n]*"|'[^'\n]*'|[{};]|[^"'{};]+|["']""")
_FUNCTION = re.compile(r"([\w-]*)\s*\(")
_URL = re.compile(r"""url\(\s*(["']?)#[^"'()\s]+\1\s*\)""", re.IGNORECASE)
_SAFE_FUNCTIONS = frozenset(
    [
        "rgb",
        "rgba",
        "hsl",
        "hsla",
        "hwb",
        "lab",
        "lch",
        "oklab",
        "oklch",
        "calc",
        "min",
        "max",
        "clamp",
        "var",
        "matrix",
        "translate",
        "translatex",
        "translatey",
        "scale",
        "scalex",
        "scaley",
        "rotate",
        "skew",
        "skewx",
        "skewy",
        "circle",
        "ellipse",
        "inset",
        "polygon",
        "path",
    ]
)
_UNSAFE_PROPERTIES = ("behavior", "-moz-binding")
_UNSAFE = re.compile(r"[<>\\]|javascript:|expression", re.IGNORECASE)


def is_safe_value(value: str) -> bool:
    """Whether a value only names things of the drawing itself.

    >>> is_safe_value("url(#a)"), is_safe_value("url(http://svc.example/a)"), is_safe_value("rgb(1, 2, 3)")
    (True, False, True)
    """
    remaining = _URL.sub("", _normalize(value))
    return not _UNSAFE.search(remaining) and all(
        function.lower() in _SAFE_FUNCTIONS for function in _FUNCTION.findall(remaining)
    )


def _normalize(text: str) -> str:
    return _ESCAPE.sub(_decode_escape, _COMMENT.sub(" ", text))


def _decode_escape(match: re.Match[str]) -> str:
    code = int(match[1], 16) if match[1] else 0
    return chr(code) if 0 < code < 0x110000 else match[2] or ""


def clean_declarations(text: str) -> str:
    """A style attribute without what is not safe.

    >>> clean_declarations("fill: red; filter: url(//svc.example/a)")
    'fill: red'
    """
    return "; ".join(_safe_declarations(_normalize(text)))


def _safe_declarations(text: str) -> Iterator[str]:
    for part in text.split(";"):
        name, colon, value = part.partition(":")
        name = name.strip()
        if (
            colon
            and value.strip()
            and name.lower() not in _UNSAFE_PROPERTIES
            and is_safe_value(value)
            and is_safe_value(name)
        ):
            yield f"{name}: {value.strip()}"


def clean_stylesheet(text: str) -> str:
    """A style sheet of plain rules: those that begin with @ are left out with all that is in them."""
    return "\n".join(
        f"{selector} {{ {kept} }}" for selector, body in rules(_normalize(text)) if (kept := clean_declarations(body))
    )


def rules(text: str) -> Iterator[tuple[str, str]]:
    """Selectors and what is between their braces."""
    prelude, body, depth = "", "", 0
    for token in _TOKEN.findall(text):
        if token == "{":
            depth += 1
        elif token == "}":
            depth = max(0, depth - 1)
            if depth == 0:
                if _is_plain_selector(prelude):
                    yield prelude.strip(), body
                prelude = body = ""
        elif depth == 0:
            prelude = "" if token == ";" else prelude + token
        elif depth == 1:
            body += token


def _is_plain_selector(prelude: str) -> bool:
    prelude = prelude.strip()
    return bool(prelude) and not prelude.startswith("@") and not _UNSAFE.search(prelude.replace(">", ""))
