"""What the tests of conversions need: a job in an empty folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from svc_notebooks.convert.job import Job


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A job as the worker makes one; `dataclasses.replace` gives it another type or language."""
    return Job("application/octet-stream", tmp_path, name="Report")
