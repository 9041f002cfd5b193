"""The chromium of this machine, which the tests in a browser start."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from tests.browser.page_calls import PATIENCE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SKIP_REASON = "no chromium on this machine (Debian: apt-get install chromium), so nothing was seen in a browser"


def launch(tools: Playwright) -> Browser:
    from playwright.sync_api import expect

    expect.set_options(timeout=PATIENCE)  # 5 seconds are too few on a busy machine
    return tools.chromium.launch(
        executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"], timeout=PATIENCE
    )
