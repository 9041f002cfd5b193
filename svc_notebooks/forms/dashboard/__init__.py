"""The dashboard, a page with all forms as tabs.

dashboard: the page, its tabs, and the polling after which the open tab is refreshed.
exchange_panel: the HTTP exchanges of the session, and a request that a person edits and resends.
sandbox_panel: the clock, faults, limits, snapshots and accounts of a sandbox.
"""
