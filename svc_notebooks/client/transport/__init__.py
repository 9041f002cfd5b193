"""How requests reach a service.

in_process, http, requests_adapter     transports: in-process, over HTTP, and an adapter for `requests`
retry                              which request is sent again, when and how often
recorder                           the record of exchanges
"""
