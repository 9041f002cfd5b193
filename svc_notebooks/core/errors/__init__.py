"""Errors of the service and of the client.

catalogue, decision_ids        every error of the service, and the decisions behind them
errors, tracebacks             the exceptions that users see, and how a notebook shows them
public_calls                   wraps the public functions, so that their errors fit on one screen
caller_warning                 warnings at the user's line, and the warning before a flagged file is downloaded
"""
