import pytest

import svc_notebooks as svc
from svc_notebooks.core.http.messages import Request, Response
from svc_notebooks.notebook.exchanges.request_code import whole_body


def test_method_url_headers_and_body_are_changed(lab):
    file = svc.create_file(name="notes")

    new = svc.exchange().resend(
        method="patch",
        url=f"/storage/v3/files/{file['id'].item()}?fields=name,description",
        headers={"X-Trace": "7", "accept": None},
        body={"description": "new"},
    )

    assert new.status == 200
    names = [name.lower() for name, _ in new.request_headers]
    assert "accept" not in names
    assert dict(new.request_headers)["X-Trace"] == "7"
    assert names.count("content-type") == names.count("content-length") == 1
    assert svc.file(file, fields="description")["description"].tolist() == ["new"]


def test_the_token_goes_to_the_own_service_and_is_never_shown_nor_is_a_password_of_an_address():
    received = []

    def handle(request):
        received.append(request.headers.get("Authorization"))
        return Response(200, body=b"{}")

    session = svc.Session("https://api.example", "a-very-secret-token", handler=handle)
    session.call("GET", "/storage/v3/files")
    own = svc.exchange(session=session).resend()
    foreign = svc.exchange(1, session=session).resend(url="https://evil.example/")
    assert received == ["Bearer a-very-secret-token"] * 2 + [None]
    assert "a-very-secret-token" not in f"{own}{own.python()}{own.curl()}{foreign}"

    session.send(Request("GET", "https://me:a-password@other.example/y"))
    assert svc.exchanges(session=session)["path"].tolist()[-2:] == ["/", "/y"]
    view = svc.exchange(session=session)
    assert "a-password" not in f"{view!r}{view}{view.curl()}{view.python()}{view.url}"


def test_a_body_that_was_not_recorded_or_has_a_removed_secret_must_be_given(lab):
    svc.upload(bytes(5000), name="zeros.bin", metadata={"description": "x"})
    with pytest.raises(ValueError, match=r"Exchange 1 has a body of .* give body="):
        svc.exchange().resend()
    assert len(svc.exchanges()) == 1

    svc.watch_changes(svc.receiver(direct=True), token="the-secret-of-both")
    with pytest.raises(ValueError, match="in the place of a secret: give body="):
        svc.exchange(svc.exchanges(path="watch")["n"].item()).resend()


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"method": "GET IT"}, "method is 'GET IT'"),
        ({"url": "ftp://x/"}, "url is 'ftp://x/'"),
        ({"url": "http://[x"}, r"url is 'http://\[x'"),
        ({"url": "http://me:secret@x/"}, "has a user name or a password"),
        ({"headers": {"A b": "x"}}, "headers has the name 'A b'"),
        ({"headers": {"Authorization": "Bearer x"}}, "Authorization, which the session sets itself"),
        ({"headers": {"X-A": "a\r\nX-B: b"}}, "printable ASCII"),
        ({"headers": {"X-A": 3}}, "must be a text, or None"),
        ({"body": 3}, "body must be bytes"),
        ({"url": 3}, "url must be a path"),
        ({"url": ""}, "url is ''; it must be a path"),
        ({"url": "http://x:99999/"}, "url is 'http://x:99999/'"),
        ({"url": "/\ud800"}, "url is '/.*'; it must be a path"),
        ({"headers": [("X-A", "3")]}, "headers must be a dict, not list"),
        ({"body": {"at": object()}}, "body cannot be written as JSON"),
        ({"bdy": "x"}, r"resend\(\) has no argument 'bdy'; did you mean 'body'"),
    ],
    ids=lambda value: None if isinstance(value, dict) else value.split()[0],
)
def test_an_invalid_change_sends_nothing(lab, arguments, message):
    svc.generate_ids(1)

    with pytest.raises((ValueError, TypeError), match=message):
        svc.exchange().resend(**arguments)
    assert len(svc.exchanges()) == 1


def test_two_exchanges_are_compared_with_headers_and_bodies(lab):
    svc.create_file(name="notes")
    old = svc.exchange()
    new = old.resend(url="/storage/v3/files?fields=name", body={"name": "other"})

    rows = svc.compare_exchanges(old, new)

    differences = dict(zip(rows["what"], zip(rows["first"], rows["second"], strict=True), strict=True))
    assert differences["query"][1] == "fields=name"
    assert differences["request body"] == ('{"name": "notes"}', '{"name": "other"}')
    assert differences["response body"][1] == '{\n  "name": "other"\n}\n'
    assert "method" not in differences
    assert (rows["first_n"].unique().tolist(), rows["second_n"].unique().tolist()) == ([1], [2])
    assert svc.compare_exchanges(old, old).empty


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
