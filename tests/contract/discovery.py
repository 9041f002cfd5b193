"""The first minutes at a deployment: does it speak the interface, what else does it have, who are we there."""

import secrets
import ssl
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest

from svc_notebooks.cli.conformance import Deployment
from tests.contract.control_client import ControlClient
from tests.contract.created_resources import CALENDARS, FILES, CreatedResources
from tests.contract.deployment import ADA, RemoteDeployment, Reply, Unreachable

UPLOAD = f"/upload{FILES}?uploadType="
DAY = {"start": {"date": "2026-11-02"}, "end": {"date": "2026-11-03"}}


def discover(command: Any) -> RemoteDeployment:
    """Look around; ends the run with one sentence where there is nothing to test."""
    target: Deployment = command.target
    site, ledger = RemoteDeployment(target, command.secrets, command.raise_interrupt), CreatedResources()
    try:
        _check_interface(site, ledger)
        _probe_operations(site, ledger)
        _find_people(site)
        _find_control(site)
    except Unreachable as error:
        raise pytest.exit.Exception(f"{target.base_url} does not answer: {_cause(error)}.", returncode=2) from error
    finally:
        site.clear(ledger)
    site.known_ids.clear()
    site.count_first_visit(target.token, ADA)
    site.initial_ids = set(site.known_ids)
    return site


def _cause(error: Unreachable) -> str:
    cause = error.__cause__
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"its certificate does not verify ({cause.verify_message}); --ca names an authority to trust"
    if isinstance(cause, ssl.SSLError):
        return "it does not speak TLS there"
    return str(error).rstrip(".")


def _check_interface(site: RemoteDeployment, ledger: CreatedResources) -> None:
    """The doors that the interface itself shows; one of them must open."""
    session = _send_noted(site, ledger, "POST", f"{UPLOAD}resumable")
    if session.status == 401:
        raise pytest.exit.Exception(f"{site.target.base_url} refuses the token (401).", returncode=2)
    has_files = (session.status == 200 and "location" in session.headers) or _has_files(site, ledger)
    named = {**DAY, "summary": f"svc-conformance {site.run}"}
    event = _send_noted(site, ledger, "POST", f"{CALENDARS}/primary/events", named)
    has_events = event.status < 300 and "id" in event.object()
    if not has_files and not has_events:
        raise pytest.exit.Exception(
            f"{site.target.base_url} answers, but not as this interface: {_describe_answer(session)}.", returncode=2
        )
    if not has_files:
        site.missing["storage"] = _describe_answer(session)
    if not has_events:
        site.missing["calendar"] = _describe_answer(event)


def _has_files(site: RemoteDeployment, ledger: CreatedResources) -> bool:
    reply = _send_noted(site, ledger, "POST", f"{UPLOAD}media", **{"Content-Type": "text/plain"})
    return reply.status < 300 and "id" in reply.object()


def _describe_answer(reply: Reply) -> str:
    media_type = reply.headers.get("content-type", "no type").split(";")[0]
    return f"the first request was answered {reply.status} with {media_type}" if reply.status < 600 else "nothing"


def _send_noted(
    site: RemoteDeployment, ledger: CreatedResources, method: str, path: str, value: Any = None, **headers: str
) -> Reply:
    reply = site.ask(method, path, value, **headers)
    ledger.note(method, path, site.target.token, value or {}, reply)
    return reply


@dataclass(frozen=True)
class Probe:
    """How one sees that a group of operations is there."""

    operations: str
    method: str
    path: str
    value: dict[str, object] | None = None


def _probe_operations(site: RemoteDeployment, ledger: CreatedResources) -> None:
    for look in _probes(site, ledger):
        reply = _send_noted(site, ledger, look.method, look.path, look.value)
        if reply.status >= 400:
            for name in look.operations.split():
                site.missing[name.replace("_", " ")] = f"{look.method} was answered {reply.status}"


