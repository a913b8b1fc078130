#!/usr/bin/env bash
# Brings Chromium to a Debian or an Ubuntu on which we are root, and does nothing where there is one already. Ends with 1 and one
# line where there is none afterwards: the browser tests cannot run there.
set -euo pipefail
cd "$(dirname "$0")/../.."
# The Node that came with the packages.
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
# The lists of a machine may be old, or none: then they are fetched, whatever becomes of some of them.
install || { timeout 120 apt-get update >>"$log" 2>&1 </dev/null || true; install; } ||
  none "apt-get says: $(grep '^E:' "$log" | head -1 | cut -c 1-200)"
is_there || none "what apt-get calls chromium is none here"
