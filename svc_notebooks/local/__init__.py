"""Saves files on this machine without the loss of an existing file.

existing_file    describes the file at a path, and raises the error for a path that must not be replaced
paths            distinct and free paths
saving           saves a file in one step
"""
