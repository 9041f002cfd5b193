from io import BytesIO
from itertools import count

import pytest

import svc_notebooks as svc
from svc_notebooks import course
from svc_notebooks.core.http.messages import Headers, Request
from svc_notebooks.course import student_exercise
from svc_notebooks.course.catalogue import DEFINITIONS, THEMES
from svc_notebooks.course.definition import ExerciseOutcome, Verdict
from svc_notebooks.course.evidence import RequestRecorder
from svc_notebooks.course.exercise_service import ExerciseService
from svc_notebooks.server.service import open_service


def solve() -> None:
    given = course.exercise("upload-with-a-name").begin()
    svc.upload(given.content, name=given.name)


class TestBegin:
    def test_makes_its_session_the_current_one_and_lists_what_is_given(self, capsys: pytest.CaptureFixture[str]):
        given = course.exercise("upload-with-a-name").begin()

        assert svc.current_session() is given.session
        assert "given.content" in capsys.readouterr().out
        names = "has no attribute 'file_id'; the attributes are name, content, session, clock"
        with pytest.raises(AttributeError, match=names):
            given.file_id  # noqa: B018 - looking it up is the act

    def test_forgets_what_went_wrong_before_and_sees_no_other_exercise(self):
        exercise, other = course.exercise("upload-with-a-name"), course.exercise("metadata-in-one-request")
        exercise.begin()
        svc.upload(b"wrong")

        assert exercise.check().outcome is ExerciseOutcome.NOT_YET
        other.begin()
        solve()
        assert exercise.check().outcome is ExerciseOutcome.CORRECT
        assert other.check().outcome is ExerciseOutcome.NOT_TRIED

    @pytest.mark.parametrize("variable", ["SVC_COURSE_SEED", "JUPYTERHUB_USER"])
    def test_whoever_sits_at_a_hub_has_data_of_their_own(self, monkeypatch: pytest.MonkeyPatch, variable: str):
        first = course.exercise("upload-with-a-name").begin().name
        monkeypatch.setenv(variable, "ada")

        assert course.exercise("upload-with-a-name").begin().name != first


