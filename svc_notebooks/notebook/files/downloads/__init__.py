"""The functions that receive the content of files.

downloads        save files and folders, and read content
exports          save native documents in other formats
read_frame       read tables as DataFrames
rows             the files of one call with their paths on disk, and the call for one of them
target           the folder or the URL to which the files of one call are saved
known_files      the metadata in the rows of a file argument
"""
