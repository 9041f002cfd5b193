"""Runs conversions in worker processes.

converter: the interface for the service, and the pool of processes; worker: the program that a worker process runs.
"""
