"""Runs conversions in worker processes.

converter: the interface for the service.
worker_pool, worker: the process pool, and the program of a worker process.
admission: the number of conversions that run at a time, shared fairly between users.
"""
