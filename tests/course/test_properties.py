"""Property tests of the exercises with random seeds, answers, notebooks and requests."""

import contextlib
import json
from functools import cache

import pytest
from hypothesis import HealthCheck, given, strategies as st

import svc_notebooks as svc
from svc_notebooks.core.api.operations import ALL_SCOPES
from svc_notebooks.core.http.messages import Headers, Request
from svc_notebooks.course.archives import UnreadableFileError
from svc_notebooks.course.catalogue import DEFINITIONS, solution_code
from svc_notebooks.course.definition import ExerciseOutcome
from svc_notebooks.course.exercise_service import ExerciseService
from svc_notebooks.course.grading_service import GradingService
from svc_notebooks.course.student_exercise import Given, LocalEnvironment, values_as_json, values_from_json
from svc_notebooks.course.submissions import exercise_cells
from tests.examples import examples

few = examples(0.2, suppress_health_check=[HealthCheck.too_slow])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@few
@given(st.sampled_from(sorted(DEFINITIONS)), st.text(max_size=12))
def test_every_seed_can_be_solved(name: str, seed: str):
    environment = LocalEnvironment(DEFINITIONS[name], seed)
    with contextlib.closing(environment), contextlib.redirect_stdout(None):
        workspace = Given(environment)
        before = svc.client.session.make_current(workspace.session)
        exec(solution_code(name)[0], {"svc": svc, "given": workspace})
        svc.client.session.make_current(before)

        assert environment.result().outcome is ExerciseOutcome.CORRECT


@few
@given(st.sets(st.sampled_from(sorted(ALL_SCOPES)), min_size=1, max_size=3))
def test_no_other_scope_is_the_narrowest(scopes: set[str]):
    environment = LocalEnvironment(DEFINITIONS["the-narrowest-scope"], "0")
    with contextlib.closing(environment):
        for program, right in (("catalogue", "storage.metadata.readonly"), ("diary", "storage.file")):
            session = environment.sign_in(program, [right])
            svc.files(session=session) if program == "catalogue" else svc.upload(b"", name="diary.txt", session=session)
        with contextlib.suppress(svc.SvcError):
            svc.read(environment.values["file_id"], session=environment.sign_in("reader", sorted(scopes)))

        assert environment.result().solved == (scopes == {"storage.readonly"})


@few
@given(st.integers(-70, 70), st.integers(-70, 70))
def test_no_other_bytes_are_the_record(early: int, late: int):
    environment = LocalEnvironment(DEFINITIONS["a-part-of-a-file"], "0")
    with contextlib.closing(environment):
        session, first = environment.session(), 64 * int(str(environment.values["record"]))
        start, end = first + early, max(first + early, first + 63 + late)
        part = svc.read(environment.values["file_id"], byte_range=(start, end), session=session)
        svc.upload(part, name="record.txt", session=session)

        assert environment.result().solved == (early == 0 and end == first + 63)


@cache
def _receiver_exercise() -> ExerciseService:
    return ExerciseService(DEFINITIONS["believe-nobody"], "0")


@given(st.data())
def test_a_receiver_is_right_about_every_message_or_wrong(data: st.DataObject):
    exercise = _receiver_exercise()
    exercise._deliveries = 0
    exercise.messages()
    right = [200 if case.genuine else 403 for case in exercise.receiver_cases]
    flipped = data.draw(st.sets(st.integers(0, len(right) - 1), max_size=3))
    for number, status in enumerate(right):
        exercise.record_outcome(number, (603 - status) if number in flipped else status)

    assert exercise.result().solved == (not flipped)


@given(st.binary() | st.text() | st.integers() | st.lists(st.text()))
def test_what_is_given_arrives_as_it_was(value):
    assert values_from_json(values_as_json({"value": value})) == {"value": value}


@given(JSON)
def test_any_file_is_read_or_refused(cells):
    with contextlib.suppress(UnreadableFileError):
        assert all(isinstance(cell, str) for cell in exercise_cells(json.dumps({"cells": cells}).encode()))


CALLS = ("begin", "sign_in", "advance", "messages", "answered", "verdict", "now", "", "..")


class TestGradingService:
    def ask(self, grader: GradingService, call: str, body: object, key: str | None) -> int:
        headers = Headers([("Authorization", f"Bearer {key}")] if key else [])
        text = json.dumps(body).encode()
        return grader.handle(Request("POST", f"http://127.0.0.1/_course/{call}", headers, text)).status

    @given(st.sampled_from(CALLS), JSON)
    def test_every_request_has_a_response(self, call: str, body):
        grader = GradingService()
        key = grader.open("0")

        assert self.ask(grader, call, body, key) in (200, 400, 401)
        grader.close(key)

    @few
    @given(
        st.fixed_dictionaries({"exercise": st.just("believe-nobody"), "number": JSON, "answer": JSON, "seconds": JSON})
    )
    def test_unusual_values_are_refused(self, body):
        grader = GradingService()
        key = grader.open("0")
        self.ask(grader, "begin", body, key)

        assert {self.ask(grader, call, body, key) for call in ("answered", "advance", "sign_in")} <= {200, 400}
        assert not grader.close(key)["believe-nobody"].solved

    @pytest.mark.parametrize("key", [None, "", "guessed", "x" * 1000])
    def test_refuses_a_request_without_a_key(self, key: str | None):
        grader = GradingService()
        grader.open("0")

        assert self.ask(grader, "begin", {"exercise": "too-often"}, key) == 401

    def test_one_submission_cannot_reach_into_another(self):
        grader = GradingService()
        ada, bob = grader.open("ada"), grader.open("bob")
        self.ask(grader, "begin", {"exercise": "upload-with-a-name"}, ada)

        assert self.ask(grader, "verdict", {"exercise": "upload-with-a-name"}, bob) == 400
        assert grader.close(bob)["upload-with-a-name"].outcome is ExerciseOutcome.NOT_TRIED

    @pytest.mark.parametrize("seconds", ["nan", "inf", "-1", 10**400, None, [], "x"])
    def test_the_clock_takes_only_valid_durations(self, seconds: object):
        grader = GradingService()
        key = grader.open("0")
        self.ask(grader, "begin", {"exercise": "too-often"}, key)

        assert self.ask(grader, "advance", {"exercise": "too-often", "seconds": seconds}, key) == 400

    def test_a_token_of_an_earlier_beginning_opens_nothing(self):
        grader = GradingService()
        key = grader.open("ada")
        headers = Headers([("Authorization", f"Bearer {key}")])
        body = b'{"exercise": "too-often"}'
        first = grader.handle(Request("POST", "http://127.0.0.1/_course/begin", headers, body))
        token = json.loads(first.content())["token"]
        listed = Request("GET", "http://127.0.0.1/storage/v3/files", Headers([("Authorization", f"Bearer {token}")]))

        assert grader.handle(listed).status == 200
        grader.handle(Request("POST", "http://127.0.0.1/_course/begin", headers, body))
        assert grader.handle(listed).status == 401
        grader.close(key)
