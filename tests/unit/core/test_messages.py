from datetime import UTC, datetime, timedelta
from urllib.parse import unquote

import pytest
from hypothesis import given, strategies as st

from svc_notebooks.core.http import media_types
from svc_notebooks.core.http.media_types import IMPORTS
from svc_notebooks.core.http.messages import Headers, Query, read_headers, segment
from svc_notebooks.core.times import format_time, from_millis, parse_time, to_millis


def test_header_names_have_no_case_and_the_first_value_counts():
    headers = Headers([("Range", "a"), ("range", "b"), ("X", "c")])

    assert (headers["RANGE"], headers.all("Range"), len(headers)) == ("a", ["a", "b"], 2)
    assert headers.plus(("RANGE", "z")).pairs == (("X", "c"), ("RANGE", "z"))


@given(st.lists(st.tuples(st.text(min_size=1), st.text()), max_size=5))
def test_a_query_is_parsed_as_it_was_printed(pairs):
    assert Query.parse(str(Query(pairs))).pairs == tuple(pairs)


@given(st.text())
def test_a_segment_is_decoded_as_it_was_and_contains_no_slash(text):
    assert unquote(segment(text)) == text
    assert "/" not in segment(text)


@given(st.integers(-62_135_596_800_000, 253_402_300_799_999))
def test_a_time_is_parsed_as_it_was_printed_to_the_millisecond(millis):
    instant = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=millis)

    assert parse_time(format_time(instant)) == instant
    assert from_millis(to_millis(instant)) == instant


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-05:00"])
def test_a_time_outside_of_the_years_in_utc_is_refused(text):
    with pytest.raises(ValueError, match="year"):
        parse_time(text)


@pytest.mark.spec("U-03")
@pytest.mark.parametrize(
    "name, head, kind",
    [
        ("a.CSV", b"", "text/csv"),
        ("a", b"%PDF-1.7", "application/pdf"),
        ("a.png", b"%PDF-1.7", "image/png"),
        (None, b"\x89PNG\r\n\x1a\n..", "image/png"),
        ("a", b"just some text", media_types.OCTET_STREAM),
        (".hidden", b"", media_types.OCTET_STREAM),
        (None, b"", media_types.OCTET_STREAM),
    ],
)
def test_a_type_is_detected_by_name_then_by_first_bytes(name, head, kind):
    assert media_types.detect(name, head) == kind


@pytest.mark.parametrize("row", IMPORTS, ids=lambda row: row.title)
def test_each_extension_of_an_import_format_has_a_type_of_the_format(row):
    assert {media_types.by_name(f"a.{extension}") for extension in row.extensions} <= set(row.media_types)


def test_header_lines_are_parsed_in_order():
    headers = read_headers(b"Content-Type:text/csv\r\nx-a: \t1 \t\r\nX-A: 2\r\nEmpty:\r\n")

    assert headers.pairs == (("Content-Type", "text/csv"), ("x-a", "1"), ("X-A", "2"), ("Empty", ""))
    assert headers.all("x-a") == ["1", "2"]
    assert read_headers(b"").pairs == ()
    for size in (10, 100_000):
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
def test_an_invalid_line_is_refused(block, line, padding):
    with pytest.raises(ValueError, match=f"b'{line}' is not a header line"):
        read_headers(padding + block)
