#!/usr/bin/env bash
# Seven of the ten tasks with rclone 1.60 or later, for a sandbox that has the names of its backend "drive".
#
#   lab = svc.sandbox(
#       names=svc.Names(storage="drive", kind_prefix="drive", media_prefix="application/vnd.google-apps."),
#       policy=svc.Policy(host_names=("www.googleapis.com",)),
#   )
#   server = lab.serve(tls=True)
#
# The backend calls one address that no option changes. So rclone uses a proxy, connect_proxy.py, which leads all of its
# connections to the sandbox. SVC_BASE_URL is the address of the sandbox, SVC_TOKEN an access token, and SVC_CA the file
# `server.ca` with the authority of its certificate.
set -euo pipefail
clients=$(cd "$(dirname "$0")" && pwd)
cd "$(mktemp -d)"
mkfifo address
touch rclone.conf
python3 "$clients/connect_proxy.py" "${SVC_BASE_URL#https://}" >address &
trap 'kill $!' EXIT
read -r HTTPS_PROXY <address
export HTTPS_PROXY RCLONE_CA_CERT=$SVC_CA RCLONE_CONFIG=$PWD/rclone.conf
export RCLONE_CONFIG_SVC_TYPE=drive RCLONE_CONFIG_SVC_TOKEN="{\"access_token\": \"$SVC_TOKEN\"}"
export RCLONE_DRIVE_PACER_MIN_SLEEP=10ms

# 1. Sign in: the token reaches the account. rclone shows its storage, not its name.
echo "1 $(rclone about svc: --json | grep -c '"used"')"

# 2. and 3. Upload content with metadata. rclone has no simple upload, because it always sends a name and a time.
printf 'species,count\nmallard,12\n' >ducks.csv
rclone copy ducks.csv svc:
echo "3 $(rclone lsf svc:)"

# 4. Upload a large file in chunks. After a failure, rclone sends the chunk again.
head -c 700000 /dev/zero >film.bin
rclone copy film.bin svc: --drive-upload-cutoff 256k --drive-chunk-size 256k
echo "4 $(rclone lsf svc:film.bin --format s)"

# 5. Convert on import. rclone shows the document with the extension of the format in which it will be exported.
rclone copy ducks.csv svc:native --drive-import-formats csv --drive-export-formats csv
echo "5 $(rclone lsf svc:native --drive-export-formats tsv)"

# 6. Download a range of bytes.
echo "6 $(rclone cat svc:ducks.csv --offset 0 --count 7)"

# 7. Export the native document.
rclone copy svc:native exports --drive-export-formats tsv
echo "7 $(tail -n 1 exports/ducks.tsv)"

# 8. List with a filter, page by page.
echo "8 $(rclone lsf svc: --recursive --files-only --include 'ducks*' --drive-list-chunk 1 | wc -l) files"
