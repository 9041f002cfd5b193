"""Copies the JupyterLab settings of `svc-notebooks lab` to the environment in `.venv`, or on Binder.

    python tools/quiet_lab.py

The settings are stored below `sys.prefix`, so the user's own settings do not change.
"""

import shutil
import sys
from pathlib import Path

from svc_notebooks.cli.notebook_files import FOLDER


def main() -> None:
    """Copy the settings to the folder that every Jupyter of this environment reads."""
    shutil.copytree(FOLDER, Path(sys.prefix, "etc", "jupyter"), dirs_exist_ok=True)


if __name__ == "__main__":
    main()
