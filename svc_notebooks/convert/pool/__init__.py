"""Runs conversions in worker processes.

converter: the interface for the service.
worker_pool: the process pool; worker: the program that a worker process runs.
admission: limits the number of simultaneous conversions, and lets users take turns.
"""
