"""JupyterLab asks nobody about news: this environment answers, and no one's home is written to.

    python tools/quiet_lab.py

Files under `sys.prefix` are the environment's own, so a person's settings stay what they were.
"""

import json
import sys
from pathlib import Path

SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    }
}


def main() -> None:
    """Write the settings where JupyterLab of this environment looks for its defaults."""
    target = Path(sys.prefix, "share", "jupyter", "lab", "settings", "overrides.json")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(SETTINGS, indent=2) + "\n")


if __name__ == "__main__":
    main()
