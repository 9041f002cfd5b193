"""Uploads content with simple, multipart and resumable uploads.

prepare, request              check the arguments of an upload and create its requests
tree_upload                   uploads local folders, and reuses the folders of the service
chosen_id                     gives a new file an id, so that its upload can be repeated
native_types                  chooses the type of the native document to which a source is converted
open_source, sources          open upload sources and read them
source_stream                 streams a source as the body of a request
resumable_upload, responses   perform a resumable upload and read the responses to its requests
content_comparison            compares a stored file with the source of its upload
"""
