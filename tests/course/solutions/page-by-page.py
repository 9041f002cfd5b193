import json

copy = dict(zip(given.file_ids, given.names, strict=True))
token = given.page_token
while True:
    page = given.send("GET", f"/storage/v3/changes?pageToken={token}&pageSize={given.page_size}").json()
    for change in page["changes"]:
        if change["removed"]:
            copy.pop(change["fileId"], None)  # a file that was created and deleted since then is not in the copy
        else:
            copy[change["fileId"]] = change["file"]["name"]
    token = page.get("nextPageToken") or page["newStartPageToken"]
    if not page["changes"] and "newStartPageToken" in page:
        break

svc.upload(json.dumps({"files": copy, "page_token": token}).encode(), name="copy.json")
