import json

total = len(given.content)


def until_answered(send):
    """The answer, sooner or later: what is sent here may be sent twice."""
    while True:
        try:
            answer = send()
        except ConnectionError:
            continue
        if answer.status < 500:
            return answer


def stored(answer):
    """How many bytes the service has, by its answer to a part or to a question."""
    if answer.status in (200, 201):
        return total
    return int(answer.headers["Range"].rpartition("-")[2]) + 1 if "Range" in answer.headers else 0


def ask():
    return until_answered(lambda: given.send("PUT", address, {"Content-Range": f"bytes */{total}"}))


body = json.dumps({"name": given.name}).encode()
opened = until_answered(
    lambda: given.send(
        "POST", "/upload/storage/v3/files?uploadType=resumable", {"Content-Type": "application/json"}, body
    )
)
address = opened.headers["Location"]

offset = 0
while offset < total:
    chunk = given.content[offset : offset + given.chunk_size]
    place = {"Content-Range": f"bytes {offset}-{offset + len(chunk) - 1}/{total}"}
    try:
        answer = given.send("PUT", address, place, chunk)
    except ConnectionError:
        answer = ask()
    if answer.status >= 500:
        answer = ask()
    offset = stored(answer)
