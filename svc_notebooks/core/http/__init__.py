"""HTTP messages and the values of their headers.

messages, multipart                requests, responses and their bodies
ranges, backoff, origins           Range and Content-Range, Retry-After and delays, Origin and Host
mime, native_formats               media types, and the formats of native documents
redaction                          removes secrets from messages
"""
