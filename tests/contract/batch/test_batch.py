import json
from email import message_from_bytes
from typing import Any

import pytest

from svc_notebooks.core.http.messages import Disconnected, Headers, Request, close_body
from svc_notebooks.server.dispatch import batch
from svc_notebooks.server.service import Service
from tests.contract.calendar_client import SEMINAR
from tests.contract.conftest import Answer, InProcess, Wire

STORAGE, CALENDAR = "/batch/storage/v3", "/batch/calendar/v3"
MIXED = {"Content-Type": "multipart/mixed; boundary=b"}
JSON = "Content-Type: application/json\r\n"


def part(request: str, body: object = None, *, headers: str = "", content_id: str = "") -> str:
    own = f"Content-ID: {content_id}\r\n" if content_id else ""
    content = "" if body is None else json.dumps(body)
    return f"Content-Type: application/http\r\n{own}\r\n{request} HTTP/1.1\r\n{headers}\r\n{content}"


def body_of(*parts: str) -> bytes:
    return ("".join(f"--b\r\n{part}\r\n" for part in parts) + "--b--\r\n").encode()


def send(wire: Wire, path: str, *parts: str, newline: bytes = b"\r\n", **options: Any) -> Answer:
    return wire.send("POST", path, body_of(*parts).replace(b"\r\n", newline), MIXED, **options)


def responses(answer: Answer) -> list[tuple[str | None, int, Any]]:
    """Content-ID, status and JSON of each part."""
    assert answer.status == 200, answer.body
    head = f"Content-Type: {answer.headers['Content-Type']}\r\n\r\n".encode()
    parts = []
    for message in message_from_bytes(head + answer.body).get_payload():
        assert message.get_content_type() == "application/http"
        content = message.get_payload(decode=True)
        status_line, _, rest = content.partition(b"\r\n")
        body = rest.partition(b"\r\n\r\n")[2]
        parts.append((message["Content-ID"], int(status_line.split()[1]), json.loads(body) if body else None))
    return parts


@pytest.mark.parametrize("newline", [b"\r\n", b"\n"], ids=["CRLF", "LF"])
def test_the_responses_are_in_the_order_of_the_requests(wire: Wire, newline: bytes) -> None:
    file = wire.create(b"a,b\n", "text/csv")["id"]

    answer = send(
        wire,
        STORAGE,
        part("POST /storage/v3/files", {"name": "from a batch"}, headers=JSON, content_id="<x + 1>"),
        part(f"GET /storage/v3/files/{file}?fields=id", content_id="two"),
        part("GET /storage/v3/files/nobody"),
        part(f"DELETE /storage/v3/files/{file}", content_id="<x + 4>"),
        newline=newline,
    )

    made, read, missing, deleted = responses(answer)
    assert (made[0], made[1], made[2]["name"]) == ("<response-x + 1>", 200, "from a batch")
    assert read == ("response-two", 200, {"id": file})
    assert (missing[0], missing[1], missing[2]["error"]["errors"][0]["reason"]) == (None, 404, "notFound")
    assert deleted == ("<response-x + 4>", 204, None)
    assert wire.names() == ["from a batch"]


def test_a_request_has_the_token_of_the_batch_or_its_own(wire: Wire) -> None:
    about = "GET /storage/v3/about?fields=user/emailAddress"
    bob = wire.service.sign_in("bob@svc.example")
    wrong = "Authorization: Bearer nobody\r\n"

    of_bob = part(about, headers=f"Authorization: Bearer {bob}\r\n")
    answer = send(wire, STORAGE, part(about), of_bob, part(about, headers=wrong))
    without = send(wire, STORAGE, part(about), of_bob, token=None)

    ada, other, refused = responses(answer)
    assert [ada[2]["user"]["emailAddress"], other[2]["user"]["emailAddress"]] == ["ada@svc.example", "bob@svc.example"]
    assert refused[1] == 401
    assert [status for _, status, _ in responses(without)] == [401, 200]
    create = part("POST /calendar/v3/calendars/primary/events", SEMINAR, headers="Host: elsewhere.example\r\n")
    ((_, _, event),) = responses(send(wire, CALENDAR, create))
    assert event["htmlLink"].startswith(wire.base_url), "links have the host of the batch"


@pytest.mark.parametrize("request_line", [
    "POST /batch/storage/v3", "GET /calendar/v3/colors", "POST /upload/storage/v3/files?uploadType=media",
    "GET /storage/v3/files/{file}?alt=media", "GET /storage/v3/files/{file}/export?mimeType=text/csv",
    "POST /_control/reset", "GET /openapi.json",
])  # fmt: skip
def test_a_request_that_does_not_belong_is_refused_alone(wire: Wire, request_line: str) -> None:
    file = wire.create()["id"]

    answer = send(wire, STORAGE, part(request_line.format(file=file)), part("GET /storage/v3/about?fields=kind"))

    refused, about = responses(answer)
    assert (refused[1], refused[2]["error"]["errors"][0]["reason"]) == (400, "badRequest")
    assert about[1] == 200


