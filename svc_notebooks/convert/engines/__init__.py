"""Interfaces to the libraries and programs that conversions use.

available: tests whether each library or program is installed.
typst, fonts: write PDF and images, choose fonts, and read the character coverage of fonts.
images, tesseract: decode images, and recognize text in images.
program, libreoffice: run a program within the limits of a conversion; convert files with LibreOffice.
"""
