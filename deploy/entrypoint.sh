#!/bin/sh
# Runs a command with the passwords of PostgreSQL and S3, whose libraries read variables, from the files of the secrets.
set -eu
PGPASSWORD=$(cat /run/secrets/postgres_password)
AWS_ACCESS_KEY_ID=$(cat /run/secrets/s3_key)
AWS_SECRET_ACCESS_KEY=$(cat /run/secrets/s3_secret)
export PGPASSWORD AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
exec "$@"
