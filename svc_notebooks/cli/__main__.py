"""Runs the command line with `python -m svc_notebooks.cli`, if the script `svc-notebooks` is not on the PATH."""

import sys

from . import main

if __name__ == "__main__":  # the processes of `grade` import this module
    sys.exit(main())
