import re
from random import Random

import pytest

from svc_notebooks.core.fault_plan import FaultTarget
from svc_notebooks.course.catalogue import DEFINITIONS
from svc_notebooks.course.definition import ExerciseOutcome, Verdict
from svc_notebooks.course.exercise_service import ExerciseService
from svc_notebooks.course.themes.resumable import QUANTUM, draw_faults
from svc_notebooks.server.dispatch.faults import ArmedPlan
from svc_notebooks.server.web.live_page import EXERCISES
from tests.course import answers, right, wrong

RIGHT = answers.read(right.ANSWERS)
WRONG = {
    name: {tuple(head.split(" => ", 1)): code for head, code in all.items()}
    for name, all in answers.read(wrong.ANSWERS).items()
}
CASES = [
    pytest.param(name, code, says, id=f"{name}: {idea}")
    for name, all in WRONG.items()
    for (idea, says), code in all.items()
]


@pytest.mark.parametrize("name", DEFINITIONS)
@pytest.mark.parametrize("seed", ["0", "ada/3", "Ünal/17"])
def test_the_solution_is_accepted(name: str, seed: str):
    result = answers.answered(name, answers.solution(name), seed)

    assert result.outcome is ExerciseOutcome.CORRECT, result.message


@pytest.mark.parametrize(
    "name, code",
    [pytest.param(name, code, id=f"{name}: {idea}") for name, all in RIGHT.items() for idea, code in all.items()],
)
def test_another_correct_answer_is_accepted(name: str, code: str):
    result = answers.answered(name, code, "another")

    assert result.outcome is ExerciseOutcome.CORRECT, result.message


@pytest.mark.parametrize("n, name", [*enumerate(DEFINITIONS)])
def test_a_correct_answer_that_creates_or_changes_something_else_is_refused(n: int, name: str):
    """Each line follows the solutions of three exercises or more."""
    line = wrong.ADDITIONS[n % len(wrong.ADDITIONS)]
    result = answers.answered(name, f"{answers.solution(name)}\n{answers.BEGINNING}{line}")

    assert result.outcome is ExerciseOutcome.NOT_YET
    assert not result.parts[-1].met, result


@pytest.mark.parametrize("name", DEFINITIONS)
def test_nothing_done_is_not_tried(name: str):
    assert answers.answered(name, "").outcome is ExerciseOutcome.NOT_TRIED


@pytest.mark.parametrize("name, code, says", CASES)
def test_a_wrong_answer_is_refused_with_the_missing_requirement(name: str, code: str, says: str):
    result = answers.answered(name, code, "other")

    assert result.outcome is ExerciseOutcome.NOT_YET
    assert re.search(says, result.message), result.message


def _points_of_copies(name: str, code: str, copies: int) -> set[tuple[bool, ...]]:
    """Which parts of the check are met, by the same notebook of several students, whose data differ."""
    verdicts = [answers.answered(name, code, f"student {n}/1") for n in range(copies)]
    return {tuple(part.met for part in verdict.parts) for verdict in verdicts}


@pytest.mark.parametrize("name", DEFINITIONS)
def test_copies_of_an_answer_get_the_same_points(name: str):
    wrong_answers = list(WRONG[name].values())
    sample = [*wrong_answers[2:4], wrong_answers[-2]]

    assert [len(_points_of_copies(name, code, 3)) for code in sample] == [1] * len(sample)


@pytest.mark.marks
@pytest.mark.parametrize("name", DEFINITIONS)
def test_twelve_copies_of_every_answer_get_the_same_points(name: str):
    every = {"solution": answers.solution(name), **RIGHT.get(name, {}), **WRONG[name]}

    assert [idea for idea, code in every.items() if len(_points_of_copies(name, code, 12)) > 1] == []


@pytest.mark.parametrize("asks_first", [False, True])
@pytest.mark.parametrize("seed", range(200))
def test_the_faults_of_every_upload_hit_chunks_and_status_queries_in_all_ways(seed: int, asks_first: bool):
    """The requests are those of a loop that sends a status query after each fault, or before each chunk."""
    plan = ArmedPlan("plan", {"steps": [*draw_faults(Random(seed))], "in_order": True})
    faults = []
    chunk_is_next = not asks_first
    for _ in range(20):
        size = 2 * QUANTUM if chunk_is_next else 0
        _, step = next(plan.steps_for(FaultTarget("upload.session", "PUT", "/upload", None, size)), (None, None))
        if step:
            faults.append((str(step.action), "chunk" if chunk_is_next else "query"))
        chunk_is_next = not step and not (asks_first and chunk_is_next)

    cut = next(action for action, _ in faults if action.startswith("cut_request_after"))
    plain = ("reset before", "status 503")
    assert QUANTUM < int(cut.split()[1]) < 2 * QUANTUM
    assert sorted(faults) == sorted(
        [("reset after", "chunk"), (cut, "chunk"), *((fault, of) for fault in plain for of in ("chunk", "query"))]
    )


@pytest.mark.parametrize("name", DEFINITIONS)
def test_each_seed_has_data_of_its_own_and_always_the_same(name: str):
    def values(seed: str) -> dict[str, object]:
        exercise = ExerciseService(DEFINITIONS[name], seed)
        exercise.close()
        return dict(exercise.values)

    assert values("one") == values("one")
    assert values("one") != values("two")


@pytest.mark.parametrize("name", DEFINITIONS)
def test_hints_do_not_give_the_solution_away(name: str):
    text, solution = DEFINITIONS[name].text, answers.solution(name).strip()

    assert len(text.hints) >= 3
    assert not [hint for hint in (text.task, *text.hints) if solution in hint]


STEPS = {exercise.name: exercise for exercise in EXERCISES}
STEP_CASES = [
    pytest.param(name, code, id=f"{name}: {idea}")
    for name in STEPS
    for idea, code in {"solution": answers.solution(name), **RIGHT.get(name, {})}.items()
]


def test_the_exercises_are_those_of_the_course_in_their_order():
    titles = {name: definition.text.title for name, definition in DEFINITIONS.items() if name != "believe-nobody"}

    assert {name: exercise.title for name, exercise in STEPS.items()} == titles
    assert list(STEPS) == [name for name in DEFINITIONS if name in STEPS]


@pytest.mark.parametrize("name, code", STEP_CASES)
def test_a_correct_answer_does_all_steps(name: str, code: str, monkeypatch: pytest.MonkeyPatch):
    done: list[list[tuple[int, int]]] = []

    check = ExerciseService.result

    def result(exercise: ExerciseService) -> Verdict:
        verdict, view = check(exercise), exercise.service.class_view
        if verdict.outcome is ExerciseOutcome.CORRECT:
            own = [row for row in view.steps() if row["exercise"] == name]
            done.append([(row["step"], row["of"]) for row in own if row["email"] == exercise.service.policy.first_user])
        return verdict

    monkeypatch.setattr(ExerciseService, "result", result)

    answers.answered(name, code, "0")

    count = len(STEPS[name].steps)
    assert done == [[(number, count) for number in range(1, count + 1)]]
