import pytest

from svc_notebooks.core import field_mask
from svc_notebooks.core.brand_names import Names
from svc_notebooks.core.errors.catalogue import ApiError
from svc_notebooks.core.files.fields import check_file
from svc_notebooks.core.policy import Policy


@pytest.mark.parametrize("mask", ["a,", "a(b", "a)", "a//b", "(a)", "a b", ",", "a(" * 100])
def test_what_is_no_mask_is_refused(mask):
    with pytest.raises(ApiError) as caught:
        field_mask.parse(mask)

    assert (caught.value.status, caught.value.rows[0].location) == (400, "fields")


def test_everything_that_is_wrong_is_said_at_once_and_values_come_first():
    with pytest.raises(ApiError) as caught:
        check_file({"kind": "x", "name": 5, "starred": "yes", "shoe": 1}, creating=True, names=Names(), policy=Policy())

    assert [(row.status, row.location) for row in caught.value.rows] == [
        (400, "name"),
        (400, "starred"),
        (403, "kind"),
        (403, "shoe"),
    ]
