svc.upload(given.content, name=given.name)
