import pickle

import pandas as pd
import pytest

import svc_notebooks as svc

HOSTILE = '"><img src=x onerror=alert(1)>\r\n;#'


@pytest.mark.spec("D-04", "D-04a", "D-04b", "D-04c", "D-04d")
def test_an_exchange_is_a_row_a_text_a_command_and_a_drawing(lab):
    up = svc.start_upload(bytes(300_000), name="zeros.bin", chunk_size=262_144)
    up.send_chunk()

    row = svc.exchanges().iloc[-1]
    assert (row["method"], row["status"], row["sent"]) == ("PUT", 308, 262_144)
    assert (row["content_range"], row["range"]) == ("bytes 0-262143/300000", "bytes=0-262143")
    text = str(svc.exchange())
    assert "Content-Range: bytes 0-262143/300000\n" in text
    assert "<262144 bytes>" in text
    assert "HTTP/1.1 308 Resume Incomplete\n" in text
    assert svc.exchange().curl().partition("\n")[2].startswith('tail -c +1 "$FILE" | head -c 262144 | curl -X PUT')
    assert svc.exchange().diagram().splitlines() == [
        "client                                                               service",
        "  │─ POST /upload/storage/v3/files?uploadType=resumable (21 bytes) ────>│",
        "  │<- 200 OK ----------------------------------------------------------- │",
        "  │─ PUT session URI bytes 0-262143/300000 (256 KiB) ──────────────────>│",
        "  │<- 308 Resume Incomplete bytes=0-262143 ----------------------------- │",
    ]


FILTERS = [
    *[({}, [1, 2, 3]), ({"method": "get"}, [2, 3]), ({"method": ["POST", "PUT"]}, [1]), ({"status": "2xx"}, [1, 2])],
    *[({"status": 404}, [3]), ({"status": pd.Series([404, 308])}, [3]), ({"status": "-"}, [])],
    *[({"status": ["4xx", "200"], "method": "GET"}, [2, 3]), ({"path": "NOWHERE-0"}, [3]), ({"path": "count="}, [2])],
]
WRONG_FILTERS = [
    *[({"status": "4x"}, "status has '4x'"), ({"status": 42}, "status has '42'"), ({"method": [3]}, "method has 3")],
    *[({"method": "GET IT"}, "method has 'GET IT'"), ({"method": 3}, "method has 3"), ({"path": 3}, "path must be")],
]


@pytest.mark.spec("D-04", "D-04a")
def test_exchanges_are_filtered_and_found_from_both_ends(lab):
    svc.create_file(name="notes")
    svc.generate_ids(1)
    with pytest.raises(svc.NotFound):
        svc.file("nowhere-0" * 3)

    for conditions, numbers in FILTERS:
        assert svc.exchanges(**conditions)["n"].tolist() == numbers
    for conditions, message in WRONG_FILTERS:
        with pytest.raises((ValueError, TypeError), match=message):
            svc.exchanges(**conditions)
    assert svc.exchange(1).n == svc.exchange(-3).n == 1
    assert svc.exchange().n == 3
    assert svc.exchange(svc.exchanges()["n"][1]).n == 2  # a number of the frame is none of Python's own


@pytest.mark.spec("D-04", "D-04a", "D-04b", "D-04d")
def test_views_without_a_response_have_the_reason(lab):
    with lab.faults(reset="before"):
        svc.files()

    assert pd.isna(svc.exchanges()["status"][0])
    assert "cut" in svc.exchanges()["error"][0]
    assert "(no response: " in str(svc.exchange(1))
    diagram = svc.exchange(1).diagram()
    assert diagram.splitlines()[2].startswith("  │  x- a fault cut the connection")
    assert "S--xC: a fault cut the connection" in diagram.mermaid
    copied = pickle.loads(pickle.dumps(diagram))
    assert (copied, copied.mermaid, copied._repr_html_()) == (diagram, diagram.mermaid, diagram._repr_html_())
    assert "cut" in svc.exchange(1)._repr_html_()


def test_names_and_headers_are_escaped_and_a_long_body_is_cut_after_20_lines(lab):
    svc.create_file(name=HOSTILE)
    html = svc.exchange()._repr_html_()
    assert "<img" not in html
    assert "&lt;img src=x onerror=alert(1)&gt;" in html

    svc.upload(b"line\n" * 45, name="long.txt")
    shown, _, rest = svc.exchange()._repr_html_().partition("<details><summary>")
    assert shown.count("line\n") + rest.count("line\n") == 45
    assert " more lines</summary>" in rest
    assert "font-family: monospace" in shown


def test_html_for_notebook_programs_is_a_plain_str(lab):
    svc.upload(b"x", name="a.txt")
    for shown in (svc.exchange(), svc.delivery_timeline(), svc.tree()):
        assert type(shown._repr_html_()) is str
    assert {type(text) for text in svc.file_browser()._repr_mimebundle_().values() if isinstance(text, str)} == {str}


def test_a_missing_attribute_of_an_exchange_names_what_there_is(lab):
    svc.files()
    for name, message in {
        "json": r"did you mean json.loads\(exchange.response_body\)",
        "status_code": "did you mean status",
        "headers": "did you mean response_headers or request_headers",
        "response_header": "did you mean response_headers",
        "zzz": "it has curl, .*, url",
    }.items():
        with pytest.raises(AttributeError, match=f"an exchange has no attribute '{name}'; {message}"):
            getattr(svc.exchange(), name)
