"""Secrets are planted in every way in, and every surface is searched: none may show one (T-05).

A canary is a secret that stands for all of its kind. Whatever people can see, save or send on is a surface: frames,
texts, commands, archives, drawings, logs, errors with their tracebacks, widget state, files.
"""

import json
import logging
import pickle
import re
import socket
import traceback
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import svc_notebooks as svc
from svc_notebooks.client.notifications.channels import registry_of
from svc_notebooks.core.http.messages import Headers, Query, Request, Response

TOKEN = "Canary+Session/Token=="
KINDS = (
    "access_token", "oauth_token", "refresh_token", "id_token", "client_secret", "code", "code_verifier", "assertion",
    "private_key", "bearer_token",
)  # fmt: skip


def canary(kind: str, way: str = "") -> str:
    return f"Canary-{kind}-{way}-Yx7"


SECRET = re.compile(r"(?<!Atlantic/)Canary[-+%]?[\w%+/=-]*")  # a time zone is no secret


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """All that is logged, from DEBUG on, ours and that of the libraries below."""
    caplog.set_level(logging.DEBUG)
    for name in ("svc_notebooks", "urllib3", "requests"):
        caplog.set_level(logging.DEBUG, name)
    return caplog


class Blocks:
    """A body that leaves in small pieces, so that every secret in it is cut in two."""

    def __init__(self, content: bytes, size: int = 5) -> None:
        self._rest, self._size = content, size

    def read(self, size: int = -1, /) -> bytes:
        piece, self._rest = self._rest[: self._size], self._rest[self._size :]
        return piece


def failure(call: Callable[[], object], *, variables: bool = False) -> Iterator[str]:
    """An error as people see it: its text, its repr, its traceback, and that with the variables of every frame."""
    try:
        call()
    except Exception as error:
        yield from (str(error), repr(error), str(vars(error)))
        for shown in (False, variables):
            yield "".join(traceback.TracebackException.from_exception(error, capture_locals=shown).format())


def views(session: svc.Session) -> Iterator[str]:
    frame = svc.exchanges(session=session)
    yield from (frame.to_string(max_colwidth=None), frame.to_csv(), frame.to_json(date_format="iso"))
    yield pickle.dumps(frame).decode("latin-1")
    for exchange in session.exchanges:
        view = svc.exchange(exchange.n, session=session)
        yield from (str(view), repr(view), view.http(), view.curl(), view._repr_html_(), view.diagram())
        yield from (view.diagram().mermaid, view.diagram()._repr_html_())
        yield from (repr(exchange), pickle.dumps(exchange).decode("latin-1"))
    yield from (repr(session), repr(session.exchanges), str(vars(session)))


def archive(session: svc.Session, folder: Path) -> Iterator[str]:
    path = Path(svc.save_har(folder / "run.har", overwrite=True, session=session)["path"].item())
    yield path.read_text()
    yield svc.compare_exchanges(path, session).to_string()
    yield from failure(lambda: svc.assert_exchanges(["DELETE 200"], session=session))


def inside(lab: svc.Sandbox, folder: Path) -> Iterator[str]:
    journal = lab.journal()
    yield from (journal.to_string(max_colwidth=None), journal.to_json(date_format="iso"))
    yield json.dumps(lab.service.journal())
    yield from (lab.deliveries().to_string(), json.dumps(lab.service.deliveries()), repr(lab), repr(lab.service))
    yield lab.save(folder / "world.svc").read_bytes().decode("latin-1")


def machine(folder: Path) -> Iterator[str]:
    yield svc.doctor().to_string(max_colwidth=None)
    yield from (path.read_bytes().decode("latin-1") for path in folder.rglob("*") if path.is_file())


def forms(session: svc.Session) -> Iterator[str]:
    """The state that a saved notebook has of its widgets."""
    for make in (svc.upload_form, svc.export_form, svc.event_form, svc.watch_panel):
        yield from widget_texts(make(session=session))


def canaries_in(*texts: Iterable[str]) -> set[str]:
    return {canary_text for text in chain(*texts) for canary_text in SECRET.findall(text)}


