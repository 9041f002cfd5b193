"""The service of `svc-notebooks serve` and of WSGI servers.

opened_service.py   opens the service that the options of `serve` describe
environment.py      reads these options from environment variables
"""
