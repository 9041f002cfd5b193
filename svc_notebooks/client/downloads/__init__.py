"""Downloads of content and exports of native documents.

downloads                          content to memory or to a file
exports, export_comparison         native documents in other formats, and whether two exports are equal
ranged_download, part_file         resumption after a broken connection, and the file on its way to disk
"""
