query = f"name contains '{given.word}' and mimeType = 'text/csv' and trashed = false"
matches = svc.files(query, fields=["id", "name"])
svc.update(matches, starred=True)
