"""Handlers of files, uploads, downloads, conversions, permissions and the change log.

operations, copy, about: create, get, list, update, delete and copy files; the about resource.
simple_upload, resumable_initiation, resumable_upload: the three upload protocols.
download, conversion: send content; convert it to and from native documents.
permissions, roles: share files; compute who may do what with a file.
change_list, change_log: list the change log; write to it and queue notifications when a file changes.
rows, resource: metadata to database row, database row to the file resource of a response.
storage_errors: disk errors as HTTP responses.
"""
