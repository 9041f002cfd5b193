"""The dashboard, a page with all forms as tabs.

dashboard: the page and its tabs.
change_detector: finds out by polling whether something changed, so that the open tab is read again.
exchange_panel: the HTTP exchanges of the session.
sandbox_panel, sandbox_sections: the clock, faults, limits, snapshots and accounts of a sandbox.
"""
