"""Exercises about sharing one file with one person, and about signing in with the narrowest scopes."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from ..check_result import require
from ..definition import ExerciseDefinition
from .content import put_file
from .shared_checks import quantity

if TYPE_CHECKING:
    from ..definition import Value
    from ..evidence import Evidence, RecordedRequest
    from ..exercise_service import ExerciseService


def _set_up_share(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    session, year = exercise.session(), rng.randrange(2019, 2027)
    ids = {name: put_file(session, f"{name} {year}.txt", name.encode()) for name in ("plan", "plan draft", "budget")}
    user = rng.choice(("bob", "eve", "ivo", "lea"))
    return {"file_id": ids["plan"], "email": f"{user}{rng.randrange(10, 99)}@svc.example"}


def _check_share(evidence: Evidence) -> str:
    shares = [
        request for request in evidence.requests_of("permissions.create", "permissions.update") if request.succeeded
    ]
    require(shares, f"The service saw {quantity(len(evidence.requests), 'request')}, and none of them shares a file.")
    for request in shares:
        _require_narrow_grant(request, evidence.values["email"])
    other_files = [request for request in shares if f"/{evidence.values['file_id']}/" not in request.path]
    require(not other_files, "Another file than the one of given.file_id was shared, too.")
    permissions = evidence.permissions(evidence.values["file_id"])
    guests = [permission for permission in permissions if permission.get("role") != "owner"]
    require(guests, "Nobody but the owner may see the file of given.file_id.")
    require(len(guests) == 1, f"{len(guests)} permissions stand beside the owner's, and one was wanted.")
    role = guests[0].get("role")
    require(
        role == "commenter", f"The role of {evidence.values['email']} is {role!r}, which is not the one for comments."
    )
    return "One person may read and comment on one file, and at no moment could anybody do more."


def _require_narrow_grant(request: RecordedRequest, email: str) -> None:
    body = request.request_json
    grantee_type, role = body.get("type", "user"), body.get("role")
    require(grantee_type == "user", f"For a while the file was open to {grantee_type!r}, not to one person.")
    require(body.get("emailAddress", email) == email, f"The file was shared with {body.get('emailAddress')!r}.")
    require(role in ("reader", "commenter"), f"For a while the role was {role!r}, and that may change the file.")


SHARE = ExerciseDefinition(
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
    set_up=_set_up_share,
    check=_check_share,
)


_PROGRAMS = {
    "catalogue": ("files.list", "storage.metadata.readonly", "listed the names of the files"),
    "reader": ("files.get", "storage.readonly", "downloaded the content of given.file_id"),
    "diary": ("files.create", "storage.file", "uploaded a file called diary.txt"),
}


def _set_up_scope(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    secret = f"The key is under stone {rng.randrange(2, 99)}.".encode()
    return {"file_id": put_file(exercise.session(), "letter.txt", secret)}


def _check_scope(evidence: Evidence) -> str:
    for program, (operation, scope, work) in _PROGRAMS.items():
        requests = [request for request in evidence.requests if request.client == program]
        require(requests, f"The service saw no request of the program {program!r}.")
        for request in requests:
            _require_narrow_scope(program, request.scopes, scope)
        completed = [
            request
            for request in requests
            if request.operation == operation and request.succeeded and _is_expected_request(request, evidence)
        ]
        require(completed, f"The program {program!r} has signed in, and the service did not see that it {work}.")
    other_requests = [
        request for request in evidence.requests if request.client not in _PROGRAMS and request.operation is not None
    ]
    require(
        not other_requests,
        f"{quantity(len(other_requests), 'request')} came with your own token, which may do everything.",
    )
    return "Each program could do its work, and nothing else."


def _require_narrow_scope(program: str, scopes: frozenset[str], scope: str) -> None:
    require(
        len(scopes) == 1, f"The token of {program!r} has {quantity(len(scopes), 'scope')}: one is enough for its work."
    )
    if scope not in scopes:
        scope_names = " and ".join(sorted(scopes))
        require(
            False,
            f"The token of {program!r} has the scope {scope_names}: that is not the narrowest that does its work.",
        )


def _is_expected_request(request: RecordedRequest, evidence: Evidence) -> bool:
    if request.operation == "files.get":
        return request.path.endswith(f"/{evidence.values['file_id']}") and request.query.get("alt") == "media"
    return request.operation != "files.create" or any(
        file["id"] == request.response_json.get("id") for file in evidence.files_with_name("diary.txt")
    )


SCOPE = ExerciseDefinition(
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
    set_up=_set_up_scope,
    check=_check_scope,
)

ALL = (SHARE, SCOPE)
