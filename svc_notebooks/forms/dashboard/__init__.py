"""The dashboard, a page with all forms as tabs.

dashboard: the page, its tabs, and the controls of a sandbox.
exchange_panel: the HTTP exchanges of the session, and a request that a person edits and resends.
"""
