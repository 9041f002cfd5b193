"""The clock of a session that has no virtual clock."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NoReturn

from .sandbox_only import missing_attribute


class SystemTime:
    """The time of the computer."""

    def now(self) -> datetime:
        """Return the current time in UTC."""
        return datetime.now(UTC)

    if not TYPE_CHECKING:  # otherwise every attribute would exist for mypy

        def __getattr__(self, name: str) -> NoReturn:
            raise missing_attribute(self, name)
