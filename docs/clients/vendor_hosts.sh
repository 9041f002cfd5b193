#!/usr/bin/env bash
# Runs a program that calls only the host names of the vendor, against a service on this machine, without root and without
# a change of the machine: unshare gives it a network and a file /etc/hosts of its own. On a machine of your own, the file
# /etc/hosts, the certificate and nginx do the same for all programs.
#
#   vendor_hosts.sh COMMAND...    needs nginx, openssl, util-linux, iproute2 and svc-notebooks
#
# The command finds an access token in SVC_TOKEN, and the file of the certificate in the variables of common libraries.
set -euo pipefail
clients=$(cd "$(dirname "$0")" && pwd)
if [ -z "${SVC_CA-}" ]; then
    SVC_CA=$(mktemp -d)/hosts.pem
    SVC_TOKEN=$(openssl rand -hex 20)
    export SVC_CA SVC_TOKEN CURL_CA_BUNDLE=$SVC_CA NODE_EXTRA_CA_CERTS=$SVC_CA REQUESTS_CA_BUNDLE=$SVC_CA
    export HTTPLIB2_CA_CERTS=$SVC_CA RCLONE_CA_CERT=$SVC_CA
    exec unshare --map-root-user --mount --net bash "$clients/vendor_hosts.sh" "$@"
fi
here=$(dirname "$SVC_CA")
hosts="www.googleapis.com oauth2.googleapis.com accounts.google.com"
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=vendor hosts" -keyout "$here/hosts.key" -out "$SVC_CA" \
    -addext "subjectAltName=DNS:${hosts// /,DNS:}" 2>"$here/openssl.log"
echo "127.0.0.1 localhost $hosts" >"$here/hosts"
mount --bind "$here/hosts" /etc/hosts
ip link set lo up

svc-notebooks serve --names google --port 8080 --token "$SVC_TOKEN" --proxy 127.0.0.1 \
    --public-url https://www.googleapis.com >"$here/service.json" &
cp "$clients/vendor_hosts.conf" "$here"
nginx -e "$here/nginx.log" -p "$here" -c "$here/vendor_hosts.conf" &
trap 'kill $(jobs -p); wait' EXIT
curl --silent --fail --retry 60 --retry-delay 1 --retry-all-errors --output "$here/ready" https://www.googleapis.com/healthz
"$@"
