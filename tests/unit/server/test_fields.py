"""The `fields` mask and the checks of file metadata."""

from __future__ import annotations

import pytest

from svc_notebooks.core import field_mask
from svc_notebooks.core.brand_names import Names
from svc_notebooks.core.errors.catalogue import ApiError
from svc_notebooks.core.files.fields import FILE_SHAPE, LIST_SHAPE, check_file
from svc_notebooks.core.policy import Policy

VALUE = {"a": 1, "b": {"c": 2, "d": 3}, "e": [{"f": 1, "g": 2}, {"f": 3}]}


@pytest.mark.parametrize(
    "mask, selected",
    [
        ("a", {"a": 1}),
        ("b/c", {"b": {"c": 2}}),
        ("b(c,d)", {"b": {"c": 2, "d": 3}}),
        ("e(f)", {"e": [{"f": 1}, {"f": 3}]}),
        ("e/g,a", {"a": 1, "e": [{"g": 2}, {}]}),
        ("*", VALUE),
        (" a , b / d ", {"a": 1, "b": {"d": 3}}),
    ],
)
def test_a_mask_selects(mask, selected):
    assert field_mask.apply(field_mask.parse(mask), VALUE) == selected


@pytest.mark.parametrize("mask", ["a,", "a(b", "a)", "a//b", "(a)", "a b", ",", "a(" * 100])
def test_what_is_no_mask_is_refused(mask):
    with pytest.raises(ApiError) as caught:
        field_mask.parse(mask)

    assert (caught.value.status, caught.value.rows[0].location) == (400, "fields")


@pytest.mark.parametrize("mask", ["etag", "files(nothing)", "files/owners/shoe", "kind/x"])
def test_an_unknown_name_is_refused(mask):
    with pytest.raises(ApiError):
        field_mask.check(field_mask.parse(mask), LIST_SHAPE)


@pytest.mark.parametrize("mask", ["*", "id,owners(emailAddress)", "properties/anything", "thumbnailLink"])
def test_a_known_name_is_taken_even_if_it_is_never_filled(mask):
    field_mask.check(field_mask.parse(mask), FILE_SHAPE)


def test_everything_that_is_wrong_is_said_at_once_and_values_come_first():
    with pytest.raises(ApiError) as caught:
        check_file({"kind": "x", "name": 5, "starred": "yes", "shoe": 1}, creating=True, names=Names(), policy=Policy())

    assert [(row.status, row.location) for row in caught.value.rows] == [
        (400, "name"),
        (400, "starred"),
        (403, "kind"),
        (403, "shoe"),
    ]


@pytest.mark.parametrize(
    "body",
    [
        {"name": "\ud800"},
        {"mimeType": "text/plain\r\nX: y"},
        {"mimeType": "text"},
        {"createdTime": "yesterday"},
        {"folderColorRgb": "red"},
        {"properties": {"k": 1}},
        {"properties": {"k": "v" * 200}},
        {"parents": ["a", "b"]},
        {"parents": "a"},
        {"shortcutDetails": {}},
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_with_its_name(body):
    with pytest.raises(ApiError) as caught:
        check_file(body, creating=True, names=Names(), policy=Policy())

    assert caught.value.rows[0].location == next(iter(body))


def test_id_and_parents_are_for_creating_alone():
    check_file({"id": "x", "parents": ["p"]}, creating=True, names=Names(), policy=Policy())

    with pytest.raises(ApiError) as caught:
        check_file({"id": "x", "parents": ["p"]}, creating=False, names=Names(), policy=Policy())
    assert caught.value.status == 403
