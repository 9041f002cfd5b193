"""The first minutes at a deployment: does it speak the interface, what else does it have, who are we there."""

from __future__ import annotations

import secrets
import ssl
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest

from svc_notebooks.cli.target import Deployment
from tests.contract.inside import Inside
from tests.contract.ledger import CALENDARS, FILES, Ledger
from tests.contract.site import ADA, Reply, Site, Unreachable

UPLOAD = f"/upload{FILES}?uploadType="
DAY = {"start": {"date": "2026-11-02"}, "end": {"date": "2026-11-03"}}


def arrive(command: Any) -> Site:
    """Look around; ends the run with one sentence where there is nothing to test."""
    target: Deployment = command.target
    site, ledger = Site(target, command.secrets, command.raise_interrupt), Ledger()
    try:
        _knock(site, ledger)
        _look_around(site, ledger)
        _find_people(site)
        _find_control(site)
    except Unreachable as error:
        raise pytest.exit.Exception(f"{target.base_url} does not answer: {_cause(error)}.", returncode=2) from error
    finally:
        site.clear(ledger)
    site.before.clear()
    site.meet(target.token, ADA)
    site.found = set(site.before)
    return site


def _cause(error: Unreachable) -> str:
    cause = error.__cause__
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"its certificate does not verify ({cause.verify_message}); --ca names an authority to trust"
    if isinstance(cause, ssl.SSLError):
        return "it does not speak TLS there"
    return str(error).rstrip(".")


def _knock(site: Site, ledger: Ledger) -> None:
    """The doors that the interface itself shows; one of them must open."""
    session = _said(site, ledger, "POST", f"{UPLOAD}resumable")
    if session.status == 401:
        raise pytest.exit.Exception(f"{site.target.base_url} refuses the token (401).", returncode=2)
    has_files = (session.status == 200 and "location" in session.headers) or _has_files(site, ledger)
    event = _said(
        site, ledger, "POST", f"{CALENDARS}/primary/events", {**DAY, "summary": f"svc-conformance {site.run}"}
    )
    has_events = event.status < 300 and "id" in event.object()
    if not has_files and not has_events:
        raise pytest.exit.Exception(
            f"{site.target.base_url} answers, but not as this interface: {_seen(session)}.", returncode=2
        )
    if not has_files:
        site.missing["storage"] = _seen(session)
    if not has_events:
        site.missing["calendar"] = _seen(event)


def _has_files(site: Site, ledger: Ledger) -> bool:
    reply = _said(site, ledger, "POST", f"{UPLOAD}media", **{"Content-Type": "text/plain"})
    return reply.status < 300 and "id" in reply.object()


def _seen(reply: Reply) -> str:
    media_type = reply.headers.get("content-type", "no type").split(";")[0]
    return f"the first request was answered {reply.status} with {media_type}" if reply.status < 600 else "nothing"


def _said(
    site: Site, ledger: Ledger, method: str, path: str, value: dict[str, object] | None = None, **headers: str
) -> Reply:
    reply = site.ask(method, path, value, **headers)
    ledger.note(method, path, site.target.token, value or {}, reply)
    return reply


@dataclass(frozen=True)
class Look:
    """How one sees that a group of operations is there."""

    operations: str
    method: str
    path: str
    value: dict[str, object] | None = None


def _look_around(site: Site, ledger: Ledger) -> None:
    for look in _looks(site, ledger):
        reply = _said(site, ledger, look.method, look.path, look.value)
        if reply.status >= 400:
            for name in look.operations.split():
                site.missing[name.replace("_", " ")] = f"{look.method} was answered {reply.status}"


