"""`python -m svc_notebooks.cli` is `svc-notebooks`, where scripts are not on the PATH."""

import sys

from . import main

if __name__ == "__main__":  # the processes of `grade` import what began them
    sys.exit(main())
