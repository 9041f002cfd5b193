"""The tables with which several processes share a store on PostgreSQL.

state.py     claims of upload sessions, leases of message queues, parts that are deleted later
values.py    the clock, the fault plans and the limits, which all processes follow
windows.py   the requests that were counted against limits
kept_rows.py the journal and the log of deliveries
"""
