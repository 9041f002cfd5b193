"""The fixture of the conversion tests, a job in an empty folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from svc_notebooks.convert.job import Job


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """Return a job like the worker's, which `dataclasses.replace` can change."""
    return Job("application/octet-stream", tmp_path, name="Report")
