"""Exercises about who may: sharing one file with one person, and the narrowest scopes."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

from ..definition import Definition
from ..verdict import need
from .content import put_file
from .words import counted

if TYPE_CHECKING:
    from ..definition import Value
    from ..evidence import Evidence, Seen
    from ..exercise_service import ExerciseService

# -- share-with-one


def _lay_out_share(world: ExerciseService, dice: Random) -> dict[str, Value]:
    session, year = world.session(), dice.randrange(2019, 2027)
    ids = {name: put_file(session, f"{name} {year}.txt", name.encode()) for name in ("plan", "plan draft", "budget")}
    who = dice.choice(("bob", "eve", "ivo", "lea"))
    return {"file_id": ids["plan"], "email": f"{who}{dice.randrange(10, 99)}@svc.example"}


def _check_share(saw: Evidence) -> str:
    asked = [one for one in saw.of("permissions.create", "permissions.update") if one.worked]
    need(asked, f"The service saw {counted(len(saw.requests), 'request')}, and none of them shares a file.")
    for one in asked:
        _never_too_much(one, saw.given["email"])
    strange = [one for one in asked if f"/{saw.given['file_id']}/" not in one.path]
    need(not strange, "Another file than the one of given.file_id was shared, too.")
    guests = _guests(saw, saw.given["file_id"])
    need(guests, "Nobody but the owner may see the file of given.file_id.")
    need(len(guests) == 1, f"{len(guests)} permissions stand beside the owner's, and one was wanted.")
    role = guests[0].get("role")
    need(role == "commenter", f"The role of {saw.given['email']} is {role!r}, which is not the one for comments.")
    return "One person may read and comment on one file, and at no moment could anybody do more."


def _never_too_much(one: Seen, email: str) -> None:
    body = one.body
    kind, role = body.get("type", "user"), body.get("role")
    need(kind == "user", f"For a while the file was open to {kind!r}, not to one person.")
    need(body.get("emailAddress", email) == email, f"The file was shared with {body.get('emailAddress')!r}.")
    need(role in ("reader", "commenter"), f"For a while the role was {role!r}, and that may change the file.")


def _guests(saw: Evidence, file_id: str) -> list[dict[str, Any]]:
    return [one for one in saw.permissions(file_id) if one.get("role") != "owner"]


SHARE = Definition(
    name="share-with-one",
    theme="people",
    title="One file, one person",
    text=(
        "`given.email` shall be able to read the file `given.file_id` and to comment on it, and not to change it. Nobody"
        " else gets anything, and no other file is touched; not even for a moment."
    ),
    hints=(
        "`svc.share(file, with_, role=...)`. What does it do when you name no role?",
        "The roles are reader, commenter and writer; each may do what the one before it may.",
        "`svc.permissions(file)` shows who may what.",
    ),
    lay_out=_lay_out_share,
    check=_check_share,
)

# -- the-narrowest-scope

_PROGRAMS = {
    "catalogue": ("files.list", "storage.metadata.readonly", "listed the names of the files"),
    "reader": ("files.get", "storage.readonly", "downloaded the content of given.file_id"),
    "diary": ("files.create", "storage.file", "uploaded a file called diary.txt"),
}


def _lay_out_scope(world: ExerciseService, dice: Random) -> dict[str, Value]:
    secret = f"The key is under stone {dice.randrange(2, 99)}.".encode()
    return {"file_id": put_file(world.session(), "letter.txt", secret)}


def _check_scope(saw: Evidence) -> str:
    for program, (operation, scope, did) in _PROGRAMS.items():
        own = [one for one in saw.requests if one.client == program]
        need(own, f"The service saw no request of the program {program!r}.")
        for one in own:
            _narrow(program, one.scopes, scope)
        did_it = [one for one in own if one.operation == operation and one.worked and _as_meant(one, saw)]
        need(did_it, f"The program {program!r} has signed in, and the service did not see that it {did}.")
    strange = [one for one in saw.requests if one.client not in _PROGRAMS and one.operation is not None]
    need(not strange, f"{counted(len(strange), 'request')} came with your own token, which may do everything.")
    return "Each program could do its work, and nothing else."


def _narrow(program: str, scopes: frozenset[str], scope: str) -> None:
    need(len(scopes) == 1, f"The token of {program!r} has {counted(len(scopes), 'scope')}: one is enough for its work.")
    if scope not in scopes:
        raised = " and ".join(sorted(scopes))
        need(False, f"The token of {program!r} has the scope {raised}: that is not the narrowest that does its work.")


def _as_meant(one: Seen, saw: Evidence) -> bool:
    if one.operation == "files.get":
        return one.path.endswith(f"/{saw.given['file_id']}") and one.query.get("alt") == "media"
    return one.operation != "files.create" or any(
        found["id"] == one.result.get("id") for found in saw.named("diary.txt")
    )


SCOPE = Definition(
    name="the-narrowest-scope",
    theme="people",
    title="No key to the whole house",
    text=(
        "Three programs work for you, and each shall sign in with the one scope that is the narrowest for its work."
        " `catalogue` lists the names of your files. `reader` downloads the content of `given.file_id`. `diary` uploads a"
        " file of its own, `diary.txt`. A session for a program is `given.sign_in(program, [scope])`; give it to a call as"
        " `session=`."
    ),
    hints=(
        "`07-identity-and-scopes` tries some scopes. `storage` opens everything, so it is never the answer here.",
        "Names are metadata; content is more than that. Which two scopes end in `readonly`?",
        "A program that only needs what it has made itself takes `storage.file`.",
    ),
    lay_out=_lay_out_scope,
    check=_check_scope,
)

ALL = (SHARE, SCOPE)
