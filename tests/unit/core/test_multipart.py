import pytest
from hypothesis import assume, given, strategies as st

from svc_notebooks.core.http import multipart
from svc_notebooks.core.http.messages import Headers

Parts = list[tuple[Headers, bytes]]


def decode(body: bytes, boundary: str, piece: int) -> Parts:
    decoder = multipart.MultipartDecoder(boundary)
    parts: Parts = []
    ended = 0
    events = [event for at in range(0, len(body), piece) for event in decoder.feed(body[at : at + piece])]
    for event in [*events, *decoder.close()]:
        match event:
            case multipart.PartBegins(headers):
                parts.append((headers, b""))
            case multipart.PartData(data):
                parts[-1] = (parts[-1][0], parts[-1][1] + data)
            case multipart.PartEnds():
                ended += 1
    assert ended == len(parts)
    return parts


def body_of(content: bytes, newline: bytes = b"\r\n", boundary: bytes = b"b") -> bytes:
    dash = b"--" + boundary
    return newline.join(
        [dash, b"Content-Type: application/json", b"", b"{}", dash, b"Content-Type: text/plain", b"", content]
    ) + (newline + dash + b"--" + newline)


RESEMBLING = [
    b"", b"x", b"\r\n", b"\n\n", b"\r", b"--", b"a\r\n\r\nb\r\n", b"--bb\r\n--b.\r\n--b-x", b"\r\n--b-",
    b"\r\n--bc\r\n--b x\r\n", b"--b--b--",
]  # fmt: skip


@pytest.mark.spec("A2-03")
@pytest.mark.parametrize("piece", [1, 2, 3, 7, 4096])
@pytest.mark.parametrize("content", RESEMBLING)
def test_content_that_resembles_a_boundary_survives(content, piece):
    parts = decode(body_of(content), "b", piece)

    assert [data for _, data in parts] == [b"{}", content]
    assert parts[1][0]["content-type"] == "text/plain"


@pytest.mark.spec("A2-01", "A2-03")
@given(content=st.binary(max_size=300), piece=st.integers(1, 50))
def test_what_the_encoder_writes_the_decoder_reads(content, piece):
    boundary = "a boundary that no content of this test holds"
    related = multipart.MultipartRelated.of({"name": "é.txt"}, "text/plain", boundary=boundary)
    parts = decode((related.head + content + related.tail), multipart.boundary_of(related.content_type), piece)

    assert parts[0][1].decode() == '{"name": "é.txt"}'
    assert parts[1][0]["content-type"] == "text/plain"
    assert parts[1][1] == content


X = body_of(b"x")
VARIANTS = {
    b"a preamble\r\nis ignored\r\n" + X: b"x",
    X + b"an epilogue --b too\r\n": b"x",
    X.removesuffix(b"\r\n"): b"x",
    X.replace(b"--b\r\n", b"--b \t \r\n"): b"x",
    b"\r\n" + X: b"x",
    # Stock clients of the family write their multipart bodies with LF alone.
    **{body_of(content, b"\n"): content for content in (b"", b"line\nline", b"a\r\nb", b"--bb\n")},
}


@pytest.mark.spec("A2-02", "A2-02a")
@pytest.mark.parametrize("body, content", VARIANTS.items())
@pytest.mark.parametrize("piece", [1, 3, 5, 4096])
def test_the_variants_of_the_rfc_are_accepted(body, content, piece):
    assert [data for _, data in decode(body, "b", piece)] == [b"{}", content]


@pytest.mark.spec("A2-02", "A2-02b")
@pytest.mark.parametrize("cut", range(1, len(body_of(b"content")) - 3))
def test_a_body_that_stops_early_is_refused(cut):
    with pytest.raises(multipart.MultipartError):
        decode(body_of(b"content")[:cut], "b", 4096)


@pytest.mark.spec("A2-02", "A2-02a")
@pytest.mark.parametrize("newline", [b"\r\n", b"\n"])
@pytest.mark.parametrize("fold", [b" ", b"\t", b"  \t"])
def test_a_header_of_a_part_may_continue_in_the_next_line(newline, fold):
    """RFC 2045 allows it, and Python's email package writes every long media type so."""
    folded = body_of(b"x", newline).replace(b" text/plain", newline + fold + b"text/plain;" + newline + fold + b"a=b")

    assert decode(folded, "b", 7)[1][0].get("Content-Type") == "text/plain; a=b"


@pytest.mark.parametrize("body", [b"x" * 100_000, b"--b\r\n" + b"X: " + b"y" * 100_000, b"--b\r\nno colon\r\n\r\n"])
def test_a_body_without_structure_is_refused_before_it_fills_the_memory(body):
    with pytest.raises(multipart.MultipartError):
        decode(body, "b", 1000)


@pytest.mark.spec("A2-05")
@pytest.mark.parametrize("filler", [b" ", b"\t", b"-", b"\r"])
def test_a_boundary_that_never_ends_its_line_is_content(filler):
    """Blanks are allowed behind a boundary, but waiting for their end must not fill the memory."""
    decoder = multipart.MultipartDecoder("b")
    list(decoder.feed(b"--b\r\n\r\nx\r\n--b"))

    given_out = sum(
        len(e.data) for _ in range(100) for e in decoder.feed(filler * 1000) if isinstance(e, multipart.PartData)
    )

    assert given_out > 99_000


@pytest.mark.spec("A2-05")
@given(st.binary(max_size=2000), st.integers(1, 100))
def test_the_decoder_holds_back_no_more_than_a_boundary(content, piece):
    assume(b"--b" not in content)
    decoder = multipart.MultipartDecoder("b")
    assert [type(event) for event in decoder.feed(b"--b\r\n\r\n")] == [multipart.PartBegins]
    given_out = 0
    for at in range(0, len(content), piece):
        given_out += sum(
            len(e.data) for e in decoder.feed(content[at : at + piece]) if isinstance(e, multipart.PartData)
        )
        assert at + len(content[at : at + piece]) - given_out <= len("\r\n--b")
