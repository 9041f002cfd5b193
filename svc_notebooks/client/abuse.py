"""The warning that a function shows before it downloads a file that was flagged as abusive (A6-04c)."""

from __future__ import annotations

import sys
import warnings

from ..core.errors import AbusiveFileWarning
from .calls import get_file
from .session import Session

_PACKAGE = __name__.partition(".")[0]


def warn_of_abuse(session: Session, file_id: str) -> None:
    """Show an AbusiveFileWarning at the caller's line; Python shows equal ones there once, so once for each file."""
    name = get_file(session, file_id, fields="name").get("name")
    message = f"{name} ({file_id}) was flagged as malware or spam. It is downloaded because acknowledge_abuse is True."
    warnings.warn(message, AbusiveFileWarning, stacklevel=_caller_level())


def _caller_level() -> int:
    """The level of the first frame outside of this package, as `warnings.warn` counts in the function above."""
    level = 2
    while sys._getframe(level).f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        if sys._getframe(level).f_back is None:
            break
        level += 1
    return level
