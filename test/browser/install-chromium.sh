#!/usr/bin/env bash
# Installs Chromium as root on Debian or Ubuntu if it is missing, or exits with 1 and one line.
set -euo pipefail
cd "$(dirname "$0")/../.."
# The Node of node_modules.
PATH="$PWD/node_modules/.bin:$PATH"

is_there() { node test/browser/support/find-chromium.ts >/dev/null; }
none() {
  echo "no Chromium ($1): the browser tests are not run" >&2
  exit 1
}

if is_there; then exit; fi
command -v apt-get >/dev/null || none "and no apt-get to bring it"
[ "$(id -u)" = 0 ] || none "and only root can install it: apt-get install chromium"

log="$(mktemp)"
trap 'rm "$log"' EXIT
install() {
  DEBIAN_FRONTEND=noninteractive timeout 600 apt-get install --yes --no-install-recommends \
    -o DPkg::Lock::Timeout=60 chromium </dev/null >>"$log" 2>&1
}
# The package lists may be old or missing. Some of them may fail to update without harm.
install || { timeout 120 apt-get update >>"$log" 2>&1 </dev/null || true; install; } ||
  none "apt-get says: $(grep '^E:' "$log" | head -1 | cut -c 1-200)"
is_there || none "what apt-get calls chromium is none here"
