"""The settings of `svc-notebooks lab` for a JupyterLab that something else starts: in `.venv`, and on Binder.

    python tools/quiet_lab.py

They go below `sys.prefix`, where the environment keeps its own, so a person's settings stay what they were.
"""

import shutil
import sys
from pathlib import Path

from svc_notebooks.cli.jupyter_settings import FOLDER


def main() -> None:
    """Copy them to where every Jupyter of this environment looks."""
    shutil.copytree(FOLDER, Path(sys.prefix, "etc", "jupyter"), dirs_exist_ok=True)


if __name__ == "__main__":
    main()
