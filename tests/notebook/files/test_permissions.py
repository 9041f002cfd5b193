import pytest

import svc_notebooks as svc
from svc_notebooks.core.errors.errors import NotFound


@pytest.fixture
def bob(lab):
    return lab.sign_in("bob@svc.example")


def test_a_frame_is_shared_with_a_list_of_grantees(lab, bob):
    files = svc.upload([b"1", b"2"], name=["one", "two"])
    shared = svc.share(files, ["bob@svc.example", "domain:example.org", "anyone"], role="commenter")

    assert shared["type"].tolist() == ["user", "domain", "anyone"] * 2
    assert shared["file_id"].tolist() == [file for file in files["id"] for _ in range(3)]
    assert shared["email_address"].dropna().tolist() == ["bob@svc.example"] * 2
    assert svc.files(session=bob)["name"].sort_values().tolist() == ["one", "two"]
    assert svc.files("sharedWithMe", session=bob)["id"].sort_values().tolist() == sorted(files["id"])


def test_unshare_removes_a_permission_by_its_id_or_address(lab, bob):
    file = svc.upload(b"plan", name="plan.txt")
    shared = svc.share(file, ["eve@svc.example", "bob@svc.example", "anyone"])

    assert svc.unshare(file, shared["id"][0])["email_address"].tolist() == ["eve@svc.example"]
    assert "eve@svc.example" not in svc.permissions(file)["email_address"].tolist()
    with pytest.raises(svc.NotAllowed):
        svc.unshare(file, svc.permissions(file)["id"][0])  # the owner's
    assert svc.unshare(file, ["Bob@svc.example", "anyone"])["type"].tolist() == ["user", "anyone"]
    with pytest.raises(NotFound):
        svc.file(file, session=bob)
    with pytest.raises(ValueError, match="is not shared with 'anyone'"):
        svc.unshare(file, "anyone")


@pytest.mark.parametrize(
    "with_, role, kind, words",
    [
        ("bob", "reader", ValueError, "give an e-mail address"),
        (5, "reader", TypeError, "with_ must be"),
        ("bob@svc.example", "king", ValueError, "role is 'king'; it must be one of reader, commenter, writer"),
        ("two words@svc example", "reader", ValueError, "with_ has 'two'; give an e-mail address"),
    ],
)
def test_invalid_arguments_are_refused(lab, with_, role, kind, words):
    with pytest.raises(kind, match=words):
        svc.share(svc.upload(b"x"), with_, role=role)
