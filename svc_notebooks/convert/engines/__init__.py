"""Interfaces to the libraries and programs that conversions use.

available: which of them are installed.
typst, fonts, glyphs: PDF and image output, and its fonts.
images, tesseract: image decoding and text recognition.
libreoffice: conversion of old binary formats.
"""
