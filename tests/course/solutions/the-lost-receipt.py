# The id is chosen first: repeating the request then makes no second file, and the 409 says that there is one.
chosen = svc.generate_ids(1)["id"].item()
svc.upload(given.content, name=given.name, file_id=chosen)
