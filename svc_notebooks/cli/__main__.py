"""`python -m svc_notebooks.cli` is `svc-notebooks`, where scripts are not on the PATH."""

import sys

from . import main

sys.exit(main())
