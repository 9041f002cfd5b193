first = 64 * given.record
record = svc.read(given.file_id, byte_range=(first, first + 63))  # both ends belong to the range
svc.upload(record, name="record.txt")
