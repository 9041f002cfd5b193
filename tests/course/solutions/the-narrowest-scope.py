catalogue = given.sign_in("catalogue", ["storage.metadata.readonly"])
svc.files(session=catalogue)

reader = given.sign_in("reader", ["storage.readonly"])
svc.read(given.file_id, session=reader)

diary = given.sign_in("diary", ["storage.file"])
svc.upload(b"Dear diary", name="diary.txt", session=diary)
