"""Uploads: simple, multipart and resumable.

prepare, upload_target, native_types   checks the arguments, builds the requests, chooses a native type
sources, bodies                        what can be uploaded, and request bodies that stream it
upload, resumable_transfer             a resumable upload, and its exchange with the service
"""
