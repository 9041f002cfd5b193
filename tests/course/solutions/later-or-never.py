for file_id in given.file_ids:
    while True:
        try:
            status = given.send(
                "PATCH", f"/storage/v3/files/{file_id}", {"Content-Type": "application/json"}, b'{"starred": true}'
            ).status
        except ConnectionError:
            status = None  # nobody knows; a second star does no harm
        if status is not None and status < 500:
            break
        given.clock.advance(1)
