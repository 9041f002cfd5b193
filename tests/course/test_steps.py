"""The steps that a service sees of an exercise: each correct answer does all of them, in order."""

import pytest

from svc_notebooks.course.catalogue import DEFINITIONS
from svc_notebooks.course.definition import ExerciseOutcome, Verdict
from svc_notebooks.course.exercise_service import ExerciseService
from svc_notebooks.server.web.live_page import EXERCISES
from tests.course import answers, right

RIGHT = answers.read(right.ANSWERS)
STEPS = {exercise.name: exercise for exercise in EXERCISES}
CASES = [
    pytest.param(name, code, id=f"{name}: {idea}")
    for name in STEPS
    for idea, code in {"solution": answers.solution(name), **RIGHT.get(name, {})}.items()
]


def test_the_exercises_are_those_of_the_course_in_their_order():
    titles = {name: definition.text.title for name, definition in DEFINITIONS.items() if name != "believe-nobody"}

    assert {name: exercise.title for name, exercise in STEPS.items()} == titles
    assert list(STEPS) == [name for name in DEFINITIONS if name in STEPS]


@pytest.mark.parametrize("name, code", CASES)
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
