"""Exercises about sharing one file with one person, and about signing in with the narrowest scopes."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from ..definition import ExerciseDefinition, require
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
    require(
        shares,
        f"The service received {quantity(len(evidence.requests), 'request')}, and none of them shares a file. Use svc.share.",
    )
    for request in shares:
        _require_narrow_grant(request, evidence.values["email"])
    other_files = [request for request in shares if f"/{evidence.values['file_id']}/" not in request.path]
    require(not other_files, "A file other than given.file_id was shared, too. Look at the paths in svc.exchanges().")
    permissions = evidence.permissions(evidence.values["file_id"])
    guests = [permission for permission in permissions if permission.get("role") != "owner"]
    require(guests, "Only the owner has access to the file given.file_id. Look at svc.permissions(given.file_id).")
    require(
        len(guests) == 1,
        f"The file has {len(guests)} permissions besides the owner's instead of one. Look at"
        " svc.permissions(given.file_id).",
    )
    role = guests[0].get("role")
    require(
        role == "commenter",
        f"The role of {evidence.values['email']} is {role!r}, which is not the role for comments."
        " The roles are reader, commenter and writer.",
    )
    return "One person can read and comment on one file, and at no time could anybody do more."


def _require_narrow_grant(request: RecordedRequest, email: str) -> None:
    body = request.request_json
    grantee_type, role = body.get("type", "user"), body.get("role")
    require(
        grantee_type == "user",
        f"A permission had the type {grantee_type!r}, so more than one person had access. Give the"
        " address of one person.",
    )
    require(
        body.get("emailAddress", email) == email,
        f"The file was shared with {body.get('emailAddress')!r}, and not with given.email.",
    )
    require(
        role in ("reader", "commenter"),
        f"A permission had the role {role!r}, which allows changes of the file. Use a role that allows only comments.",
    )


SHARE = ExerciseDefinition(
    name="share-with-one",
    theme="people",
    title="Share with one person",
    text=(
        "Share the file `given.file_id` with `given.email` so that this person can read it and comment on it, but not change"
        " it. Nobody else may get access, and no other file may be shared, not even for a short time."
    ),
    hints=(
        "Use `svc.share(file, with_, role=...)`. What is the default role?",
        "The roles are reader, commenter and writer. Each includes the rights of the role before it.",
        "`svc.permissions(file)` lists the permissions.",
    ),
    set_up=_set_up_share,
    check=_check_share,
    changes=("permissions.create", "permissions.update", "permissions.delete"),
)


_PROGRAMS = {
    "catalogue": (("files.list",), "storage.metadata.readonly", "listed the names of the files"),
    "reader": (("files.get",), "storage.readonly", "downloaded the content of given.file_id"),
    "diary": (("files.create", "upload.session"), "storage.file", "uploaded a file called diary.txt"),
}


def _set_up_scope(exercise: ExerciseService, rng: Random) -> dict[str, Value]:
    secret = f"The key is under stone {rng.randrange(2, 99)}.".encode()
    return {"file_id": put_file(exercise.session(), "letter.txt", secret)}


def _check_scope(evidence: Evidence) -> str:
    for program, (operations, scope, work) in _PROGRAMS.items():
        requests = [request for request in evidence.requests if request.client == program]
        require(
            requests,
            f"The service received no request of the program {program!r}. Use given.sign_in, and the session that it returns.",
        )
        for request in requests:
            _require_narrow_scope(program, request.scopes, scope)
        completed = [
            request
            for request in requests
            if request.operation in operations and request.succeeded and _is_expected_request(request, evidence)
        ]
        require(
            completed,
            f"The program {program!r} has signed in, but no request shows that it {work}. Pass its session to the call as session=.",
        )
    other_requests = [
        request for request in evidence.requests if request.client not in _PROGRAMS and request.operation is not None
    ]
    require(
        not other_requests,
        f"{quantity(len(other_requests), 'request')} used your own token, which has all scopes. Pass the"
        " session of a program to each call as session=.",
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
            f"The token of {program!r} has the scope {scope_names}: that is not the narrowest that does its work. See"
            " 07-identity-and-scopes for others.",
        )


def _is_expected_request(request: RecordedRequest, evidence: Evidence) -> bool:
    if request.operation == "files.get":
        whole = request.query.get("alt") == "media" and request.status == 200
        return whole and request.path.endswith(f"/{evidence.values['file_id']}")
    if request.operation == "files.list":
        return any("name" in file for file in request.response_json.get("files", []))
    return any(file["id"] == request.response_json.get("id") for file in evidence.files_with_name("diary.txt"))


SCOPE = ExerciseDefinition(
    name="the-narrowest-scope",
    theme="people",
    title="The narrowest scope",
    text=(
        "Sign in three programs, each with the one scope that is the narrowest for its work. `catalogue` lists the names of"
        " your files. `reader` downloads the content of `given.file_id`. `diary` uploads a new file, `diary.txt`."
        " `given.sign_in(program, [scope])` returns a session for a program, which you pass to a call as `session=`."
    ),
    hints=(
        "`07-identity-and-scopes` uses several scopes. `storage` allows every operation on files, so it is never the narrowest.",
        "A name is metadata, and content is not. Both `catalogue` and `reader` need a scope that ends in `readonly`.",
        "A program that needs only the files that it created uses `storage.file`.",
    ),
    set_up=_set_up_scope,
    check=_check_scope,
)

ALL = (SHARE, SCOPE)