def _probes(site: RemoteDeployment, ledger: CreatedResources) -> Iterator[Probe]:
    """In an order in which each finds what it needs; deletions last."""
    name: dict[str, object] = {"name": f"svc-conformance {site.run}"}
    if "storage" not in site.missing:
        made = _send_noted(site, ledger, "POST", FILES, name).object().get("id")
        file = f"{FILES}/{made}"
        spreadsheet = {**name, "mimeType": "application/vnd.svc-apps.spreadsheet"}
        native = _send_noted(site, ledger, "POST", FILES, spreadsheet).object().get("id")
        yield Probe("files.list", "GET", FILES)
        yield Probe("files.get", "GET", file)
        yield Probe("files.update", "PATCH", file, name)
        yield Probe("PATCH_of_an_upload_address", "PATCH", f"/upload{file}?uploadType=resumable", {})
        yield Probe("files.generateIds", "GET", f"{FILES}/generateIds?count=1")
        yield Probe("files.export", "GET", f"{FILES}/{native}/export?mimeType=text/csv")
        yield Probe("about.get", "GET", "/storage/v3/about?fields=importFormats,exportFormats")
        yield Probe(" ".join(f"permissions.{verb}" for verb in ("create", "list", "get", "update", "delete")),
                   "GET", f"{file}/permissions")  # fmt: skip
        yield Probe("changes.getStartPageToken changes.list", "GET", "/storage/v3/changes/startPageToken")
        yield Probe("files.copy", "POST", f"{file}/copy", name)
        yield Probe("files.delete", "DELETE", file)
    if "calendar" not in site.missing:
        yield from _event_probes(site, ledger)


def _event_probes(site: RemoteDeployment, ledger: CreatedResources) -> Iterator[Probe]:
    name: dict[str, object] = {"summary": f"svc-conformance {site.run}"}
    events = f"{CALENDARS}/primary/events"
    series = {**DAY, **name, "recurrence": ["RRULE:FREQ=DAILY;COUNT=2"]}
    event = f"{events}/{_send_noted(site, ledger, 'POST', events, series).object().get('id')}"
    yield Probe("events.list", "GET", events)
    yield Probe("events.get", "GET", event)
    yield Probe("events.patch", "PATCH", event, name)
    yield Probe("events.update", "PUT", event, series)
    yield Probe("events.instances", "GET", f"{event}/instances")
    imported = {**DAY, **name, "iCalUID": f"{secrets.token_hex(8)}@svc.example"}
    yield Probe("events.import", "POST", f"{events}/import", imported)
    yield Probe("colors.get", "GET", "/calendar/v3/colors")
    yield Probe("calendars.get", "GET", f"{CALENDARS}/primary")
    yield Probe("calendars.insert calendars.patch calendars.update calendars.delete calendars.clear events.move",
               "POST", CALENDARS, name)  # fmt: skip
    yield Probe("calendarList.list calendarList.get", "GET", "/calendar/v3/users/me/calendarList")
    yield Probe(" ".join(f"acl.{verb}" for verb in ("insert", "list", "get", "patch", "update", "delete")),
               "GET", f"{CALENDARS}/primary/acl")  # fmt: skip
    yield Probe("events.delete", "DELETE", event)


def _find_people(site: RemoteDeployment) -> None:
    for person, token in site.people.items():
        for address in _addresses(site, token):
            email = None
            with suppress(Unreachable, KeyError, TypeError):
                email = address()
            if isinstance(email, str) and "@" in email:
                site.translation.person(person, email)
                break
        else:
            site.missing[person] = "its address is told nowhere"


def _addresses(site: RemoteDeployment, token: str) -> Iterator[Callable[[], object]]:
    """The places where a person's address may be told."""
    yield lambda: site.ask("GET", f"{CALENDARS}/primary", token=token).object().get("id")
    yield lambda: site.ask("GET", "/storage/v3/about?fields=user", token=token).object()["user"]["emailAddress"]


def _find_control(site: RemoteDeployment) -> None:
    if not site.target.control:
        return
    reply = site.exchange("GET", "/_control/clock", None, site.control_credentials())
    if reply.status == 200 and "now" in reply.object():
        site.control_client = ControlClient(site.control, ADA, site.count_first_visit, site.hidden.add)
    elif reply.status in (401, 403):
        sys.stderr.write(f"the control interface was not used ({reply.status}): {_message(reply)}\n")


def _message(reply: Reply) -> str:
    """What a refusal says, where it is one of the family's."""
    error = reply.object().get("error")
    return str(error.get("message", ""))[:300] if isinstance(error, dict) else "it says no more"
