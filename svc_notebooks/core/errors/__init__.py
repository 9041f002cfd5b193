"""Errors of the service and of the client.

catalogue, decision_ids        every error of the service, and the decisions behind them
errors, tracebacks             the exceptions that users see, and how a notebook shows them
abuse_warning                  the warning before a flagged file is downloaded
"""
