"""Lists and saves files on this machine, and protects existing files from being overwritten by accident.

existing_file    describes the file at a path, and raises an error if that file must not be replaced
paths            generates paths like `name (1).ext` that are not in use
saving           writes a file completely before it appears at its path
tree             lists the files of a folder, or the matches of a pattern
"""
