"""Creates an environment beside `.venv`, with the packages of one lock.

    python -m tools.added_environment build/docs-env requirements/docs.txt            adds to the packages of `.venv`
    python -m tools.added_environment build/s3-env requirements/s3-server.txt --alone

The installer is uv, which needs a tenth of the processor time of pip. It shares the files of packages with `.venv`.
"""

import argparse
import sysconfig
import venv
from collections.abc import Sequence
from pathlib import Path

from tools.environment import UV, surroundings
from tools.steps import run


def main(words: Sequence[str] | None = None) -> None:
    """Create the environment. If a package cannot be installed, exit with the output of uv."""
    parser = argparse.ArgumentParser(prog="python -m tools.added_environment")
    parser.add_argument("folder", type=Path)
    parser.add_argument("lock", type=Path)
    parser.add_argument("--alone", action="store_true", help="without the packages of .venv")
    arguments = parser.parse_args(words)
    folder: Path = arguments.folder.resolve()
    venv.create(folder, clear=True, symlinks=True)
    if not arguments.alone:
        (site_packages,) = folder.glob("lib/python*/site-packages")
        (site_packages / "checkout.pth").write_text(sysconfig.get_path("purelib") + "\n")
    env = {**surroundings(), "VIRTUAL_ENV": str(folder)}
    run([*UV, "install", "--require-hashes", "--no-deps", "--requirement", arguments.lock], cwd=Path.cwd(), env=env)


if __name__ == "__main__":
    main()
