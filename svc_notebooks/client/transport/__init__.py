"""Sends requests to a service, repeats failed requests, and records the exchanges."""
