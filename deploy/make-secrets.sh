#!/bin/sh
# Creates the secrets of compose.yaml in deploy/secrets, each in a file. Files that exist are kept.
# Only this user can enter the folder. The files themselves can be read by the accounts in the containers.
set -eu
cd "$(dirname "$0")"
mkdir -p -m 700 secrets
cd secrets
umask 022

random() {
    head -c 30 /dev/urandom | base64 | tr '+/' '-_'
}

for name in postgres_password svc_token s3_key s3_secret s3_admin_key s3_admin_secret; do
    [ -e "$name" ] || random >"$name"
done

# The service's account may read and write one bucket. The account that creates the bucket is used once.
cat >s3_accounts <<JSON
{"identities": [
  {"name": "svc", "actions": ["Read:svc", "Write:svc", "List:svc"],
   "credentials": [{"accessKey": "$(cat s3_key)", "secretKey": "$(cat s3_secret)"}]},
  {"name": "create-bucket", "actions": ["Admin"],
   "credentials": [{"accessKey": "$(cat s3_admin_key)", "secretKey": "$(cat s3_admin_secret)"}]}
]}
JSON
printf '[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n' \
    "$(cat s3_admin_key)" "$(cat s3_admin_secret)" >s3_admin