class TestCheck:
    def test_before_the_beginning_it_says_how_to_begin(self):
        result = course.exercise("expired-session").check()

        assert repr(result) == 'not tried: Begin first: given = course.exercise("expired-session").begin()'

    def test_changes_nothing(self):
        exercise = course.exercise("too-often")
        given = exercise.begin()
        given.send("POST", "/storage/v3/files", {"Content-Type": "application/json"}, b'{"name": "x"}')
        before = len(exercise._environment.exercise.service.journal()), given.clock.now()

        assert exercise.check() == exercise.check()
        assert (len(exercise._environment.exercise.service.journal()), given.clock.now()) == before

    @pytest.mark.parametrize("body", ["{}", {"name": "x"}])
    def test_a_body_that_is_not_bytes_is_refused_with_the_way_to_encode_it(self, body: object):
        given = course.exercise("too-often").begin()

        with pytest.raises(TypeError, match=r"json\.dumps"):
            given.send("POST", "/storage/v3/files", {}, body)

    def test_without_files_it_says_so(self):
        course.exercise("upload-with-a-name").begin()
        svc.trash(svc.upload(b"x", name="x.csv"))

        assert course.exercise("upload-with-a-name").check().message.endswith(". It has no files.")

    def test_what_was_correct_stays_so_in_the_list(self):
        solve()
        verdict = course.exercise("upload-with-a-name").check()
        svc.upload(b"more")

        assert Verdict.from_json(verdict.to_json()) == verdict
        assert course.exercise("upload-with-a-name").check().outcome is ExerciseOutcome.NOT_YET
        outcomes = course.exercises("uploads").set_index("name")["outcome"]
        assert outcomes["upload-with-a-name"] == "correct"

    def test_an_error_in_the_check_is_reported_without_a_traceback(self, monkeypatch: pytest.MonkeyPatch):
        exercise = course.exercise("upload-with-a-name")
        exercise.begin()
        svc.upload(b"x")
        monkeypatch.setattr("svc_notebooks.course.evidence.Evidence.requests_of", lambda *_: 1 / 0)

        assert "error of its own (ZeroDivisionError)" in exercise.check().message

    def test_an_endless_loop_is_stopped_and_reported(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr("svc_notebooks.course.evidence.MAX_REQUESTS", 20)
        exercise = course.exercise("too-often")
        given = exercise.begin()

        with pytest.raises(ConnectionError):
            [given.send("GET", "/storage/v3/files") for _ in count()]
        assert "Is there an endless loop?" in exercise.check().message

    def test_changes_without_requests_do_not_count(self):
        exercise = course.exercise("upload-with-a-name")
        given = exercise.begin()
        exercise_service = exercise._environment.exercise
        files = exercise_service.service._context.store.files
        with exercise_service.service._context.store.transaction():
            from svc_notebooks.client.files import create_file

            create_file(exercise_service.session(), {"name": "x"})
            row = files.get(svc.files(session=exercise_service.session())["id"][0])
            files.save(row._replace(name=given.name))
        exercise_service.service._journal._entries.pop()

        assert exercise.check().outcome is not ExerciseOutcome.CORRECT

    def test_is_shown_as_a_note_with_its_outcome_in_words(self):
        shown = Verdict(ExerciseOutcome.NOT_YET, "a < b")._repr_html_()

        assert 'role="status"' in shown
        assert "not yet." in shown
        assert "a &lt; b" in shown


class TestParts:
    def test_each_part_is_judged_by_itself(self):
        exercise = course.exercise("upload-with-a-name")
        given = exercise.begin()
        svc.update(svc.upload(given.content), name=given.name)

        assert repr(exercise.check()).splitlines()[1:] == [
            "  + a file called given.name (1 of 1)",
            "  + the content of given.content (1 of 1)",
            "  - the name is sent with the content (0 of 2)",
            "  + nothing else is changed (1 of 1)",
        ]
        row = course.exercises().set_index("name").loc["upload-with-a-name"]
        assert (row["points"], row["max_points"]) == (3, 5)

    def test_no_part_is_met_by_doing_nothing(self):
        for name in DEFINITIONS:
            exercise = course.exercise(name, seed=0)
            given = exercise.begin()
            given.send("GET", "/storage/v3/about?fields=user")

            assert (name, exercise.check().points) == (name, 0)

    @pytest.mark.parametrize(
        "name, path, body, message",
        [
            ("share-with-one", "files/{file_id}/permissions", b'{"role": "king"}', "permissions got the status 400: "),
            ("let-the-service-search", "files?q=title", b"", "GET /storage/v3/files got the status 400: q: "),
            ("page-by-page", "changes?pageToken=x", b"", "GET /storage/v3/changes got the status 400: "),
            ("watch-without-a-gap", "files/{file_id}/watch", b"{}", "/watch got the status 400: "),
        ],
    )
    def test_the_message_begins_with_the_refused_request(self, name, path, body, message):
        exercise = course.exercise(name)
        given = exercise.begin()
        path = f"/storage/v3/{path}".format(file_id=given._values.get("file_id"))
        given.send("POST" if body else "GET", path, {"Content-Type": "application/json"}, body)

        assert message in exercise.check().message[:120]

    def test_a_batch_proves_nothing(self):
        exercise = course.exercise("share-with-one")
        given = exercise.begin()
        permission = f'{{"type": "user", "role": "commenter", "emailAddress": "{given.email}"}}'
        request = f"POST /storage/v3/files/{given.file_id}/permissions\r\nContent-Type: application/json"
        body = f"--b\r\nContent-Type: application/http\r\n\r\n{request}\r\n\r\n{permission}\r\n--b--\r\n".encode()
        given.send("POST", "/batch/storage/v3", {"Content-Type": "multipart/mixed; boundary=b"}, body)

        assert exercise.check().message.startswith("A batch does not show its requests one by one")


class TestSolution:
    def test_opens_after_two_failed_checks_of_different_attempts(self):
        exercise = course.exercise("upload-with-a-name")
        exercise.begin()
        svc.upload(b"wrong")
        exercise.check()
        exercise.check()
        with pytest.raises(student_exercise.SolutionClosedError, match="1 more"):
            exercise.solution()
        svc.upload(b"wrong again")
        exercise.check()

        assert "svc.upload(given.content, name=given.name)  # " in exercise.solution()

    def test_opens_with_a_correct_answer_and_is_closed_during_grading(self, monkeypatch: pytest.MonkeyPatch):
        exercise = course.exercise("upload-with-a-name")
        solve()
        exercise.check()

        assert exercise.solution().startswith("```python")
        monkeypatch.setenv("SVC_COURSE_JUDGE", "http://127.0.0.1:9")
        with pytest.raises(student_exercise.SolutionClosedError, match="during grading"):
            exercise.solution()


class TestMessages:
    def test_messages_can_be_delivered_a_limited_number_of_times(self):
        given = course.exercise("believe-nobody").begin()
        for _ in range(5):
            given.deliver_to(lambda headers: 200)

        with pytest.raises(ValueError, match=r"call begin\(\) for new messages"):
            given.deliver_to(lambda headers: 200)

    def test_an_answer_is_final_within_a_delivery(self):
        exercise = ExerciseService(DEFINITIONS["believe-nobody"], "0")
        exercise.messages()
        exercise.record_outcome(0, 200)
        exercise.record_outcome(0, 403)

        assert exercise.receiver_cases[0].outcome == 200


class TestHints:
    def test_one_after_the_other_and_the_last_one_again(self):
        exercise = course.exercise("the-lost-receipt")
        hints = [str(exercise.hint()) for _ in range(4)]

        assert [hint.partition(".")[0] for hint in hints[:3]] == [f"**Hint {n} of 3" for n in (1, 2, 3)]
        assert hints[3] == hints[2]
        assert course.exercises("uploads")["hints_taken"].tolist() == [0, 0, 3]


class TestReset:
    @pytest.mark.parametrize("is_one", [True, False])
    def test_of_one_or_all(self, is_one: bool):
        solve()
        exercise = course.exercise("upload-with-a-name")
        exercise.check()
        exercise.hint()
        exercise.reset() if is_one else course.reset()

        assert (exercise.outcome, exercise.hints_taken) == (ExerciseOutcome.NOT_TRIED, 0)
        assert exercise.check().outcome is ExerciseOutcome.NOT_TRIED
        assert set(course.exercises()["outcome"]) == {"not tried"}

    def test_of_one_among_several_gives_back_what_was_before_all_of_them(self):
        with svc.sandbox() as lab:
            for name in ("upload-with-a-name", "expired-session", "upload-with-a-name"):
                course.exercise(name).begin()
            course.exercise("upload-with-a-name").reset()

            assert svc.current_session() is lab.session


class TestCatalogue:
    def test_has_exercises_for_every_notebook(self):
        assert len(DEFINITIONS) >= 12
        assert all(definitions for _, definitions in THEMES.values())

    def test_an_unknown_name_or_theme_is_refused(self):
        with pytest.raises(ValueError, match="did you mean 'resumable-loop'"):
            course.exercise("resumable-lop")
        with pytest.raises(ValueError, match="theme must be one of uploads"):
            course.exercises("upload")

    def test_a_seed_is_a_start_from_nothing(self):
        solve()
        first = course.exercise("upload-with-a-name")

        assert course.exercise("upload-with-a-name", seed=5) is not first
        assert course.exercise("upload-with-a-name").outcome is ExerciseOutcome.NOT_TRIED

    def test_says_what_it_is_without_a_notebook(self):
        assert repr(course.exercise("expired-session")) == "<Exercise expired-session: not tried>"
        assert "given.session_uri" in course.exercise("expired-session").task
        assert isinstance(course.exercise("expired-session").task, student_exercise.Said)


class TestRecord:
    @pytest.mark.parametrize("stream", [False, True])
    @pytest.mark.parametrize("body, recorded", [(b"{}", b"{}"), (bytes(10**6), bytes(65536))])
    def test_a_body_is_recorded(self, body: bytes, recorded: bytes, stream: bool):
        headers = {"Content-Length": str(len(body))}
        with open_service(seed=0, background=False) as service:
            recorder = RequestRecorder(service)
            headers["Authorization"] = f"Bearer {service.sign_in()}"
            sent = BytesIO(body) if stream else body
            recorder.handle(Request("POST", "https://svc.local/storage/v3/files", Headers(headers), sent))

        assert recorder.records[0].request_body == recorded


def test_the_first_choice_is_kept_and_each_choice_says_why():
    prediction = course.predict("http-range")
    wrong, right, _ = prediction.options
    static = prediction._repr_mimebundle_()["text/html"]

    prediction.choice.value = wrong
    first = prediction.reason.value
    prediction.choice.value = right

    assert "Not quite. </strong>Both ends are included: byte 0" in first
    assert "Right. " in prediction.reason.value
    assert (prediction.first, repr(prediction)) == (wrong, "<Prediction http-range: 3>")
    assert static.count("<li>") == 3
    assert "Both ends" not in static


def test_an_unknown_question_suggests_a_similar_one():
    with pytest.raises(ValueError, match="no question 'http-ranges'; did you mean 'http-range'"):
        course.predict("http-ranges")
