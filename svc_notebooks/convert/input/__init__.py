"""Reading of untrusted input, and the stored form of native documents.

detect, charset: media type and character set of a source.
zip_file: zip files within limits.
native_package: the stored form: JSON and images in a zip file.
"""
