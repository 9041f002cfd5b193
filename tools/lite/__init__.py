"""The JupyterLite site: the notebooks and the package in a browser, without a server.

    python -m tools.lite.build [--offline]   writes build/lite, or build/lite-offline
    python -m tools.lite.lock                renews requirements/lite*.txt and lite-pyodide.json (make lite-lock)

wheels.py    which wheels a page can load, and what each of them needs
rehearsal.py the notebooks as a browser would run them, on this machine: no thread, no socket, no other process
pages.py     the notebooks as they lie in the site: what cannot run there is said beside its cell
"""
