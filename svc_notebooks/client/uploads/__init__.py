"""Simple, multipart and resumable uploads.

prepare, request, native_types   checks the arguments, makes the requests, chooses the type of a native document
sources                          upload sources, and request bodies that stream them
upload, responses                a resumable upload, and the responses to its requests
"""