MALFORMED = {
    "no request": "--b--\r\n",
    "no closing boundary": f"--b\r\n{part('GET /storage/v3/about')}\r\n",
    "another media type": "--b\r\nContent-Type: text/plain\r\n\r\nGET /x HTTP/1.1\r\n\r\n\r\n--b--\r\n",
    "no request line": f"--b\r\n{part('hello')}\r\n--b--\r\n",
    "a header without a colon": f"--b\r\n{part('GET /x', headers='nonsense' + chr(13) + chr(10))}\r\n--b--\r\n",
    "another encoding": f"--b\r\nContent-Transfer-Encoding: base64\r\n{part('GET /x')}\r\n--b--\r\n",
    "a control character in an id": f"--b\r\n{part('GET /x', content_id='a' + chr(1))}\r\n--b--\r\n",
}


def test_nothing_of_a_malformed_batch_is_performed(wire: Wire) -> None:
    create = f"--b\r\n{part('POST /storage/v3/files', {'name': 'first'})}\r\n"

    for case, rest in MALFORMED.items():
        answer = wire.send("POST", STORAGE, ((create if case != "no request" else "") + rest).encode(), MIXED)
        refusal = answer.status, answer.error["reason"], answer.error["location"]
        assert refusal == (400, "badRequest", "body"), case
    for kind in ("multipart/mixed", "multipart/related; boundary=b", "application/json"):
        body = body_of(part("GET /storage/v3/about"))
        assert wire.send("POST", STORAGE, body, {"Content-Type": kind}).status == 400
    assert wire.names() == []


def test_a_batch_has_a_largest_number_of_requests_and_a_largest_size(wire: Wire) -> None:
    about = part("GET /storage/v3/about?fields=kind")
    large = send(wire, STORAGE, part("POST /storage/v3/files", {"description": "x" * 17 * 1024 * 1024}))

    assert len(responses(send(wire, STORAGE, *[about] * 100))) == 100
    assert send(wire, STORAGE, *[about] * 101).status == 400
    assert len(responses(send(wire, CALENDAR, *[part("GET /calendar/v3/colors?fields=kind")] * 101))) == 101
    assert (large.status, large.error["reason"]) == (413, "uploadTooLarge")


def test_the_journal_the_faults_and_the_limits_see_each_request(wire: Wire) -> None:
    about = part("GET /storage/v3/about?fields=kind")
    wire.service.add_faults({"steps": [{"match": {"operation": "about.get", "nth": 2}, "action": {"status": 503}}]})
    last = wire.service.journal()[-1]["n"] if wire.service.journal() else 0

    statuses = [status for _, status, _ in responses(send(wire, STORAGE, about, about, about))]

    rows = [(row["operation"], row["status"]) for row in wire.service.journal(since=last)]
    assert statuses == [200, 503, 200]
    assert rows == [("batch.storage", 200), ("about.get", 200), ("about.get", 503), ("about.get", 200)]


@pytest.mark.parametrize("action", [{"reset": "before"}, {"reset": "after"}, {"cut_response_after": 3}])
def test_a_cut_connection_of_one_request_cuts_the_batch(service: Service, action: dict[str, Any]) -> None:
    wire = InProcess(service, "https://svc.test")
    service.add_faults({"steps": [{"match": {"operation": "files.create", "nth": 2}, "action": action}]})
    create = part("POST /storage/v3/files", {"name": "x"})

    with pytest.raises(Disconnected):
        send(wire, STORAGE, create, create, create)

    assert len(wire.names()) == (1 if action == {"reset": "before"} else 2)


def unread(service: Service, *parts: str) -> Any:
    """The blocks of a response that is not yet read."""
    body = body_of(*parts)
    pairs = {**MIXED, "Authorization": f"Bearer {service.sign_in()}", "Content-Length": str(len(body))}
    return service.handle(Request("POST", f"https://svc.test{STORAGE}", Headers(list(pairs.items())), body)).body


@pytest.mark.one_process("the processes send whole responses")
def test_a_request_is_performed_when_the_client_has_read_the_responses_before(service: Service) -> None:
    create = part("POST /storage/v3/files", {"name": "x"}, headers=JSON)

    blocks = unread(service, create, create, create)
    next(blocks)
    close_body(blocks)

    assert [row["operation"] for row in service.journal()] == ["batch.storage", "files.create"]


@pytest.mark.one_process("the test changes the code of its own process")
def test_the_batches_of_a_user_share_a_budget(service: Service, monkeypatch: pytest.MonkeyPatch, wire: Wire) -> None:
    about = part("GET /storage/v3/about?fields=user")
    monkeypatch.setattr(batch, "_MAX_RESPONSE", 100)
    monkeypatch.setattr(batch, "_BATCHES_OF_USER", 2)

    running = unread(service, about, about)
    next(running)
    own = [status for _, status, _ in responses(send(wire, STORAGE, about, about))]
    close_body(running)
    later = [status for _, status, _ in responses(send(wire, STORAGE, about))]

    assert (own, later) == ([200, 413], [200])
