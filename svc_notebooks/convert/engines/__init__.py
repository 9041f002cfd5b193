"""Interfaces to the libraries and programs that conversions use.

available: tests whether each library or program is installed, and runs programs within the limits of a conversion.
typst: writes PDF and images, chooses fonts, reads the character coverage of fonts, and prepares charts.
images, tesseract: decode images, and recognize text in images.
libreoffice: converts files with LibreOffice.
"""
