"""Runs the command line as `python -m svc_notebooks.cli`, for environments whose scripts are not on the PATH."""

import sys

from . import main

if __name__ == "__main__":  # the processes of `grade` import this module
    sys.exit(main())
