"""Turns a request into its response by routing, authentication, limits, faults and handlers.

dispatcher.py                        the Dispatcher, which does all of it and writes the journal
routing.py, handlers.py              path to operation, operation to handler
rate_limits.py, cors.py              rate limits; cross-origin requests
fault_plans.py, fault_injection.py   the armed fault plans, and how a fault changes a request or a response
"""
