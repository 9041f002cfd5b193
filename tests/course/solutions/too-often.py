import json

for name in given.names:
    body = json.dumps({"name": name}).encode()
    while True:
        answer = given.send("POST", "/storage/v3/files", {"Content-Type": "application/json"}, body)
        if answer.status != 403:
            break
        given.clock.advance(int(answer.headers["Retry-After"]))
