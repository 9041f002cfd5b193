"""Files on this machine: they are saved without the loss of an existing file.

existing_file    describes the file at a path; the error for a path that is taken
paths            distinct and free paths
saving           saves a file in one step
"""
