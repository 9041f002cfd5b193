import tempfile

table = svc.upload(given.content, name=given.name, mime_type="text/csv", convert_to="spreadsheet")
svc.export(table, "tsv", tempfile.mkdtemp())
