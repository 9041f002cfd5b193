"""Converts files to native documents and back in worker processes. Libraries are imported when they are used.

registry: the conversions and the engines that each needs; job: options, limits and errors of one conversion.
document, spreadsheet, presentation, drawing: model, readers and writers of each native type; script: script projects.
engines: pandoc, typst, LibreOffice, Tesseract, image library, fonts.
input: character sets, file type detection, safe zip files, the stored form of a document.
pool: the interface for the service, the worker processes, fairness between users.
"""
