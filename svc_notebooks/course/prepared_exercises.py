"""Sets up the exercises of a submission in a thread, while the process of the submission starts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

from .catalogue import DEFINITIONS
from .exercise_service import ExerciseService


class PreparedExercises:
    """The services of exercises that a submission will probably begin, made one after the other in a thread.

    Args:
        names: The names of the exercises, in the order in which they are needed.
        make: The function that makes the service of an exercise.
    """

    def __init__(self, names: Iterable[str], make: Callable[[str], ExerciseService]) -> None:
        self._thread = ThreadPoolExecutor(1)
        self._services = {name: self._thread.submit(make, name) for name in names}

    def take(self, name: str) -> ExerciseService | None:
        """Return the service of an exercise, which belongs to the caller, or None if nobody has begun to make it."""
        service = self._services.pop(name, None)
        return None if service is None or service.cancel() else service.result()

    def close(self) -> None:
        """Close the services that nobody has taken."""
        self._thread.shutdown(cancel_futures=True)
        for service in self._services.values():
            if not service.cancelled() and not service.exception():
                service.result().close()


def begun_in(cells: Iterable[str]) -> list[str]:
    """Return the names of the exercises that code cells seem to begin, in the order of the cells."""
    return list(dict.fromkeys(name for cell in cells if "begin" in cell for name in DEFINITIONS if name in cell))
