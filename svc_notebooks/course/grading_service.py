"""Where exercises are held while a teacher grades: in the teacher's process, one sitting for each submission.

A submission runs in a process of its own, which has an address and a key. The services that it asks are here, and so
are their journals and the checks: what it prints, patches or redefines is no evidence.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from threading import RLock
from typing import TYPE_CHECKING, Any

from ..core.clock import format_time
from ..core.errors.catalogue import ApiError, refuse
from ..core.http.messages import Query, Request, Response, as_body
from ..core.policy import Policy
from ..server.context.responses import error_response, json_response
from .catalogue import DEFINITIONS
from .environment import COURSE, packed
from .exercise_service import ExerciseService
from .verdict import ExerciseOutcome, Verdict

if TYPE_CHECKING:
    from ..core.http.messages import JSON, JSONObject

MOST_BEGUN = 10
"""How often one submission may begin one exercise: who tries all answers is not asked a hundredth time."""

_MOST_BODY = 64 * 1024
_RANK = (ExerciseOutcome.NOT_TRIED, ExerciseOutcome.NOT_YET, ExerciseOutcome.CORRECT)
_UNTRIED = Verdict(ExerciseOutcome.NOT_TRIED, "It was never begun.")


class Sitting:
    """One submission: its worlds, one for each exercise that it has begun, and the best of what came of them."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._worlds: dict[str, ExerciseService] = {}
        self._begun: dict[str, int] = {}
        self._tokens: dict[str, str] = {}
        self._best: dict[str, Verdict] = {}
        self._lock = RLock()

    def world_of(self, token: str) -> ExerciseService | None:
        """The world that a token opens."""
        return self._worlds.get(self._tokens.get(token, ""))

    def begin(self, name: str) -> JSONObject:
        """A new world for an exercise; what came of the one before it is kept. Raises ApiError."""
        with self._lock:
            if name not in DEFINITIONS:
                raise refuse("badRequest", message=f"there is no exercise {name!r}")
            self._begun[name] = self._begun.get(name, 0) + 1
            if self._begun[name] > MOST_BEGUN:
                raise refuse("badRequest", message=f"{name!r} was begun {MOST_BEGUN} times already")
            self._end(name)
            made = ExerciseService(DEFINITIONS[name], f"{self._seed}/{self._begun[name]}")
            self._worlds[name] = made
            self._tokens[made.token] = name
            given: JSONObject = {key: packed(value) for key, value in made.given.items()}
            return {"token": made.token, "given": given, **_instant(made)}

    def sign_in(self, name: str, client: str, scopes: list[str]) -> JSONObject:
        """A token for a program. Raises ValueError, ApiError."""
        with self._lock:
            token = self.world(name).sign_in(client, scopes)
            self._tokens[token] = name
            return {"token": token}

    def world(self, name: str) -> ExerciseService:
        """The world of an exercise that was begun. Raises ApiError."""
        if name not in self._worlds:
            raise refuse("badRequest", message=f"{name!r} was not begun")
        return self._worlds[name]

    def _end(self, name: str) -> None:
        world = self._worlds.pop(name, None)
        if world is None:
            return
        self._tokens = {token: one for token, one in self._tokens.items() if one != name}
        found = world.verdict()
        self._best[name] = max(self._best.get(name, _UNTRIED), found, key=lambda one: _RANK.index(one.outcome))
        world.close()

    def end(self) -> dict[str, Verdict]:
        """Close everything; what became of every exercise."""
        with self._lock:
            for name in list(self._worlds):
                self._end(name)
            return {name: self._best.get(name, _UNTRIED) for name in DEFINITIONS}


class Judge:
    """All sittings, behind one address: a request goes to the world that its token opens, or to the course itself."""

    policy = Policy()

    def __init__(self) -> None:
        self._sittings: dict[str, Sitting] = {}
        self._calls: Mapping[str, Callable[[Sitting, str, JSONObject], JSONObject]] = {
            "begin": lambda sitting, name, _: sitting.begin(name),
            "sign_in": lambda sitting, name, body: sitting.sign_in(name, str(body["client"]), _texts(body["scopes"])),
            "advance": _advance,
            "messages": _messages,
            "answered": _answered,
            "verdict": _verdict,
        }

    def open(self, seed: str) -> str:
        """Begin a sitting, whose data come from this seed: the key that lets a submission in."""
        key = secrets.token_urlsafe(24)
        self._sittings[key] = Sitting(seed)
        return key

    def close(self, key: str) -> dict[str, Verdict]:
        """End a sitting: what became of every exercise."""
        return self._sittings.pop(key).end()

    def handle(self, request: Request) -> Response:
        """The answer of the world that is meant, or of the course. Raises Disconnected where a fault cuts the line."""
        token = (request.headers.get("Authorization") or "").rpartition(" ")[2]
        if request.path.startswith(f"{COURSE}/"):
            return self._called(request, self._sittings.get(token))
        for sitting in list(self._sittings.values()):
            if world := sitting.world_of(token):
                return world.witness.handle(request)
        return error_response(refuse("badToken"))

    def user_of(self, token: str) -> str | None:
        """The user of a token: each submission has its own, so its requests have their own share of the threads."""
        return token if any(sitting.world_of(token) for sitting in list(self._sittings.values())) else None

    def _called(self, request: Request, sitting: Sitting | None) -> Response:
        call = self._calls.get(request.path.removeprefix(f"{COURSE}/"))
        try:
            if sitting is None or call is None:
                raise refuse("badToken")
            body = _body(request)
            return json_response(Query(), call(sitting, str(body.get("exercise")), body))
        except ApiError as error:
            return error_response(error)
        except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
            return error_response(refuse("badRequest", message=str(error)))


def _body(request: Request) -> dict[str, Any]:
    found = json.loads(as_body(request.body).read(_MOST_BODY))
    if not isinstance(found, dict):
        raise ValueError("the body is no JSON object")
    return found


def _texts(value: Any) -> list[str]:
    return [str(one) for one in value]


def _instant(world: ExerciseService) -> JSONObject:
    return {"now": format_time(world.clock.now())}


def _advance(sitting: Sitting, name: str, body: JSONObject) -> JSONObject:
    world = sitting.world(name)
    world.clock.advance(float(str(body["seconds"])))
    return _instant(world)


def _messages(sitting: Sitting, name: str, _: JSONObject) -> JSONObject:
    return {"messages": [{**message} for message in sitting.world(name).messages()]}


def _answered(sitting: Sitting, name: str, body: JSONObject) -> JSONObject:
    answer: JSON = body["answer"]
    number = int(str(body["number"]))
    sitting.world(name).answered(number, answer if isinstance(answer, int) else str(answer))
    return {}


def _verdict(sitting: Sitting, name: str, _: JSONObject) -> JSONObject:
    found = sitting.world(name).verdict()
    return {"outcome": found.outcome.value, "message": found.message}
