"""Lists and saves files on this machine, and protects existing files from being overwritten by accident.

ledger    records the rows of a call, so that a repeated call continues where it stopped
saving    writes a file completely before it appears at its path, and finds free paths like `name (1).ext`
tree      lists the files of a folder or the matches of a pattern, and reads and writes files at URLs through fsspec
"""
