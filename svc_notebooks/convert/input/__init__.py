"""Reads untrusted input safely, and packs native documents for storage.

detect, charset: detect the media type and the character set of a source, and decrypt Office files.
zip_file: opens zip files and Open Packaging files (docx, xlsx), and checks markup within limits.
odf_file: opens OpenDocument files.
numerals: writes the numbers of lists.
native_package: the storage format of a native document, which is a zip file with JSON and images.
"""
