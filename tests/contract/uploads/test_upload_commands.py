import pytest

from tests.contract.uploads.test_resumable import CONTENT, Q
from tests.contract.wire import RELATED, Answer, Wire, multipart_body

FILES = "/upload/storage/v3/files"


def command(wire: Wire, target: str, body: bytes = b"", **headers: str) -> Answer:
    pairs = {f"X-Svc-Upload-{name.replace('_', '-')}": value for name, value in headers.items()}
    return wire.send("POST", target, body, pairs | {"Content-Type": "application/json"})


def start(wire: Wire) -> str:
    of_content = {"Header_Content_Type": "text/csv", "Header_Content_Length": str(len(CONTENT))}
    answer = command(wire, FILES, b'{"name": "a.csv"}', Protocol="resumable", Command="start", **of_content)
    assert (answer.status, answer.headers["x-svc-upload-status"]) == (200, "active")
    assert answer.headers["x-svc-upload-chunk-granularity"] == str(Q)
    return answer.headers["x-svc-upload-url"]


def progress(answer: Answer) -> tuple[int, str | None, str | None]:
    return answer.status, answer.headers.get("x-svc-upload-status"), answer.headers.get("x-svc-upload-size-received")


def test_an_upload_in_one_command_and_a_cancelled_upload(wire: Wire) -> None:
    answer, uri = command(wire, start(wire), CONTENT, Command="upload, finalize", Offset="0"), start(wire)

    assert progress(answer) == (200, "final", None)
    assert (answer.json["name"], answer.json["mimeType"]) == ("a.csv", "text/csv")
    assert wire.download(answer.json["id"]).body == CONTENT
    for name in ("cancel", "query"):
        assert progress(command(wire, uri, Command=name)) == (200, "cancelled", None)


def test_an_upload_in_chunks_that_a_query_resumes(wire: Wire) -> None:
    uri = start(wire)
    assert progress(command(wire, uri, Command="query")) == (200, "active", "0")
    assert progress(command(wire, uri, CONTENT[: Q + 9], Command="upload", Offset="0")) == (200, "active", str(Q))
    assert progress(command(wire, uri, Command="query")) == (200, "active", str(Q))
    answer = command(wire, uri, CONTENT[Q:], Command="Finalize,upload", Offset=str(Q))

    assert progress(answer) == progress(command(wire, uri, Command="query")) == (200, "final", None)
    assert wire.download(answer.json["id"]).body == CONTENT


def test_a_malformed_command_changes_nothing(wire: Wire) -> None:
    uri = start(wire)
    wrong_offsets = [{"Command": "upload", "Offset": "-1"}, {"Command": "upload, finalize"}]
    wrong_commands = [{"Command": "send"}, {"Command": "upload, cancel"}]

    for headers in (*wrong_commands, *wrong_offsets):
        name = "Offset" if headers in wrong_offsets else "Command"
        answer = command(wire, uri, b"x", **headers)
        assert (answer.status, answer.error["location"]) == (400, f"X-Svc-Upload-{name}")
        assert progress(command(wire, uri, Command="query")) == (200, "active", "0")
    assert command(wire, FILES, Protocol="smoke").status == 400


@pytest.mark.parametrize("protocol", ["raw", "multipart"])
def test_the_other_protocols_are_simple_and_multipart_uploads(wire: Wire, protocol: str) -> None:
    body, headers = multipart_body({"name": "m"}, b"a,b"), {"Content-Type": "multipart/form-data; boundary=b"}
    if protocol == "raw":
        body, headers = b"a,b", {"Content-Type": "application/x-www-form-urlencoded"}
        headers["X-Svc-Upload-Header-Content-Type"] = "text/csv"
    answer = wire.send("POST", FILES, body, headers | {"X-Svc-Upload-Protocol": protocol})

    assert wire.download(answer.json["id"]).body == b"a,b"
    assert answer.json["mimeType"] == ("text/csv" if protocol == "raw" else "application/octet-stream")


def test_a_form_has_its_values_in_lists_and_repeats_the_query(wire: Wire) -> None:
    """As clients in R write it. In another body, a list is not a text, and a parameter is not a field."""
    folder = wire.post_json("/storage/v3/files", {"mimeType": "application/vnd.svc-apps.folder"}).json["id"]
    metadata = {"name": ["a"], "parents": [folder], "fields": ["*"], "uploadType": ["multipart"]}
    body = multipart_body(metadata, b"a,b")
    path = f"{FILES}?fields=*&uploadType=multipart"

    answer = wire.send("POST", path, body, {"Content-Type": "multipart/form-data; boundary=b"})

    assert (answer.json["name"], answer.json["parents"]) == ("a", [folder])
    assert wire.send("POST", path, body, RELATED).status == 400


@pytest.mark.policy(extensions=False)
def test_the_headers_are_ignored(wire: Wire) -> None:
    assert command(wire, FILES, Protocol="resumable", Command="start").error["reason"] == "invalidParameter"
