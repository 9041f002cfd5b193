"""JupyterLab whose kernels are forks, as those of `svc-notebooks run`.

A kernel that starts from the beginning needs more than a second of processor time for its imports. Kernels start from
the beginning in the checks of the wheel and of Binder.
"""

import sys

if __name__ == "__main__":  # each kernel imports this module again, and needs nothing of it
    from svc_notebooks.cli.forked_kernels import forked_kernels
    from svc_notebooks.cli.notebook_files import skip_address_parsers

    with forked_kernels({}):
        skip_address_parsers()
        from jupyterlab.labapp import main

        sys.exit(main())
