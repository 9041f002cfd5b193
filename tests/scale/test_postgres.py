"""A service on PostgreSQL behaves as on SQLite, and refuses what it cannot do."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from svc_notebooks.server.service import Service, open_service
from tests.contract.wire import Answer, InProcess
from tests.scale.conftest import Place

pytestmark = pytest.mark.scale


FILES = "/storage/v3/files"
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def service(place: Place) -> Iterator[Service]:
    with place.opened(seed=0) as service:
        yield service


@pytest.fixture
def wire(service: Service) -> InProcess:
    return InProcess(service, "http://svc.test")


def create(wire: InProcess, **fields: str) -> Answer:
    return wire.send("POST", FILES, json.dumps(fields).encode(), JSON)


def names(wire: InProcess, **parameters: str) -> list[str]:
    query = "&".join(f"{name}={value}" for name, value in parameters.items())
    return [file["name"] for file in wire.send("GET", f"{FILES}?{query}").json["files"]]


def test_a_second_service_is_refused_until_the_first_has_ended(place: Place) -> None:
    with place.opened(seed=0), pytest.raises(OSError, match="in use by another service"):
        place.opened(seed=0)

    place.opened(seed=0).close()


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ada:hush-hush@127.0.0.1:1/svc",
        "postgresql://ada:hush-hush@127.0.0.1:port/svc",
        "postgresql://ada:hush-hush@/",
        "postgresql://ada@127.0.0.1:1/svc?password=hush-hush",
        "mysql://ada:hush-hush@127.0.0.1/svc",
    ],
)
def test_no_message_has_the_password(address: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "svc_notebooks.cli", "serve", "--store", address, "--content", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("svc-notebooks serve: ")
    assert "hush-hush" not in done.stderr
    assert "Traceback" not in done.stderr


def test_u_0000_is_refused_in_a_name_and_found_in_no_name(wire: InProcess) -> None:
    refused = create(wire, name="a\0b")
    create(wire, name="ab", description="a\0b")

    assert (refused.status, "U+0000" in refused.error["message"]) == (400, True)
    assert names(wire, q="name+%3D+%27a%00b%27") == []
    assert names(wire, q="name+!%3D+%27a%00b%27") == ["ab"]
    assert wire.send("GET", f"{FILES}/a%00b").status == 404
    assert wire.send("GET", f"{FILES}?fields=files/description").json["files"] == [{"description": "a\0b"}]


def test_names_are_sorted_by_their_bytes_and_found_regardless_of_case(wire: InProcess) -> None:
    for name in ("b", "\u00e9", "B-Plan", "_", "a", "\U0001f600", "\uffee"):
        create(wire, name=name)

    assert names(wire, orderBy="name") == ["_", "a", "b", "B-Plan", "\u00e9", "\uffee", "\U0001f600"]
    assert names(wire, q="name+contains+%27b-pl%27") == ["B-Plan"]


def test_the_service_connects_again_after_the_server_has_ended_its_connections(place: Place, wire: InProcess) -> None:
    create(wire)
    place.disconnect()

    assert create(wire).status == 200
    assert len(names(wire)) == 2


def test_requests_get_503_while_the_server_refuses_connections(place: Place, service: Service, wire: InProcess) -> None:
    server, _, name = place.address.rpartition("/")
    wire.create(b"kept")
    refuse = Place(f"{server}/postgres", "").execute
    refuse(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    refuse(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
    refused = [
        wire.send("GET", "/storage/v3/about?fields=user"),
        wire.send("GET", FILES),
        create(wire),
        wire.send("POST", "/upload/storage/v3/files?uploadType=media", b"lost"),
    ]
    problems = service.monitor.problems()
    refuse(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")

    assert [answer.status for answer in refused] == [503] * 4
    assert "cannot be reached" in problems["database"]
    assert len(names(wire)) == 1
    assert service.monitor.problems() == {}
    assert create(wire).status == 200


@pytest.mark.parametrize("grant", ["", "GRANT SELECT ON ALL TABLES IN SCHEMA public TO {}"])
def test_a_user_with_too_few_privileges_is_refused(place: Place, grant: str) -> None:
    user = place.address.rpartition("/")[2]
    if grant:
        place.opened(seed=0).close()
    place.execute(f"CREATE ROLE {user} LOGIN")
    place.execute(grant.format(user) or "REVOKE CREATE ON SCHEMA public FROM public")
    try:
        with pytest.raises(OSError, match=r"too few privileges \(permission denied [^\n]*\)"):
            open_service(place.address.replace("postgres@", f"{user}@"), content=place.content)
    finally:
        place.execute(f"DROP OWNED BY {user}")
        place.execute(f"DROP ROLE {user}")


def test_a_database_of_another_program_is_refused_and_not_changed(place: Place) -> None:
    place.execute("CREATE TABLE users (id integer)")
    with pytest.raises(OSError, match="table users of another program"):
        place.opened(seed=0)

    assert place.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'") == [("users",)]


def test_an_empty_folder_is_refused_if_the_database_names_parts(place: Place, tmp_path: Path) -> None:
    with place.opened(seed=0) as service:
        wire = InProcess(service, "http://svc.test")
        wire.send("POST", "/upload/storage/v3/files?uploadType=media", b"kept")

    with pytest.raises(OSError, match="the database names parts"):
        open_service(place.address, content=tmp_path / "other")
