"""Downloads content, and exports native documents to other formats.

downloads            downloads content to memory or to a file
exports              exports native documents to other formats
tree_download        lists the files below a folder of the service and their paths on disk
export_comparison    tests if two exports are the same apart from their dates
ranged_download      continues a download after a broken connection
part_file            keeps the bytes of an unfinished download on disk
"""
