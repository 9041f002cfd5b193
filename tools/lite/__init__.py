"""The JupyterLite site, which runs the notebooks and the package in a browser, without a server.

    python -m tools.lite.build [--bundle]    writes build/lite
    python -m tools.lite.lock                updates requirements/lite*.txt and lite-pyodide.json (make lite-lock)

bundle: Pyodide itself, and its compiled packages.
load_pyodide.mjs: loads Pyodide in the worker of a kernel, and lets cells say what cannot be loaded.
show_missing.js: shows in the page what cannot be loaded, before Python can.
wheels: the wheels that a page can load, and the dependencies of each wheel.
rehearsal: runs the notebooks on this machine without threads, sockets and child processes, as in a browser.
pages: copies the notebooks to the site, with a notice above each cell that cannot run in a browser.
"""
