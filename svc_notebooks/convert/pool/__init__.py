"""Runs conversions in worker processes.

converter: the interface that the service uses.
worker_pool, worker: the process pool, and the program of a worker process.
admission: how many conversions run at a time, shared fairly between users.
"""
