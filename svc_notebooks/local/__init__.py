"""Lists and saves files on this machine, and protects existing files from being overwritten by accident.

existing_file    describes the file at a path, and raises an error if that file must not be replaced
ledger           records the rows of a call, so that a repeated call continues where it stopped
paths            generates paths like `name (1).ext` that are not in use
url_files     reads and writes files at URLs such as s3://bucket/people.csv, through fsspec
saving           writes a file completely before it appears at its path
tree             lists the files of a folder, or the matches of a pattern
"""
