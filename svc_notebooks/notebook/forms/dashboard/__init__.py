"""The dashboard, a page with all forms as tabs.

dashboard: the page and its tabs.
change_detector: detects requests and data changes by polling, so that the dashboard refreshes the open tab.
exchange_panel, exchange_editor: the HTTP exchanges of the session, and a request that a person edits and resends.
exchange_filter_fields, exchange_difference: the filter of the exchanges, and the difference between two exchanges.
sandbox_panel, sandbox_sections: the clock, faults, limits, snapshots and accounts of a sandbox.
"""
