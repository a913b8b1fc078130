#!/usr/bin/env bash
# Checks the files for other tools with those tools, if they are installed.
set -euo pipefail
cd "$(dirname "$0")/.."

has() { command -v "$1" >/dev/null; }

if has promtool; then
  promtool check config config/prometheus/prometheus.yml
  promtool check rules config/prometheus/rules/*.yml
  promtool test rules test/prometheus/*.yml
fi
if has prometheus; then
  npm run --silent test:prometheus
fi
if test/browser/install-chromium.sh; then
  npm run --silent test:browser
fi
if has systemd-analyze; then
  # The project is not in /opt here, so ExecStart is replaced.
  unit="$(mktemp -d)/sundial.service"
  sed 's#/usr/bin/node /opt/sundial/gateway/sundial.js#/bin/true#' config/systemd/sundial.service > "$unit"
  cp config/systemd/sundial.socket "$(dirname "$unit")"
  systemd-analyze verify "$unit" "$(dirname "$unit")/sundial.socket"
  systemd-analyze security --offline=true --threshold=20 "$unit" | tail -1
  rm -r "$(dirname "$unit")"
fi
if docker compose version >/dev/null 2>&1; then
  docker compose config --quiet
elif has docker-compose; then
  docker-compose config --quiet
fi
if has actionlint; then
  actionlint
fi
