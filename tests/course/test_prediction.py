"""Tests the answers to a question of a lesson: the first choice is the prediction, and each choice has a reason."""

import pytest

from svc_notebooks import course


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
