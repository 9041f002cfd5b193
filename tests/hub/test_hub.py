"""The configuration of docs/hub.md with JupyterHub, its proxy and three users: `make hub-tests`."""

import re

import pytest
import requests

from tests.hub.hub_process import USERS, HubUser, configuration, running_hub

pytestmark = pytest.mark.hub

PREFIX = "/services/svc"
LONG = 60


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    with running_hub(tmp_path_factory.mktemp("hub")) as url:
        yield url


@pytest.fixture(scope="module")
def users(url):
    users = {name: HubUser(url, name) for name in USERS}
    for user in users.values():
        user.sign_in()
    return users


@pytest.fixture(scope="module")
def notebooks(users):
    """Ada and bob with a kernel each, which is connected to the service."""
    notebooks = {name: users[name] for name in ("ada", "bob")}
    for user in notebooks.values():
        user.start_server()
        user.run("import svc_notebooks as svc\nsession = svc.connect()")
    return notebooks


def call(url: str, path: str, token: str) -> requests.Response:
    return requests.get(url + PREFIX + path, headers={"Authorization": f"Bearer {token}"}, timeout=LONG)


def test_the_configuration_has_at_most_30_lines():
    assert len(configuration().splitlines()) <= 30


def test_the_token_of_a_user_with_the_scope_is_an_access_token(url, users):
    address = "/storage/v3/about?fields=user"
    tokens = (users["bob"].token(), "unknown", users["bob"].token(scopes=["read:users!user"]))
    answers = [call(url, address, token) for token in tokens]

    assert [answer.status_code for answer in answers] == [200, 401, 403]
    assert answers[0].json()["user"]["emailAddress"] == "bob@svc.example"
    assert "access:services!service=svc" in answers[2].json()["error"]["message"]


def test_only_an_administrator_may_use_the_control_interface(url, users):
    statuses = {name: call(url, "/_control/clock", user.token()).status_code for name, user in users.items()}

    assert statuses == {"ada": 200, "bob": 403, "eve": 403}


def test_links_lead_through_the_proxy(url, users):
    headers = {"Authorization": f"Bearer {users['eve'].token()}"}
    upload = f"{url}{PREFIX}/upload/storage/v3/files"
    session_uri = requests.post(f"{upload}?uploadType=resumable", headers=headers, timeout=LONG).headers["Location"]
    made = requests.put(session_uri, data=b"hello", headers=headers, timeout=LONG)

    assert session_uri.startswith(f"{upload}?")
    assert made.status_code == 200


def test_two_users_share_a_file_in_notebooks(notebooks):
    ada, bob = notebooks["ada"], notebooks["bob"]
    ada.run("file = svc.upload(b'from ada', name='shared.txt')\nsvc.share(file, 'bob@svc.example', role='writer')")
    assert "from ada" in bob.run("print(svc.read(svc.files(name='shared.txt')))")


def test_one_user_is_notified_of_the_change_of_another(notebooks):
    ada, bob = notebooks["ada"], notebooks["bob"]
    bob.run("rx = svc.receiver(register=True)")  # for the channels of bob only, without an administrator
    file_id = ada.run(
        "file = svc.upload(b'first', name='watched.txt')\nsvc.share(file, 'bob@svc.example', role='writer')\n"
        "print(file['id'].iloc[0])"
    )
    bob.run(f"channel = svc.watch_file({file_id!r}, receiver=rx)\nrx.wait_for('sync', timeout=60)")
    ada.run("svc.update(file, description='changed by ada')")
    assert "update" in bob.run("print(rx.wait_for('update', timeout=60)['state'].tolist())")


def test_an_administrator_resets_a_user_from_a_notebook(notebooks):
    ada, bob = notebooks["ada"], notebooks["bob"]
    bob.run("svc.upload(b'of bob', name='bob.txt')")
    ada.run("school = svc.class_control()\nrow = school.reset('bob@svc.example')")
    empty = bob.run("print(len(svc.files(owner='bob@svc.example')))")
    ada.run("school.restore(row['backup'].item())")
    restored = bob.run("print(svc.read(svc.files(name='bob.txt')))")
    students = ada.run("print(school.students()['email'].tolist())")

    assert empty.strip() == "0"
    assert "of bob" in restored
    assert "bob@svc.example" in students


def test_the_token_is_not_shown_and_not_pickled(notebooks):
    code = (
        "import os, pickle\nsvc.files()\ntoken = os.environ['JUPYTERHUB_API_TOKEN']\n"
        "print(token.encode() in pickle.dumps(session.recipe()), token in repr([*session.exchanges]), session)"
    )
    assert notebooks["bob"].run(code).startswith("False False <Session http")


def test_a_user_signs_in_to_a_page_with_the_hub(url, users):
    eve = users["eve"]
    headers = {"Authorization": f"Bearer {eve.token()}", "Content-Type": "text/plain"}
    upload = f"{url}{PREFIX}/upload/storage/v3/files?uploadType=media&fields=webViewLink"
    link = requests.post(upload, b"text of eve", headers=headers, timeout=LONG).json()["webViewLink"]
    asking = eve.open(link)
    button = re.search(r'href="([^"]*)"', asking.text)
    assert button
    page = eve.consent(eve.open(url + button[1]))

    assert asking.status_code == 401
    assert page.url == link
    assert "text of eve" in page.text
    assert "eve@svc.example" in page.text


def test_signing_out_of_the_service_needs_a_new_sign_in(url, users):
    eve = users["eve"]
    signed_in = eve.consent(eve.open(f"{url}{PREFIX}/signin"))
    page = eve.browser.post(f"{url}{PREFIX}/signout", headers={"Accept": "text/html"}, timeout=LONG)

    assert "eve@svc.example" in signed_in.text
    assert "Signed out" in page.text
    assert "svc_session" not in eve.browser.cookies


def test_an_administrator_opens_the_live_page_with_the_sign_in_of_the_hub(url, users):
    def statuses():
        address = f"{url}{PREFIX}/_live/activity"
        return {name: users[name].browser.get(address, timeout=LONG).status_code for name in ("ada", "eve")}

    before = statuses()
    for name in before:
        users[name].consent(users[name].open(f"{url}{PREFIX}/signin?continue=/"))

    assert before == {"ada": 401, "eve": 401}
    assert statuses() == {"ada": 200, "eve": 403}
