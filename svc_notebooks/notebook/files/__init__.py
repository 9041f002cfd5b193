"""The functions for files.

files, copy, permissions, about      upload, list, change, delete, copy and share files; quota and formats
folders                              create folders, move files into folders
tree_upload                          upload local folders with everything below them
downloads, exports                   download and read content, export native documents
uploads, upload_requests, progress   resumable uploads step by step, prepared uploads, progress bars
metadata                             metadata arguments as JSON
identity                             information about tokens, and tokens of service accounts
"""
