"""Whatever a seed, a student or a notebook comes up with: solutions hold, and nothing else does."""

import contextlib
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import svc_notebooks as svc
from svc_notebooks.core.api.operations import ALL_SCOPES
from svc_notebooks.core.http.messages import Headers, Request
from svc_notebooks.course.catalogue import DEFINITIONS
from svc_notebooks.course.environment import LocalEnvironment, packed, unpacked
from svc_notebooks.course.exercise_service import ExerciseService
from svc_notebooks.course.grading_service import Judge
from svc_notebooks.course.submissions import Unreadable, exercise_cells
from svc_notebooks.course.verdict import ExerciseOutcome
from svc_notebooks.course.workspace import Given

few = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
many = settings(max_examples=100, deadline=None)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
SOLUTIONS = Path(__file__).with_name("solutions")


@few
@given(st.sampled_from(sorted(DEFINITIONS)), st.text(max_size=12))
def test_every_seed_can_be_solved(name: str, seed: str):
    place = LocalEnvironment(DEFINITIONS[name], seed)
    with contextlib.closing(place), contextlib.redirect_stdout(None):
        mine = Given(place)
        before = svc.notebook.current_session.make_current(mine.session)
        exec((SOLUTIONS / f"{name}.py").read_text(encoding="utf-8"), {"svc": svc, "given": mine})
        svc.notebook.current_session.make_current(before)

        assert place.verdict().outcome is ExerciseOutcome.CORRECT


@few
@given(st.sets(st.sampled_from(sorted(ALL_SCOPES)), min_size=1, max_size=3))
def test_no_other_scope_is_the_narrowest(scopes: set[str]):
    place = LocalEnvironment(DEFINITIONS["the-narrowest-scope"], "0")
    with contextlib.closing(place):
        for program, right in (("catalogue", "storage.metadata.readonly"), ("diary", "storage.file")):
            session = place.sign_in(program, [right])
            svc.files(session=session) if program == "catalogue" else svc.upload(b"", name="diary.txt", session=session)
        with contextlib.suppress(svc.SvcError):
            svc.read(place.given["file_id"], session=place.sign_in("reader", sorted(scopes)))

        assert place.verdict().solved == (scopes == {"storage.readonly"})


@few
@given(st.integers(-70, 70), st.integers(-70, 70))
def test_no_other_bytes_are_the_record(early: int, late: int):
    place = LocalEnvironment(DEFINITIONS["a-part-of-a-file"], "0")
    with contextlib.closing(place):
        session, first = place.session(), 64 * int(str(place.given["record"]))
        start, end = first + early, max(first + early, first + 63 + late)
        svc.upload(
            svc.read(place.given["file_id"], byte_range=(start, end), session=session),
            name="record.txt",
            session=session,
        )

        assert place.verdict().solved == (early == 0 and end == first + 63)


@many
@given(st.data())
def test_a_receiver_is_right_about_every_message_or_wrong(data: st.DataObject):
    world = _receiving()
    world._delivered = 0
    world.messages()
    right = [200 if one.genuine else 403 for one in world.trials]
    flipped = data.draw(st.sets(st.integers(0, len(right) - 1), max_size=3))
    for number, status in enumerate(right):
        world.answered(number, (603 - status) if number in flipped else status)

    assert world.verdict().solved == (not flipped)


_worlds: list[ExerciseService] = []


def _receiving() -> ExerciseService:
    if not _worlds:
        _worlds.append(ExerciseService(DEFINITIONS["believe-nobody"], "0"))
    return _worlds[0]


@given(st.binary() | st.text() | st.integers() | st.lists(st.text()))
def test_what_is_given_arrives_as_it_was(value):
    assert unpacked(json.loads(json.dumps(packed(value)))) == value


@many
@given(JSON)
def test_whatever_is_handed_in_is_a_notebook_or_none(found):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.ipynb"
        path.write_text(json.dumps({"cells": found}), encoding="utf-8")
        with contextlib.suppress(Unreadable):
            assert all(isinstance(cell, str) for cell in exercise_cells(path))


CALLS = ("begin", "sign_in", "advance", "messages", "answered", "verdict", "now", "", "..")


class TestJudge:
    """A judge is asked by strangers."""

    def ask(self, judge: Judge, call: str, body: object, key: str | None) -> int:
        headers = Headers([("Authorization", f"Bearer {key}")] if key else [])
        text = json.dumps(body).encode()
        return judge.handle(Request("POST", f"http://127.0.0.1/_course/{call}", headers, text)).status

    @many
    @given(st.sampled_from(CALLS), JSON)
    def test_answers_whatever_it_is_asked(self, call: str, body):
        judge = Judge()
        key = judge.open("0")

        assert self.ask(judge, call, body, key) in (200, 400, 401)
        judge.close(key)

    @few
    @given(
        st.fixed_dictionaries({"exercise": st.just("believe-nobody"), "number": JSON, "answer": JSON, "seconds": JSON})
    )
    def test_odd_values_are_refused_and_do_no_harm(self, body):
        judge = Judge()
        key = judge.open("0")
        self.ask(judge, "begin", body, key)

        assert {self.ask(judge, call, body, key) for call in ("answered", "advance", "sign_in")} <= {200, 400}
        assert not judge.close(key)["believe-nobody"].solved

    @pytest.mark.parametrize("key", [None, "", "guessed", "x" * 1000])
    def test_lets_nobody_in_without_a_key(self, key: str | None):
        judge = Judge()
        judge.open("0")

        assert self.ask(judge, "begin", {"exercise": "too-often"}, key) == 401

    def test_one_submission_cannot_reach_into_another(self):
        judge = Judge()
        ada, bob = judge.open("ada"), judge.open("bob")
        self.ask(judge, "begin", {"exercise": "upload-with-a-name"}, ada)

        assert self.ask(judge, "verdict", {"exercise": "upload-with-a-name"}, bob) == 400
        assert judge.close(bob)["upload-with-a-name"].outcome is ExerciseOutcome.NOT_TRIED

    @pytest.mark.parametrize("seconds", ["nan", "inf", "-1", 10**400, None, [], "x"])
    def test_a_clock_goes_nowhere_odd(self, seconds: object):
        judge = Judge()
        key = judge.open("0")
        self.ask(judge, "begin", {"exercise": "too-often"}, key)

        assert self.ask(judge, "advance", {"exercise": "too-often", "seconds": seconds}, key) == 400

    def test_a_token_of_an_earlier_beginning_opens_nothing(self):
        judge = Judge()
        key = judge.open("ada")
        headers = Headers([("Authorization", f"Bearer {key}")])
        body = b'{"exercise": "too-often"}'
        first = judge.handle(Request("POST", "http://127.0.0.1/_course/begin", headers, body))
        token = json.loads(first.content())["token"]
        listed = Request("GET", "http://127.0.0.1/storage/v3/files", Headers([("Authorization", f"Bearer {token}")]))

        assert judge.handle(listed).status == 200
        judge.handle(Request("POST", "http://127.0.0.1/_course/begin", headers, body))
        assert judge.handle(listed).status == 401
        judge.close(key)
