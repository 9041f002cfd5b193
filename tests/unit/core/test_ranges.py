import pytest
from hypothesis import given, strategies as st

from svc_notebooks.core.http.ranges import ByteRange, ByteSpan, ContentRange, parse_stored

offsets = st.integers(0, 10**17)


@st.composite
def content_ranges(draw: st.DrawFn) -> ContentRange:
    first = draw(offsets)
    last = draw(st.none() | st.integers(first, first + 10**6))
    span = draw(st.sampled_from([None, ByteSpan(first, last)]))
    least = (first if last is None else last) + 1 if span else 0
    return ContentRange(span, draw(st.none() | st.integers(least, least + 10**6)))


@given(content_ranges())
def test_a_content_range_is_parsed_as_it_was_printed(value):
    assert ContentRange.parse(str(value)) == value


@given(st.builds(ByteRange, offsets) | offsets.map(lambda n: ByteRange(None, n)))
def test_a_byte_range_is_parsed_as_it_was_printed(value):
    assert ByteRange.parse(str(value)) == value


@pytest.mark.parametrize(
    "text, span, total",
    [
        ("bytes 0-262143/524288", ByteSpan(0, 262143), 524288),
        ("bytes 0-0/1", ByteSpan(0, 0), 1),
        ("bytes 262144-524287/*", ByteSpan(262144, 524287), None),
        ("bytes 0-*/*", ByteSpan(0, None), None),
        ("bytes */524288", None, 524288),
        ("bytes */*", None, None),
        ("*/524288", None, 524288),
        ("*/*", None, None),
        ("Bytes 0-0/1", ByteSpan(0, 0), 1),
        ("BYTES */*", None, None),
        ("bytes */0", None, 0),
    ],
)
@pytest.mark.spec("A3-09", "A3-09a", "A3-15")
def test_every_form_of_a_content_range_is_read(text, span, total):
    assert ContentRange.parse(text) == ContentRange(span, total)


@pytest.mark.parametrize("text", [
    "bytes 0-9/9", "bytes 9-0/10", "bytes 0-0/0", "bytes -1-5/10", "bytes=0-1/2", "bytes a-b/c", "bytes 0-1",
    "bytes 0-1/2, bytes 0-1/2", "bytes 0-99999999999999999999/*", "bytes */99999999999999999999",
    "bytes \u0660-\u0661/\u0662", "", "bytes", "lines 0-1/2",
])  # fmt: skip
def test_a_content_range_that_contradicts_itself_is_refused(text):
    with pytest.raises(ValueError, match="Content-Range"):
        ContentRange.parse(text)


@pytest.mark.parametrize("text", ["bytes=1-5", "bytes 1-5", "0-5", "bytes=0-", "nonsense", ""])
def test_a_stored_range_that_does_not_start_at_zero_is_refused(text):
    with pytest.raises(ValueError, match="Range header of a 308"):
        parse_stored(text)


@pytest.mark.parametrize(
    "text, size, span",
    [
        ("bytes=0-99", 500, ByteSpan(0, 99)),
        ("bytes=0-999", 500, ByteSpan(0, 499)),
        ("bytes=400-", 500, ByteSpan(400, 499)),
        ("bytes=-100", 500, ByteSpan(400, 499)),
        ("bytes=-1000", 500, ByteSpan(0, 499)),
        ("Bytes = 0-0", 500, ByteSpan(0, 0)),
        ("bytes=500-", 500, None),
        ("bytes=-0", 500, None),
        ("bytes=0-" + "9" * 19, 500, ByteSpan(0, 499)),
        ("bytes=-" + "9" * 5000, 500, ByteSpan(0, 499)),
        ("bytes=" + "9" * 19 + "-", 500, None),
        ("bytes=" + "9" * 30 + "-" + "9" * 5000, 500, None),
        ("bytes=" + "0" * 30 + "5-6", 500, ByteSpan(5, 6)),
        ("bytes=0-", 0, None),
        ("bytes=-5", 0, None),
    ],
)
@pytest.mark.spec("A6-02", "A6-02a", "A6-02b")
def test_a_byte_range_is_cut_to_the_content(text, size, span):
    assert ByteRange.parse(text).resolve(size) == span
