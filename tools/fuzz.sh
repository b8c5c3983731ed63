#!/usr/bin/env bash
# fuzz.sh BUILD: runs every fuzzer of a build folder for FUZZ_SECONDS (60), FUZZ_JOBS (one per core) at a time, with the corpora in
# fuzz/corpus. build/fuzz has libFuzzer, which also uses what earlier runs in that folder found; other builds have our own driver, whose
# mutations follow FUZZ_SEED (random). Prints one line per fuzzer. Fails if one has a finding, and prints the command that runs the input
# again. FUZZ_ONLY="json url" selects fuzzers.
set -uo pipefail
build=$1
seconds=${FUZZ_SECONDS:-60}
jobs=${FUZZ_JOBS:-$(nproc)}
seed=${FUZZ_SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
root=$(cd "$(dirname "$0")/.." && pwd)

# Limits of time and memory per input; exceeding them is a finding.
limits=(-timeout=5 -rss_limit_mb=1024 -max_len=32768)

# NAME LOG FINDINGS
guided() {
  local dictionary=() grown="$build/corpus/$1"
  mkdir -p "$grown"
  [ -f "$root/fuzz/dictionaries/$1.dict" ] && dictionary=("-dict=$root/fuzz/dictionaries/$1.dict")
  # FUZZ_TIMED: the budget of processor time holds here, not in the suite.
  FUZZ_TIMED=1 "$build/fuzz/fuzz_$1" "${limits[@]}" "${dictionary[@]}" -max_total_time="$seconds" -print_final_stats=1 -artifact_prefix="$3/" \
    "$grown" "$root/fuzz/corpus/$1" >"$2" 2>&1
}

seeded() {
  "$build/fuzz/fuzz_$1" --seconds "$seconds" --seed "$seed" --dictionary "$root/fuzz/dictionaries/$1.dict" --findings "$3" "$root/fuzz/corpus/$1" >"$2" 2>&1
}

run_one() {
  local name=$1 log="$build/logs/$1.log" findings="$build/findings/$1"
  mkdir -p "$findings"
  rm -f "$findings"/*
  "$driver" "$name" "$log" "$findings"
  local status=$?
  local executions memory finding figures
  executions=$(sed -nE 's/^stat::number_of_executed_units: *//p; s/.* ([0-9]+) mutations by seed.*/\1/p' "$log")
  memory=$(sed -nE 's/^stat::peak_rss_mb: *//p; s/.*, peak ([0-9]+) MB$/\1/p' "$log")
  finding=$(find "$findings" -type f | head -1)
  figures=$(printf '%-14s %10s executions, peak %5s MB' "$name" "${executions:-?}" "${memory:-?}")
  if [ $status -eq 0 ] && [ -z "$finding" ]; then
    echo "$figures, no finding"
    return 0
  fi
  echo "$figures, A FINDING: $build/fuzz/fuzz_$name ${finding:-(none kept; see $log)}"
  return 1
}

driver=seeded
[ "$(basename "$build")" = fuzz ] && driver=guided
[ $driver = seeded ] && echo "fuzz: no libFuzzer here (libclang-rt-19-dev): mutations by a seed, FUZZ_SEED=$seed"
mkdir -p "$build/logs"
failed=0
for target in ${FUZZ_ONLY:-$(cd "$root/fuzz/targets" && ls ./*.cpp | sed 's|^\./||; s|\.cpp$||')}; do
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n || failed=1; done
  run_one "$target" &
done
while [ -n "$(jobs -rp)" ]; do wait -n || failed=1; done
exit $failed
