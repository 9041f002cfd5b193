"""Serves the exercises of submissions from the teacher's process, so that their code cannot change the results."""

import json
import secrets
from threading import RLock
from typing import Any

from ..core.errors.catalogue import ApiError, refuse
from ..core.http.messages import JSONObject, Query, Request, Response, as_body
from ..core.policy import Policy
from ..core.times import format_time
from ..server.dispatch.requests_and_responses import error_response, json_response
from .catalogue import DEFINITIONS
from .definition import ExerciseOutcome, Verdict
from .exercise_service import ExerciseService
from .student_exercise import COURSE_PATH, values_as_json

# The number of times that a submission can begin an exercise, so that a submission cannot try all answers.
MAX_BEGINS = 10

_MAX_BODY = 64 * 1024
_RANK = (ExerciseOutcome.NOT_TRIED, ExerciseOutcome.NOT_YET, ExerciseOutcome.CORRECT)
_NOT_TRIED = Verdict(ExerciseOutcome.NOT_TRIED, "The exercise was not begun.")


class GradedSubmission:
    """A submission during grading, with a service for each begun exercise and the best result of each exercise."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._exercises: dict[str, ExerciseService] = {}
        self._begin_counts: dict[str, int] = {}
        # The service of an exercise and its own access token, by the random token that the submission has. Exercises
        # derive their own tokens from the seed, so a submission could compute those of other submissions.
        self._tokens: dict[str, tuple[ExerciseService, str]] = {}
        self._best_results: dict[str, Verdict] = {}
        self._lock = RLock()

    def exercise_of(self, token: str) -> tuple[ExerciseService, str] | None:
        """Return the exercise service of an access token, and its own token. Return None for an unknown token."""
        return self._tokens.get(token)

    def _new_token(self, exercise: ExerciseService, own_token: str) -> str:
        token = secrets.token_urlsafe(24)
        self._tokens[token] = exercise, own_token
        return token

    def begin(self, name: str) -> JSONObject:
        """Start a new service for an exercise, and return its token, its values and its time as JSON.

        An earlier service of the exercise is checked and closed, and the better result is kept. Raises ApiError if the
        exercise does not exist or was begun too often.
        """
        with self._lock:
            if name not in DEFINITIONS:
                raise refuse("badRequest", message=f"there is no exercise {name!r}")
            self._begin_counts[name] = self._begin_counts.get(name, 0) + 1
            if self._begin_counts[name] > MAX_BEGINS:
                message = f"exercise {name!r} was begun {MAX_BEGINS} times, which is the limit"
                raise refuse("badRequest", message=message)
            self._end(name)
            exercise = ExerciseService(DEFINITIONS[name], f"{self._seed}/{self._begin_counts[name]}")
            self._exercises[name] = exercise
            token = self._new_token(exercise, exercise.token)
            given = values_as_json(exercise.values)
            return {"token": token, "given": given, "chance": exercise.chance_seed, **_instant(exercise)}

    def act(self, action: str, name: str, body: dict[str, Any]) -> JSONObject:
        """Perform an action of a RemoteEnvironment, and return its result as JSON.

        Raises ApiError for an unknown action, and before `begin`, and ValueError for wrong values.
        """
        if action == "begin":
            return self.begin(name)
        exercise = self.exercise(name)
        match action:
            case "sign_in":
                with self._lock:
                    own_token = exercise.sign_in(str(body["client"]), [str(scope) for scope in body["scopes"]])
                    return {"token": self._new_token(exercise, own_token)}
            case "advance":
                exercise.clock.advance(float(body["seconds"]))
                return _instant(exercise)
            case "messages":
                return {"messages": [{**message} for message in exercise.messages()]}
            case "answered":
                outcome = body["answer"]
                exercise.record_outcome(int(body["number"]), outcome if isinstance(outcome, int) else str(outcome))
                return {}
            case "verdict":
                return exercise.result().to_json()
        raise refuse("badToken")

    def exercise(self, name: str) -> ExerciseService:
        """Return the service of an exercise. Raises ApiError if the exercise was not begun."""
        if name not in self._exercises:
            raise refuse("badRequest", message=f"exercise {name!r} was not begun")
        return self._exercises[name]

    def _end(self, name: str) -> None:
        exercise = self._exercises.pop(name, None)
        if exercise is None:
            return
        self._tokens = {token: entry for token, entry in self._tokens.items() if entry[0] is not exercise}
        result = exercise.result()
        results = (self._best_results.get(name, _NOT_TRIED), result)
        self._best_results[name] = max(results, key=lambda each: (_RANK.index(each.outcome), each.points))
        exercise.close()

    def end(self) -> dict[str, Verdict]:
        """Check and close all services, and return a dict from the name of every exercise to its best result."""
        with self._lock:
            for name in list(self._exercises):
                self._end(name)
            return {name: self._best_results.get(name, _NOT_TRIED) for name in DEFINITIONS}


class GradingService:
    """Serves the exercises of all submissions at one address. The access token selects submission and exercise."""

    policy = Policy(live_page=False)
    provider = None

    def __init__(self) -> None:
        self._submissions: dict[str, GradedSubmission] = {}

    def open(self, seed: str) -> str:
        """Register a submission with a seed for its exercise data, and return the submission's key (str)."""
        key = secrets.token_urlsafe(24)
        self._submissions[key] = GradedSubmission(seed)
        return key

    def close(self, key: str) -> dict[str, Verdict]:
        """End the submission with this key, and return a dict from the name of every exercise to its best result."""
        return self._submissions.pop(key).end()

    def handle(self, request: Request) -> Response:
        """Return the response to a request. Raises Disconnected if a fault or too many requests cut the connection."""
        token = (request.headers.get("Authorization") or "").rpartition(" ")[2]
        if request.path.startswith(f"{COURSE_PATH}/"):
            return self._act(request, self._submissions.get(token))
        for submission in list(self._submissions.values()):
            if known := submission.exercise_of(token):
                exercise, own_token = known
                headers = request.headers.plus(("Authorization", f"Bearer {own_token}"))
                return exercise.recorder.handle(Request(request.method, request.url, headers, request.body))
        is_page = request.path == "/" or request.path.startswith("/_live/")
        return error_response(refuse("notFound", message="there is no live page.") if is_page else refuse("badToken"))

    def user_of(self, token: str) -> str | None:
        """Return a known access token as the name of its user, and None for an unknown token.

        The server divides its threads between users, so each token gets its own share.
        """
        return token if any(submission.exercise_of(token) for submission in list(self._submissions.values())) else None

    def _act(self, request: Request, submission: GradedSubmission | None) -> Response:
        try:
            if submission is None:
                raise refuse("badToken")
            body = json.loads(as_body(request.body).read(_MAX_BODY))
            if not isinstance(body, dict):
                raise ValueError("the body must be a JSON object")
            action = request.path.removeprefix(f"{COURSE_PATH}/")
            return json_response(Query(), submission.act(action, str(body.get("exercise")), body))
        except ApiError as error:
            return error_response(error)
        except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
            return error_response(refuse("badRequest", message=str(error)))


def _instant(exercise: ExerciseService) -> JSONObject:
    return {"now": format_time(exercise.clock.now())}
