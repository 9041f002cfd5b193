import random


def download(file_id):
    """The content of a file, after as many refusals as it takes."""
    refusals = 0
    while True:
        response = given.send("GET", f"/storage/v3/files/{file_id}?alt=media")
        if response.status == 200:
            return response.body
        refusals += 1
        longest = min(given.cap, 2 ** (refusals - 1))
        delay = random.uniform(longest / 2, longest)
        given.clock.advance(max(delay, float(response.headers.get("Retry-After", 0))))


contents = [download(file_id) for file_id in given.file_ids]
