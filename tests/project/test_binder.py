"""What can be said about the Binder image without building it."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[2]
BINDER = ROOT / "binder"


def test_a_python_is_named_that_the_package_takes():
    # With a binder/ folder pyproject.toml is not read; without a runtime the image has Python 3.10.
    version = re.fullmatch(r"python-(3\.\d+)\n", (BINDER / "runtime.txt").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert version
    assert version[1] in SpecifierSet(project["requires-python"])


def test_start_hands_on_our_settings_and_what_it_was_told():
    words = [BINDER / "start", "bash", "-c", 'echo "$JUPYTER_CONFIG_PATH"; echo "$0" "$@"', "first", "second word"]

    environment = {**os.environ, "REPO_DIR": str(ROOT)}
    process = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)

    settings, arguments = process.stdout.splitlines()
    assert (Path(settings) / "jupyter_server_config.json").is_file()
    assert arguments == "first second word"
