"""The service context, the request classes, and helpers for requests and responses that all handlers share.

service_context, public_request: the service, a request with an access token, a request without an access token.
access_tokens, csrf, external_origin: check the token, the Host and the Origin of a request.
sign_in_provider: the interface of JupyterHub as seen by the pages and the token verifier.
bodies, request_journal: count the bytes of bodies; record one row for each request.
responses, html, page_tokens: JSON, errors and HTML; page tokens.
"""
