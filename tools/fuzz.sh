#!/usr/bin/env bash
# Runs every fuzzer of a build folder for SECONDS_EACH (60) and stops at the first finding, whose input it keeps.
set -euo pipefail
build=$1
seconds=${SECONDS_EACH:-60}
mkdir -p "$build/corpus" "$build/findings"
for fuzzer in "$build"/fuzz/fuzz_*; do
  [ -x "$fuzzer" ] && [ -f "$fuzzer" ] || continue
  name=$(basename "$fuzzer")
  mkdir -p "$build/corpus/$name"
  echo "== $name for $seconds s"
  "$fuzzer" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$build/findings/$name-" "$build/corpus/$name" 2>&1 | grep -E "stat::|ERROR|SUMMARY|Test unit" || true
  if compgen -G "$build/findings/$name-*" >/dev/null; then
    echo "$name found something: see $build/findings" >&2
    exit 1
  fi
done
