import pytest

import svc_notebooks as svc
from svc_notebooks.notebook.exchanges.request_code import whole_body

SECRET = '"appProperties": {"refresh_token": "abcdefghijkl"}'
METADATA = b"--b\r\nContent-Type: application/json\r\n\r\n{" + SECRET.encode() + b"}\r\n--b\r\n"


def sent(body, media_type="application/json"):
    svc.generate_ids(1)
    return svc.exchange().resend(method="POST", headers={"Content-Type": media_type}, body=body).exchange


@pytest.mark.parametrize("letter", ["x", "é", "語", "🙂"])
def test_a_short_text_is_whole_and_one_that_was_cut_is_not(lab, letter):
    assert whole_body(sent("{" + SECRET + "}")) == '{"appProperties": {"refresh_token": "[redacted]"}}'
    exchange = sent("{" + SECRET + ', "description": "' + letter * 3000 + '"}')
    assert "[redacted]" in exchange.request_body
    assert whole_body(exchange) is None


@pytest.mark.parametrize("content, is_whole", [(b"text", True), (b"\xff\xfe\x00", False)], ids=["text", "binary"])
def test_a_multipart_body_is_whole_with_its_last_boundary(lab, content, is_whole):
    exchange = sent(METADATA + b"\r\n" + content + b"\r\n--b--\r\n", "multipart/related; boundary=b")

    assert "[redacted]" in exchange.request_body
    assert (whole_body(exchange) is not None) is is_whole
