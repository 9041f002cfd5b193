#!/usr/bin/env bash
# Ten tasks with curl. SVC_BASE_URL is the address of the service, SVC_TOKEN an access token, and
# SVC_RECEIVER the HTTPS address of a receiver of notifications.
set -euo pipefail
cd "$(mktemp -d)"
files=$SVC_BASE_URL/storage/v3/files
upload=$SVC_BASE_URL/upload/storage/v3/files
calendar=$SVC_BASE_URL/calendar/v3/calendars/primary
json="Content-Type: application/json; charset=UTF-8"

svc() { curl --silent --show-error --fail --oauth2-bearer "$SVC_TOKEN" "$@"; }
value() { sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\).*/\1/p" | head -n 1; } # of the first field of this name

# 1. Sign in: the token says who you are.
echo "1 $(svc "$SVC_BASE_URL/storage/v3/about?fields=user" | value emailAddress)"

# 2. Upload content without metadata.
note=$(svc -H "Content-Type: text/plain" --data-binary "Feed the ducks." "$upload?uploadType=media" | value id)
echo "2 $(svc "$files/$note?fields=name,mimeType" | value name)"

# 3. Upload content with metadata, as the two parts of one body.
related() { # related METADATA MEDIA_TYPE FILE
  { printf -- '--part\r\n%s\r\n\r\n%s\r\n--part\r\nContent-Type: %s\r\n\r\n' "$json" "$1" "$2"
    cat "$3"
    printf '\r\n--part--\r\n'; } >body
  svc -H "Content-Type: multipart/related; boundary=part" --data-binary @body "$upload?uploadType=multipart"
}
printf 'species,count\nmallard,12\n' >ducks.csv
ducks=$(related '{"name": "ducks.csv"}' text/csv ducks.csv | value id)
echo "3 $(svc "$files/$ducks" | value name)"

# 4. Upload a large file in chunks. After an interruption, ask how many bytes are stored, and send the rest.
size=700000
head -c $size /dev/zero >film.bin
session=$(svc -H "$json" -d '{"name": "film.bin"}' -D - -o film.json "$upload?uploadType=resumable" |
  tr -d '\r' | sed -n 's/^Location: //Ip')
put() { # put RANGE FILE: sends a part of the file, or no bytes to ask for the status
  status=$(curl --silent --oauth2-bearer "$SVC_TOKEN" -X PUT -H "Content-Type:" -H "Content-Range: bytes $1" \
    --data-binary "@$2" -D head -o film.json -w '%{http_code}' "$session") || status=000
}
for delay in 0.2 0.4 0.8 1.6 3.2; do
  put "*/$size" /dev/null
  while [ "$status" = 308 ]; do
    last=$(tr -d '\r' <head | sed -n 's/^Range: bytes=0-//Ip')
    next=$((${last:--1} + 1))
    dd if=film.bin of=chunk bs=262144 skip=$((next / 262144)) count=1 status=none
    put "$next-$((next + $(wc -c <chunk) - 1))/$size" chunk
  done
  case $status in
    200 | 201) break ;;
    000 | 403 | 5??) sleep $delay ;;
    *) exit 1 ;;
  esac
done
film=$(value id <film.json)
echo "4 $(svc "$files/$film?fields=size" | value size)"

# 5. Convert on import: the media type in the metadata is that of a native document.
sheet=$(related '{"name": "Ducks", "mimeType": "application/vnd.svc-apps.spreadsheet"}' text/csv ducks.csv | value id)
echo "5 $(svc "$files/$sheet" | value mimeType)"

# 6. Download a range of bytes.
echo "6 $(svc -r 0-6 "$files/$ducks?alt=media")"

# 7. Export the native document.
echo "7 $(svc "$files/$sheet/export?mimeType=text/tab-separated-values" | tail -n 1)"

# 8. List with a query, page by page.
page="" count=0 pages=0
while [ $pages = 0 ] || [ -n "$page" ]; do
  svc -G --data-urlencode "q=name contains 'ducks' and trashed = false" -d pageSize=1 ${page:+-d pageToken="$page"} \
    "$files" >page.json
  page=$(value nextPageToken <page.json)
  count=$((count + $(grep -c '"name":' page.json))) pages=$((pages + 1))
done
echo "8 $count files on $pages pages"

# 9. Watch a file. The receiver gets "sync" now, and "update" after the change. The channel expires in an hour.
svc -H "$json" -d "{\"id\": \"curl-$RANDOM$RANDOM\", \"type\": \"web_hook\", \"address\": \"$SVC_RECEIVER\"}" \
  "$files/$ducks/watch" >channel.json
svc -X PATCH -H "$json" -d '{"description": "counted"}' "$files/$ducks" >changed.json
echo "9 $(value kind <channel.json)"

# 10. Create a recurring event, and change it only if nobody else has changed it.
svc -H "$json" "$calendar/events" -d '{"summary": "Count ducks", "recurrence": ["RRULE:FREQ=WEEKLY;COUNT=8"],
  "start": {"dateTime": "2026-11-02T10:00:00", "timeZone": "Europe/Berlin"},
  "end": {"dateTime": "2026-11-02T11:00:00", "timeZone": "Europe/Berlin"}}' >event.json
event=$(value id <event.json)
etag=$(sed -n 's/^ *"etag": "\(.*\)",$/\1/p' event.json | tr -d '\\')
change() { # change SUMMARY
  curl --silent --oauth2-bearer "$SVC_TOKEN" -X PATCH -H "$json" -H "If-Match: $etag" -d "{\"summary\": \"$1\"}" \
    -o answer.json -w '%{http_code}' "$calendar/events/$event"
}
echo "10 $(change "Count all ducks") $(change "Count no ducks")"
