"""Tests that every exercise accepts its solution under every seed, and refuses wrong answers with the reason."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

from svc_notebooks.course.catalogue import DEFINITIONS
from svc_notebooks.course.check_result import ExerciseOutcome
from svc_notebooks.course.exercise_service import ExerciseService


def _import_module(name: str):
    """A module of this folder, which is no package."""
    spec = importlib.util.spec_from_file_location(f"course_{name}", Path(__file__).with_name(f"{name}.py"))
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


answers, right, wrong = _import_module("answers"), _import_module("right"), _import_module("wrong")
CASES = [pytest.param(name, answer, id=f"{name}: {answer.idea}") for name, all in wrong.WRONG.items() for answer in all]


@pytest.mark.parametrize("name", DEFINITIONS)
@pytest.mark.parametrize("seed", ["0", "ada/3", "Ünal/17"])
def test_the_solution_is_accepted(name: str, seed: str):
    result = answers.answered(name, answers.solution(name), seed)

    assert result.outcome is ExerciseOutcome.CORRECT, result.message


@pytest.mark.parametrize(
    "name, code",
    [pytest.param(name, code, id=f"{name}: {idea}") for name, all in right.RIGHT.items() for idea, code in all.items()],
)
def test_another_correct_answer_is_accepted(name: str, code: str):
    result = answers.answered(name, code, "another")

    assert result.outcome is ExerciseOutcome.CORRECT, result.message


@pytest.mark.parametrize("name", DEFINITIONS)
def test_nothing_done_is_not_tried(name: str):
    assert answers.answered(name, "").outcome is ExerciseOutcome.NOT_TRIED


@pytest.mark.parametrize("name, answer", CASES)
def test_a_wrong_answer_is_refused_with_the_missing_requirement(name: str, answer):
    result = answers.answered(name, answer.code, "other")

    assert result.outcome is ExerciseOutcome.NOT_YET
    assert re.search(answer.says, result.message), result.message


@pytest.mark.parametrize("name", DEFINITIONS)
def test_every_exercise_has_ten_different_wrong_answers_or_more(name: str):
    assert len({answer.code for answer in wrong.WRONG[name]}) >= 10
    assert len({answer.says for answer in wrong.WRONG[name]}) >= 3


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
    definition, solution = DEFINITIONS[name], answers.solution(name).strip()

    assert len(definition.hints) >= 3
    assert not [hint for hint in (definition.text, *definition.hints) if solution in hint]