def echo(request: Request) -> Response:
    """A service that repeats what it was sent, in a header and in its body, as badly as it can."""
    sent = request.headers.get("Authorization") or ""
    body = {"error": {"message": f"bad credentials {sent}", "errors": [{"reason": sent}]}, "access_token": sent[7:]}
    headers = [("Content-Type", "application/json"), ("Location", f"https://x/cb?code={canary('code', 'location')}")]
    headers += [("Set-Cookie", f"sid={canary('cookie')}; Path=/"), ("X-Echo", sent)]
    return Response(400, Headers(headers), json.dumps(body).encode())


def plant(session: svc.Session) -> None:
    """Secrets by name, in queries, forms and JSON, whole and in pieces, with names that are percent-encoded."""
    url = f"{session.base_url}/token"
    for kind in KINDS:
        session.send(Request("GET", f"{url}?{kind}={canary(kind, 'query')}&alt=json"))
        session.send(Request("GET", f"{url}?{kind.replace('_', '%5f')}={canary(kind, 'name')}"))
        session.send(Request("GET", f"{url}?continue={quote(f'/x?{kind}={canary(kind)}', safe='')}"))
        form = str(Query([("grant_type", "x"), (kind, canary(kind, "form")), ("scope", "y")])).encode()
        fields = json.dumps({"a": 1, kind: canary(kind, "json"), "b": "c"}).encode()
        escaped = fields.replace(b"_", b"\\u005f", 1)
        for body in (form, fields, escaped):
            media_type = "application/x-www-form-urlencoded" if body is form else "application/json"
            length = ("Content-Length", str(len(body)))
            headers = Headers([("Content-Type", media_type), length, ("Cookie", f"sid={canary('cookie')}")])
            session.send(Request("POST", url, headers, body))
            session.send(Request("POST", url, headers, Blocks(body)))
            session.send(Request("POST", url, headers, Blocks(b" " * 2040 + body, 2043)))


@pytest.mark.spec("T-05", "T-05a", "T-05b", "T-05d")
def test_what_is_sent_by_name_shows_nowhere(lab, tmp_path, logged):
    session = svc.Session("https://sandbox.svc.example", TOKEN, handler=lab.service.handle)
    lab.service.sign_in(token=TOKEN)
    plant(session)

    assert len(session.exchanges) == 12 * len(KINDS)
    assert canaries_in(views(session), archive(session, tmp_path), inside(lab, tmp_path), [logged.text]) == set()


@pytest.mark.spec("T-05", "T-05a", "T-05b", "T-05d")
def test_the_sessions_own_token_shows_nowhere(lab, tmp_path, logged):
    lab.service.sign_in(token=TOKEN)
    options = {"handler": lab.service.handle, "state_dir": tmp_path / "state"}
    session = svc.Session("https://sandbox.svc.example", TOKEN, **options)
    made = svc.upload(b"hello", name="hello.txt", session=session)
    svc.start_upload(bytes(600_000), chunk_size=262_144, session=session).send_chunk()
    svc.read(made, session=session)
    session.send(Request("GET", f"{session.base_url}/storage/v3/files/{quote(TOKEN, safe='')}"))
    session.send(Request("GET", f"{session.base_url}/{''.join(f'%{ord(mark):02x}' for mark in TOKEN)}?q={TOKEN}"))
    session.owner = lab
    svc.watch_changes(svc.receiver(direct=True, session=session), session=session)
    lab.deliver()

    pending = svc.pending_uploads(session=session).to_csv()
    assert canaries_in(views(session), archive(session, tmp_path), inside(lab, tmp_path), [logged.text]) == set()
    assert canaries_in(forms(session), machine(tmp_path), [pending]) == set()


def messages(session: svc.Session, rx: Any) -> Iterator[str]:
    """Every way to look at channels and at what they have told."""
    for frame in (svc.channels(session=session), svc.notifications(session=session), rx.messages(), rx.explain()):
        yield from (frame.to_string(max_colwidth=None), frame.to_csv(), frame.to_json(date_format="iso"))
    yield from (repr(rx), *map(repr, rx.received()), str(svc.delivery_timeline(session=session)))
    yield from map(repr, registry_of(session).channels.values())
    for make in (svc.watch_panel, svc.dashboard):
        yield from widget_texts(make(session=session))


