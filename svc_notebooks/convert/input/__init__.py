"""Reads untrusted input safely, and packs native documents for storage.

detect, charset: detect the media type and the character set of a source.
zip_file: opens zip files within limits.
native_package: the storage format of a native document, which is a zip file with JSON and images.
"""
