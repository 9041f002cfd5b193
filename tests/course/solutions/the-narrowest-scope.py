catalogue = given.sign_in("catalogue", ["storage.metadata.readonly"])
svc.files(session=catalogue)

reader = given.sign_in("reader", ["storage.readonly"])
svc.read(given.file_id, session=reader)

client = given.sign_in("client", ["storage.file"])
svc.upload(b"Dear client", name="client.txt", session=client)