def widget_texts(form: Any) -> Iterator[str]:
    from ipywidgets.embed import dependency_state

    yield json.dumps(dependency_state([form], drop_defaults=False), default=repr)
    yield from (repr(form), str(form._repr_mimebundle_()))


@pytest.mark.spec("T-05", "T-05a", "T-05b", "T-05c", "T-05d", "A8-06")
def test_the_token_of_a_channel_shows_nowhere(lab, tmp_path, logged):
    session, word = lab.session, canary("channel", "token")
    rx = svc.receiver(direct=True)
    file = svc.upload(b"hello", name="hello.txt")
    svc.watch_file(file, rx, token=word)
    svc.watch_changes(rx, token=word)
    svc.update(file, name="renamed.txt")
    texts = [*failure(lambda: svc.watch_changes(rx, token=word * 20))]
    texts += failure(lambda: svc.watch_changes(rx, token=word, channel_id="x" * 65))
    texts += failure(lambda: svc.watch_changes(rx, token=f"Bearer {word}"))
    lab.deliver()

    assert len(rx.messages()) == 4
    assert rx.messages()["token"].unique().tolist() == ["Cana… (24 characters)"]
    assert svc.channels()["token"].unique().tolist() == ["Cana… (24 characters)"]
    assert [rx.check_token(word, n) for n in range(4)] == [True] * 4, "who has the token can verify it"
    assert len(texts) == 15
    texts += [logged.text, lab.journal().to_csv(), lab.deliveries().to_csv()]
    assert canaries_in(texts, messages(session, rx), views(session), archive(session, tmp_path)) == set()


@pytest.mark.spec("T-05", "T-05a", "T-05b", "T-05d")
def test_the_secrets_of_an_address_for_messages_show_nowhere(lab, tmp_path, logged):
    lab.service.register_domain("localhost")
    address = f"https://localhost:1/in?access_token={canary('access_token')}&code={canary('code')}"
    channel = svc.watch_changes(address)
    svc.create_file(name="x")
    lab.clock.advance("1m")
    again = svc.renew_channel(channel)

    assert lab.deliveries()["error"].notna().all()
    assert again["address"].item() == "https://localhost:1/in?access_token=[redacted]&code=[redacted]"
    frames = [channel, svc.channels(), svc.notifications(), lab.journal(), lab.deliveries()]
    texts = [logged.text, *(frame.to_csv() for frame in frames)]
    assert canaries_in(texts, views(lab.session), archive(lab.session, tmp_path)) == set()


@pytest.mark.spec("T-05", "T-05a", "T-05c", "T-05d")
def test_a_service_that_repeats_secrets_makes_none_show(tmp_path):
    session = svc.Session("https://api.example", TOKEN, handler=echo)
    split = svc.Session("https://api.example", TOKEN, handler=lambda request: _in_pieces(echo(request)))

    texts = [*failure(lambda: session.call("GET", "/storage/v3/files"), variables=True)]
    texts += failure(lambda: split.call("POST", "/storage/v3/files", body={"name": "x"}), variables=True)
    texts += failure(lambda: svc.files(session=session), variables=True)

    assert len(texts) == 15
    for api in (session, split):
        assert canaries_in(texts, views(api), archive(api, tmp_path)) == set()


def _in_pieces(response: Response) -> Response:
    content = response.content()
    return Response(response.status, response.headers, (content[at : at + 7] for at in range(0, len(content), 7)))


