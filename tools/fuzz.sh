#!/usr/bin/env bash
# fuzz.sh BUILD: runs every fuzzer of a build folder for FUZZ_SECONDS (60), FUZZ_JOBS (one per core) at a time, with the corpora in
# fuzz/corpus and those of earlier runs in this build folder. Prints one line per fuzzer. Fails if one has a finding, and prints the
# command that runs the input again. FUZZ_ONLY="json url" selects fuzzers.
set -uo pipefail
build=$1
seconds=${FUZZ_SECONDS:-60}
jobs=${FUZZ_JOBS:-$(nproc)}
root=$(cd "$(dirname "$0")/.." && pwd)

# Limits of time and memory per input; exceeding them is a finding.
export FUZZ_TIMED=1  # the budget of processor time holds here, not in the suite
limits=(-timeout=5 -rss_limit_mb=1024 -max_len=32768)

run_one() {
  local name=$1 program="$build/fuzz/fuzz_$1" grown="$build/corpus/$1" log="$build/logs/$1.log" findings="$build/findings"
  mkdir -p "$grown"
  rm -f "$findings/$name"-*
  local dictionary=()
  [ -f "$root/fuzz/dictionaries/$name.dict" ] && dictionary=("-dict=$root/fuzz/dictionaries/$name.dict")
  "$program" "${limits[@]}" "${dictionary[@]}" -max_total_time="$seconds" -print_final_stats=1 \
    -artifact_prefix="$findings/$name-" "$grown" "$root/fuzz/corpus/$name" >"$log" 2>&1
  local status=$?
  local executions coverage memory finding figures
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  coverage=$(grep -oE 'cov: [0-9]+' "$log" | tail -1 | cut -d' ' -f2)
  memory=$(sed -n 's/^stat::peak_rss_mb: *//p' "$log")
  finding=$(find "$findings" -name "$name-*" | head -1)
  figures=$(printf '%-14s %10s executions, coverage %5s, peak %4s MB' "$name" "${executions:-?}" "${coverage:-?}" "${memory:-?}")
  if [ $status -eq 0 ] && [ -z "$finding" ]; then
    echo "$figures, no finding"
    return 0
  fi
  echo "$figures, A FINDING: $program ${finding:-(none kept; see $log)}"
  return 1
}

mkdir -p "$build/corpus" "$build/findings" "$build/logs"
failed=0
for target in ${FUZZ_ONLY:-$(cd "$root/fuzz/targets" && ls ./*.cpp | sed 's|^\./||; s|\.cpp$||')}; do
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n || failed=1; done
  run_one "$target" &
done
while [ -n "$(jobs -rp)" ]; do wait -n || failed=1; done
exit $failed
