"""Interfaces to the libraries and programs that conversions use.

available: tests whether each library or program is installed.
typst, fonts, glyphs: write PDF and images, choose fonts, and read the character coverage of fonts.
images, tesseract: decode images, and recognize text in images.
libreoffice, libreoffice_server: convert files with LibreOffice; one loaded LibreOffice serves many conversions.
"""
