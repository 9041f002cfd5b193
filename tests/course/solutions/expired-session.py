state = svc.resume_upload(given.session_uri, given.content).status()["state"].item()
print("the old session is", state)
svc.upload(given.content, name=given.name, upload_type="resumable")