@pytest.mark.spec("T-05", "T-05a", "T-05b", "T-05c")
def test_an_address_that_fails_shows_none(tmp_path, logged):
    """Nobody listens there; and what is no address at all."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    base, query = f"http://127.0.0.1:{port}", {"access_token": canary("access_token", "failed"), "q": TOKEN}
    session = svc.Session(base, TOKEN, sleep=lambda seconds: None, state_dir=tmp_path)

    texts = [*failure(lambda: session.call("GET", "/storage/v3/files", query=query))]
    texts += failure(lambda: svc.upload(b"x" * 10, session=session), variables=True)
    texts += [*views(session), *archive(session, tmp_path)]
    texts += failure(lambda: svc.connect(f"http://me:{TOKEN}@x.example", TOKEN))
    texts += failure(lambda: svc.connect(TOKEN, "https://x.example"))
    texts += failure(lambda: svc.connect("https://x.example", TOKEN + " \n"))
    texts += failure(lambda: session.send(Request("GET", base + f":x/?access_token={canary('access_token')}")))

    assert canaries_in(texts, [logged.text]) == set()


@pytest.mark.spec("T-05", "T-05b")
def test_urllib3_logs_none(lab, logged):
    token = lab.service.sign_in(token=TOKEN)
    with lab.serve() as server:
        session = svc.Session(server.base_url, token, state_dir=None)
        url = f"{server.base_url}/storage/v3/files?access_token={quote(token, safe='')}&alt=json"
        session.send(Request("GET", url, Headers([("X-Name", "é")])))  # by requests, because of the header
        session.send(Request("GET", f"{server.base_url}/token?code={canary('code')}"))
        svc.upload(b"hello", session=session)

    assert "alt=json" in logged.text  # it was logged, without the token
    assert canaries_in([logged.text], views(session)) == set()


@pytest.mark.spec("T-05", "T-05c")
def test_a_token_function_that_fails_shows_none(lab):
    tokens = iter([TOKEN])

    def token() -> str:
        word = next(tokens, None)
        if word is None:
            raise RuntimeError(f"refreshing {canary('refresh_token')} failed")
        return word

    session = svc.Session("https://api.example", token, handler=lambda request: Response(401))

    texts = [*failure(lambda: session.call("GET", "/x")), *views(session)]

    assert "token" in texts[0]
    assert canaries_in(texts) == set()


CELLS = (
    "import os",
    "import svc_notebooks as svc",
    "lab = svc.sandbox()",
    "lab.service.sign_in(token=os.environ['SVC_TOKEN']) and None",
    "session = svc.Session('https://sandbox.svc.example', os.environ['SVC_TOKEN'], handler=lab.service.handle)",
    "svc.upload(b'hello', session=session)",
    "svc.exchange(session=session)",
    "session, session.exchanges[0], vars(session)",
    "svc.upload_form(session=session)",
    "%xmode Verbose",
    "session.call('GET', '/storage/v3/files/nobody')",
)


@pytest.mark.spec("T-05", "T-05c", "T-05d")
def test_a_saved_notebook_has_none(monkeypatch):
    """Run by a kernel of its own, widgets and a traceback with all variables included."""
    import nbformat
    from nbclient import NotebookClient

    monkeypatch.setenv("SVC_TOKEN", TOKEN)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    NotebookClient(notebook, kernel_name="python3", allow_errors=True, store_widget_state=True).execute()

    saved = nbformat.writes(notebook)
    assert "NotFound" in saved
    assert "UploadForm" in saved or "svc-form" in saved
    assert canaries_in([saved]) == set()


@pytest.mark.spec("T-05", "T-05a", "T-05b", "T-05d")
def test_real_secrets_show_nowhere(lab, tmp_path, logged):
    """Those that the service makes itself: keys, client secrets, and what the token endpoint answers."""
    account, client = lab.service_account("robot"), lab.oauth_client("Photo album", redirect_uris=["http://127.0.0.1/"])
    robot = lab.sign_in(account)
    svc.upload(b"hello", session=robot)
    svc.token_info(session=robot)
    secrets = [*account.key["private_key"].splitlines()[1:-1], str(client.client_secret), robot._credential.token]
    assert all(len(secret) > 5 for secret in secrets)
    basic = Headers([("Authorization", "Basic " + "Q2FuYXJ5OnNlY3JldA=="), ("Content-Length", "0")])
    robot.send(Request("POST", f"{robot.base_url}/token", basic))

    texts = [*views(robot), *archive(robot, tmp_path), *inside(lab, tmp_path), *forms(robot), *machine(tmp_path)]
    texts += [repr(account), repr(client), logged.text, *views(lab.session)]

    assert [secret for secret in [*secrets, "Q2FuYXJ5OnNlY3JldA"] for text in texts if secret in text] == []
    assert "assertion=[redacted]" in "".join(texts)
