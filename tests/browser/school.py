"""A served class for tests in a browser: a teacher, Ada, and students who have sent requests."""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import svc_notebooks as svc
from svc_notebooks.client.session import Session
from svc_notebooks.server.auth.accounts import ClassAccount
from svc_notebooks.server.dispatch.service_context import Quota
from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.transports.socket_server import SocketServer

NAMES = ("Ada Lovelace", "Bob Adams", "Eve Smith", "Zoë Müller", "Nia Okafor")


class School:
    """A served class, and a session for each account by first name."""

    def __init__(self, service: Service, server: SocketServer, tokens: dict[str, str]) -> None:
        self.service, self.server, self.tokens = service, server, tokens

    def session(self, name: str) -> Session:
        return Session(self.server.base_url, self.tokens[name])


def email(name: str) -> str:
    return f"{name.split()[0].lower().replace('ë', 'e')}@school.example"


@contextmanager
def served_class(folder: Path) -> Iterator[School]:
    """Serve a class whose store and tokens are in a folder."""
    accounts = [ClassAccount(name, email(name), "student" if n else "teacher") for n, name in enumerate(NAMES)]
    file = folder / "tokens.csv"
    with open_service(folder / "store") as service:
        service.open_class(accounts, file, Quota())
        with file.open(newline="") as rows:
            tokens = {row["name"].split()[0]: row["token"] for row in csv.DictReader(rows)}
        with SocketServer(service, control=True) as server:
            school = School(service, server, tokens)
            work(school)
            yield school


def work(school: School) -> None:
    """Bob resumes an upload and gets an error, Eve searches."""
    bob, eve = school.session("Bob"), school.session("Eve")
    svc.upload(b"pond,birds\\nMill pond,12\\n", name="counts.csv", session=bob)
    upload = svc.start_upload(bytes(300_000), name="winter.zip", chunk_size=262_144, session=bob)
    upload.send_chunk()
    svc.resume_upload(upload.session_uri, bytes(300_000), session=bob).run()
    with pytest.raises(svc.NotFound):
        svc.file("0" * 20, session=bob)
    svc.files("name contains 'pond'", session=eve)
