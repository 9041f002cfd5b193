query = f"name contains '{given.word}' and mimeType = 'text/csv' and trashed = false"
found = svc.files(query, fields=["id", "name"])
svc.update(found, starred=True)
