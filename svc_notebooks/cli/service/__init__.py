"""The service of `svc-notebooks serve` and of WSGI servers.

environment.py      reads these options from environment variables
"""
