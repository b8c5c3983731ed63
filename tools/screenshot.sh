#!/usr/bin/env bash
# Creates docs/images/*.png with a real server and the example handbook: screenshot.sh FOOTNOTE NODE
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" ingest examples/handbook --data "$work/data"
python3 tests/server/with_server.py --binary "$1" --data "$work/data" -- "$2" tests/browser/screenshot.mjs \
  "How many days of unused leave can I carry over into next year?"
python3 tests/server/with_server.py --binary "$1" --data "$work/data" -- "$2" tests/browser/app_screenshots.mjs
