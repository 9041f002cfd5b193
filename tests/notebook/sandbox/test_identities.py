import json
import stat
import traceback

import pytest
import requests

import svc_notebooks as svc


def test_a_service_account_gets_new_tokens_by_itself_and_acts_for_delegated_users(lab):
    night = lab.sign_in(lab.service_account("robot"))
    lab.clock.advance("1d")
    assert svc.files(session=night).empty
    assert svc.exchanges(session=night)["path"].tolist() == ["/token", "/storage/v3/files"] * 2

    other = lab.service_account("other", delegation=["storage.readonly"])
    svc.upload(b"hers", name="hers.txt")
    acting = lab.sign_in(other, scopes=["storage.readonly"], subject="ada@svc.example")
    assert svc.token_info(session=acting)["email"].tolist() == ["ada@svc.example"]
    assert svc.files(session=acting)["name"].tolist() == ["hers.txt"]
    with pytest.raises(svc.NotSignedIn, match="not allowed to act"):
        lab.sign_in(other, scopes=["storage"], subject="ada@svc.example")
    with pytest.raises(ValueError, match="subject"):
        lab.sign_in("bob@svc.example", subject="ada@svc.example")
    with pytest.raises(ValueError, match=r"storage\.nothing"):
        lab.sign_in(scopes=["storage.nothing"])


@pytest.mark.spec("T-05", "T-05a", "T-05c")
def test_keys_and_secrets_are_never_displayed(lab, tmp_path):
    robot, album = lab.service_account("robot"), lab.oauth_client("Album")
    line = robot.key["private_key"].splitlines()[1]

    try:
        svc.service_account_token({**robot.key, "type": "other"}, ["x"])
    except ValueError:
        shown = traceback.format_exc()
    session = lab.sign_in(robot)

    everything = f"{robot!r} {robot} {album!r} {session!r} {shown} {svc.exchange(1, session=session)}"
    assert line not in everything
    assert album.client_secret not in everything


def test_a_key_file_is_readable_by_its_owner_only_and_an_invalid_one_is_not_displayed(lab, tmp_path):
    robot, other = lab.service_account("robot"), lab.service_account("other")
    path = robot.save(tmp_path / "key.json")
    assert json.loads(path.read_text()) == robot.key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert robot.save(path) == path  # the same key again
    with pytest.raises(FileExistsError, match="exists with other content"):
        other.save(path)
    assert json.loads(other.save(path, overwrite=True).read_text()) != robot.key

    path.write_text("secret notes")
    with pytest.raises(ValueError, match=r"key\.json") as refused:
        svc.service_account_token(path, ["https://svc.example/auth/storage"])
    assert "secret" not in str(refused.value)


@pytest.mark.spec("A6-04", "A6-04c")
def test_download_warns_of_each_flagged_file_and_of_no_other(lab, tmp_path):
    files = svc.upload([b"a", b"b", b"c"], name=["a.bin", "b.bin", "c.bin"])
    lab.flag(files.head(2))

    with pytest.warns(svc.AbusiveFileWarning) as shown:
        svc.download(files, tmp_path, acknowledge_abuse=True)

    assert [str(warning.message).partition(" ")[0] for warning in shown] == ["a.bin", "b.bin"]
    assert {warning.filename for warning in shown} == {__file__}
    assert (tmp_path / "b.bin").read_bytes() == b"b"


def test_the_token_for_other_programs_is_that_of_the_own_user_and_its_repr_is_redacted(lab):
    server = lab.serve()
    headers = {"Authorization": f"Bearer {lab.access_token}"}
    about = requests.get(f"{server.base_url}/storage/v3/about?fields=user", headers=headers)

    assert about.json()["user"]["emailAddress"] == "ada@svc.example"
    assert repr(lab.access_token) == "'[redacted]: print() and str() show it'"
    assert type(str(lab.access_token)) is str
    for shown in (f"{lab.access_token!r}", "[redacted]"):
        refused = requests.get(about.url, headers={"Authorization": f"Bearer {shown}"})
        message = refused.json()["error"]["message"]
        assert "shown in place of a token: print(lab.access_token) shows the token" in message
        with pytest.raises(ValueError, match="is the text that is shown in place of a token"):
            svc.connect(server.base_url, shown)


def test_a_created_token_has_its_user_and_scopes(lab):
    token = lab.create_access_token("bob@svc.example", scopes=["storage.readonly"], expires_in="1h")
    info = svc.token_info(session=svc.connect(lab.serve().base_url, token))
    assert info[["email", "scopes"]].values.tolist() == [["bob@svc.example", ["storage.readonly"]]]
