"""The parser of header lines."""

from __future__ import annotations

import pytest

from svc_notebooks.core.http.messages import read_headers


def test_header_lines_are_parsed_in_order() -> None:
    headers = read_headers(b"Content-Type:text/csv\r\nx-a: \t1 \t\r\nX-A: 2\r\nEmpty:\r\n")

    assert headers.pairs == (("Content-Type", "text/csv"), ("x-a", "1"), ("X-A", "2"), ("Empty", ""))
    assert headers.all("x-a") == ["1", "2"]
    assert read_headers(b"").pairs == ()


@pytest.mark.parametrize("size", [10, 100_000])
def test_long_lines_are_parsed_like_short_lines(size: int) -> None:
    assert read_headers(b"X-Long: " + b"a" * size + b"\r\n").pairs == (("X-Long", "a" * size),)


@pytest.mark.parametrize(
    "block, line",
    [
        (b"A: 1\r\nno colon\r\n", "no colon"),
        (b"A: 1\r\n folded\r\n", " folded"),
        (b"A : 1\r\n", "A : 1"),
        (b"A: 1\nB: 2\r\n", r"A: 1\\nB: 2"),
        (b"A: 1\r\nB: 2", "B: 2"),
        (b"A: 1\r\nB: 2\n", r"B: 2\\n"),
        (b"A: 1\r\n\r\nB: 2\r\n", ""),
    ],
)
@pytest.mark.parametrize("padding", [b"", b"X-Long: " + b"a" * 5000 + b"\r\n"])
def test_an_invalid_line_is_refused(block: bytes, line: str, padding: bytes) -> None:
    with pytest.raises(ValueError, match=f"b'{line}' is not a header line"):
        read_headers(padding + block)
