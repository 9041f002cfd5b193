"""Sends requests to a service, repeats failed requests, and records the exchanges.

in_process          the transport that calls a service in this process
http                the transport over HTTP
http_options        certificates and proxies
http_errors         converts the errors of the transport over HTTP
bounds              the most bytes of each kind of answer, and the reader that applies them
foreign_urls        parses the URLs that a service gives
retry               decides which requests are repeated, when and how often
throttle            lets all requests of a session wait after a refusal because of a rate limit
recorder            the record of exchanges
"""
