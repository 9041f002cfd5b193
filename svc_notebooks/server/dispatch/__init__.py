"""Turns each request into a response through routing, authentication, limits, faults and handlers.

dispatcher.py                        the Dispatcher, which performs all steps and writes the journal
routing.py, handlers.py              maps a path to an operation; maps an operation to a handler
rate_limits.py, cors.py              rate limits; cross-origin requests
monitor.py                           readiness, and observers of requests that have ended
fault_plans.py, fault_injection.py   the active fault plans; the changes that faults make to a request or a response
"""
