"""Converts files to native documents and native documents to files, in worker processes.

Each library is imported at its first use.
registry: the conversions, and the engines that each conversion needs; job: options, limits and errors of a conversion.
document, spreadsheet, presentation, drawing: model, readers and writers of each native type; script: script projects.
engines: pandoc, typst, LibreOffice, Tesseract, image library, fonts.
input: character sets, file type detection, safe zip files, the storage format of native documents.
odf_copy: LibreOffice's OpenDocument file of a native document, for `conversion_engine="office"`.
pool: the interface for the service, the worker processes, the fair queue of users.
"""
