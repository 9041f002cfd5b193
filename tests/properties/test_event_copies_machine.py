import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from svc_notebooks.core.http.messages import Headers, Request
from svc_notebooks.server.service import open_service
from tests.examples import examples

pytestmark = pytest.mark.spec("E-01", "E-01a", "E-19", "E-19a", "E-19b", "E-16", "E-16a")

PEOPLE = ("ada@svc.example", "bob@svc.example", "eve@svc.example")
OUTSIDE = "guest@elsewhere.example"
TIMES = {"start": {"date": "2026-11-02"}, "end": {"date": "2026-11-03"}}
people = st.sampled_from(PEOPLE)
guest_lists = st.lists(st.sampled_from([*PEOPLE, OUTSIDE]), max_size=3, unique=True)
words = st.sampled_from(["tea", "coffee", "cake"])
choices = st.sampled_from(["all", "none", "externalOnly"])


@dataclass
class Known:
    """An event in the model."""

    organizer: str
    guests: dict[str, str]
    summary: str
    shared: str
    gone: bool = False
    private: dict[str, str] = field(default_factory=dict)
    left: set[str] = field(default_factory=set)
    """Guests who deleted the event from their own calendar."""

    def holders(self) -> set[str]:
        if self.gone:
            return set()
        return {self.organizer} | ({guest for guest in self.guests if guest in PEOPLE} - self.left)


class Machine(RuleBasedStateMachine):
    events = Bundle("events")

    def __init__(self) -> None:
        super().__init__()
        self.service = open_service(seed=0, background=False)
        self.known: dict[str, Known] = {}
        self.mails = 0

    @initialize()
    def sign_in(self) -> None:
        self.tokens = {user: self.service.sign_in(user) for user in PEOPLE}

    def teardown(self) -> None:
        self.service.close()

    def call(self, user: str, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        content = b"" if body is None else json.dumps(body).encode()
        pairs = Headers([("Authorization", f"Bearer {self.tokens[user]}"), ("Content-Type", "application/json")])
        url = f"http://svc.test/calendar/v3/calendars/primary/events{path}"
        response = self.service.handle(Request(method, url, pairs, content))
        answer = response.content()
        return response.status, json.loads(answer) if answer else None

    def mail(self, choice: str, *to: str) -> None:
        self.mails += {"none": 0, "all": len(set(to)), "externalOnly": OUTSIDE in to}[choice]

    def others(self, event: Known) -> list[str]:
        return [guest for guest in event.guests if guest != event.organizer]

    @rule(target=events, organizer=people, guests=guest_lists, summary=words, mark=words, choice=choices)
    def create(self, organizer: str, guests: list[str], summary: str, mark: str, choice: str) -> str:
        properties = {"private": {"mark": mark}, "shared": {"mark": mark}}
        body = {**TIMES, "summary": summary, "extendedProperties": properties}
        body["attendees"] = [{"email": guest} for guest in guests]
        status, made = self.call(organizer, "POST", f"?sendUpdates={choice}", body)
        assert status == 200
        accepted = {guest: "accepted" if guest == organizer else "needsAction" for guest in guests}
        self.known[made["id"]] = Known(organizer, accepted, summary, mark, private={organizer: mark})
        self.mail(choice, *self.others(self.known[made["id"]]))
        return str(made["id"])

    @rule(event=events, summary=words, mark=words)
    def rename(self, event: str, summary: str, mark: str) -> None:
        known = self.known[event]
        change = {"summary": summary, "extendedProperties": {"shared": {"mark": mark}}}
        status, _ = self.call(known.organizer, "PATCH", f"/{event}", change)
        if known.gone:
            assert status in (200, 403, 410)
            return
        assert status == 200
        known.summary, known.shared = summary, mark

    @rule(event=events, user=people, summary=words)
    def rename_as_guest(self, event: str, user: str, summary: str) -> None:
        known = self.known[event]
        if user == known.organizer or summary == known.summary or known.gone:
            return
        status, _ = self.call(user, "PATCH", f"/{event}", {"summary": summary})
        assert status in ((403,) if user in known.holders() else (403, 404, 410))

    @rule(event=events, user=people, mark=words)
    def note(self, event: str, user: str, mark: str) -> None:
        known = self.known[event]
        if user in known.holders():
            change = {"extendedProperties": {"private": {"mark": mark}}}
            assert self.call(user, "PATCH", f"/{event}", change)[0] == 200
            known.private[user] = mark

    @rule(event=events, user=people, answer=st.sampled_from(["accepted", "declined", "tentative"]))
    def answer(self, event: str, user: str, answer: str) -> None:
        known = self.known[event]
        if user not in known.holders() or user not in known.guests:
            return
        _, copy = self.call(user, "GET", f"/{event}")
        attendees = [each | ({"responseStatus": answer} if each.get("self") else {}) for each in copy["attendees"]]
        assert self.call(user, "PATCH", f"/{event}", {"attendees": attendees})[0] == 200
        known.guests[user] = answer

    @rule(event=events, guests=guest_lists, choice=choices)
    def invite(self, event: str, guests: list[str], choice: str) -> None:
        known = self.known[event]
        if known.gone:
            return
        before = self.others(known)
        after = {guest: known.guests.get(guest, "needsAction") for guest in guests}
        change = {"attendees": [{"email": guest, "responseStatus": answer} for guest, answer in after.items()]}
        assert self.call(known.organizer, "PATCH", f"/{event}?sendUpdates={choice}", change)[0] == 200
        known.left &= set(guests)
        known.guests = after
        self.mail(choice, *before, *self.others(known))

    @rule(event=events, choice=choices)
    def cancel(self, event: str, choice: str) -> None:
        known = self.known[event]
        status, _ = self.call(known.organizer, "DELETE", f"/{event}?sendUpdates={choice}")
        assert status == (410 if known.gone else 204)
        if not known.gone:
            self.mail(choice, *self.others(known))
        known.gone = True

    @rule(event=events, user=people)
    def leave(self, event: str, user: str) -> None:
        known = self.known[event]
        if user == known.organizer or user not in known.holders():
            return
        assert self.call(user, "DELETE", f"/{event}")[0] == 204
        known.left.add(user)
        known.guests[user] = "declined"

    @invariant()
    def everybody_sees_what_the_model_says(self) -> None:
        for user in self.tokens if self.known else ():
            status, page = self.call(user, "GET", "")
            assert status == 200
            shown = {shown_event["id"]: shown_event for shown_event in page["items"]}
            assert shown.keys() == {name for name, known in self.known.items() if user in known.holders()}
            for name, event in shown.items():
                self.agree(user, event, self.known[name])

    def agree(self, user: str, shown: Any, known: Known) -> None:
        assert (shown["summary"], shown["organizer"]["email"]) == (known.summary, known.organizer)
        properties = shown["extendedProperties"]
        assert properties["shared"] == {"mark": known.shared}
        assert properties.get("private", {}).get("mark") == known.private.get(user)
        attendees = shown.get("attendees", [])
        assert {attendee["email"]: attendee["responseStatus"] for attendee in attendees} == known.guests
        own = {attendee["email"] for attendee in attendees if attendee.get("self")}
        assert own == {user} & known.guests.keys()

    @invariant()
    def only_what_was_chosen_is_mailed(self) -> None:
        if self.known:
            assert len(self.service.outbox()) == self.mails


TestMachine = Machine.TestCase
TestMachine.settings = examples(0.5, stateful_step_count=20, suppress_health_check=list(HealthCheck))
