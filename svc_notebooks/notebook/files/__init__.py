"""The functions for files.

files, copy, permissions, about      upload, change, delete, copy and share files; quota and formats
search, search_terms                 list files by keyword arguments and queries
folders                              create folders, move files into folders
tree_upload                          upload folders with everything below them
downloads                            download and read content, export native documents, read tables as DataFrames
uploads, upload_requests, progress   resumable uploads step by step, prepared uploads, progress bars
frame_content, metadata              DataFrames as the content of uploads, metadata arguments as JSON
identity                             information about tokens, and tokens of service accounts
"""