def _looks(site: Site, ledger: Ledger) -> Iterator[Look]:
    """In an order in which each finds what it needs; deletions last."""
    name: dict[str, object] = {"name": f"svc-conformance {site.run}"}
    if "storage" not in site.missing:
        made = _said(site, ledger, "POST", FILES, name).object().get("id")
        file = f"{FILES}/{made}"
        native = (
            _said(site, ledger, "POST", FILES, {**name, "mimeType": "application/vnd.svc-apps.spreadsheet"})
            .object()
            .get("id")
        )
        yield Look("files.list", "GET", FILES)
        yield Look("files.get", "GET", file)
        yield Look("files.update", "PATCH", file, name)
        yield Look("PATCH_of_an_upload_address", "PATCH", f"/upload{file}?uploadType=resumable", {})
        yield Look("files.generateIds", "GET", f"{FILES}/generateIds?count=1")
        yield Look("files.export", "GET", f"{FILES}/{native}/export?mimeType=text/csv")
        yield Look("about.get", "GET", "/storage/v3/about?fields=importFormats,exportFormats")
        yield Look(" ".join(f"permissions.{verb}" for verb in ("create", "list", "get", "update", "delete")),
                   "GET", f"{file}/permissions")  # fmt: skip
        yield Look("changes.getStartPageToken changes.list", "GET", "/storage/v3/changes/startPageToken")
        yield Look("files.copy", "POST", f"{file}/copy", name)
        yield Look("files.delete", "DELETE", file)
    if "calendar" not in site.missing:
        yield from _looks_at_events(site, ledger)


def _looks_at_events(site: Site, ledger: Ledger) -> Iterator[Look]:
    name: dict[str, object] = {"summary": f"svc-conformance {site.run}"}
    events = f"{CALENDARS}/primary/events"
    series = {**DAY, **name, "recurrence": ["RRULE:FREQ=DAILY;COUNT=2"]}
    event = f"{events}/{_said(site, ledger, 'POST', events, series).object().get('id')}"
    yield Look("events.list", "GET", events)
    yield Look("events.get", "GET", event)
    yield Look("events.patch", "PATCH", event, name)
    yield Look("events.update", "PUT", event, series)
    yield Look("events.instances", "GET", f"{event}/instances")
    yield Look(
        "events.import", "POST", f"{events}/import", {**DAY, **name, "iCalUID": f"{secrets.token_hex(8)}@svc.example"}
    )
    yield Look("colors.get", "GET", "/calendar/v3/colors")
    yield Look("calendars.get", "GET", f"{CALENDARS}/primary")
    yield Look("calendars.insert calendars.patch calendars.update calendars.delete calendars.clear events.move",
               "POST", CALENDARS, name)  # fmt: skip
    yield Look("calendarList.list calendarList.get", "GET", "/calendar/v3/users/me/calendarList")
    yield Look(" ".join(f"acl.{verb}" for verb in ("insert", "list", "get", "patch", "update", "delete")),
               "GET", f"{CALENDARS}/primary/acl")  # fmt: skip
    yield Look("events.delete", "DELETE", event)


def _find_people(site: Site) -> None:
    for person, token in site.people.items():
        for address in _addresses(site, token):
            email = None
            with suppress(Unreachable, KeyError, TypeError):
                email = address()
            if isinstance(email, str) and "@" in email:
                site.words.person(person, email)
                break
        else:
            site.missing[person] = "its address is told nowhere"


def _addresses(site: Site, token: str) -> Iterator[Callable[[], object]]:
    """The places where a person's address may be told."""
    yield lambda: site.ask("GET", f"{CALENDARS}/primary", token=token).object().get("id")
    yield lambda: site.ask("GET", "/storage/v3/about?fields=user", token=token).object()["user"]["emailAddress"]


def _find_control(site: Site) -> None:
    if not site.target.control:
        return
    reply = site.exchange("GET", "/_control/clock", None, site.control_credentials())
    if reply.status == 200 and "now" in reply.object():
        site.inside = Inside(site.control, ADA, site.meet, site.hidden.add)
    elif reply.status in (401, 403):
        sys.stderr.write(f"the control interface was not used ({reply.status}): {_message(reply)}\n")


def _message(reply: Reply) -> str:
    """What a refusal says, where it is one of the family's."""
    error = reply.object().get("error")
    return str(error.get("message", ""))[:300] if isinstance(error, dict) else "it says no more"
