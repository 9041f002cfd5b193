import json

path = f"/calendar/v3/calendars/primary/events/{given.event_id}"
while True:
    event = given.send("GET", path).json()
    change = {"description": f"{event['description']}\n{given.line}"}
    headers = {"Content-Type": "application/json", "If-Match": event["etag"]}
    if given.send("PATCH", path, headers, json.dumps(change).encode()).status == 200:
        break
