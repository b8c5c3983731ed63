#!/usr/bin/env bash
# lint.sh [--all]: layers and format of the whole tree, clang-tidy over the sources that changed. Part of `make test`.
# Changed means: against the merge base with the upstream branch, or else since the last release tag. A clone without changes against either
# looks at its last commits. clang-tidy takes about 10 s a file, so it stops at TIDY_FILES (12) of them; --all takes every source.
set -euo pipefail
cd "$(dirname "$0")/.."
tidy_files_max=${TIDY_FILES:-12}
jobs=${JOBS:-$(nproc)}

# The commit from which changes are counted.
base_commit() {
  local head base
  head=$(git rev-parse HEAD)
  for candidate in '@{upstream}' origin/HEAD "$(git describe --tags --abbrev=0 2>/dev/null || true)"; do
    [ -n "$candidate" ] || continue
    base=$(git merge-base HEAD "$candidate" 2>/dev/null) || continue
    if [ "$base" != "$head" ] || ! git diff --quiet HEAD -- src; then
      echo "$base"
      return
    fi
  done
  git rev-parse --verify --quiet HEAD~5 || git rev-list --max-parents=0 HEAD | tail -n 1
}

# Changed product sources, including those in the working tree.
changed_sources() {
  if [ "${1:-}" = --all ]; then
    git ls-files 'src/*.cpp'
  else
    git diff --name-only --diff-filter=d "$(base_commit)" -- 'src/*.cpp'
    git ls-files --others --exclude-standard -- 'src/*.cpp'
  fi | grep -v '_test\.cpp$' || true
}

python3 tools/check_layers.py src tools/layers.txt
python3 tools/check_homes.py src tools/homes.txt

git ls-files '*.h' '*.cpp' | xargs -P "$jobs" -n 64 clang-format-19 --dry-run -Werror ||
  { echo "not formatted; run: make format" >&2; exit 1; }

mapfile -t sources < <(changed_sources "$@")
count=${#sources[@]}
if [ "${1:-}" != --all ] && [ "$count" -gt "$tidy_files_max" ]; then
  echo "clang-tidy: $tidy_files_max of the $count sources that changed ('make lint' takes all)"
  sources=("${sources[@]:0:$tidy_files_max}")
else
  echo "clang-tidy: $count sources"
fi
if [ "${#sources[@]}" -gt 0 ]; then
  [ -f build/lint/compile_commands.json ] || { mkdir -p build && cmake --preset lint >build/lint.log 2>&1; } || { cat build/lint.log; exit 1; }
  printf '%s\n' "${sources[@]}" |
    xargs -P "$jobs" -n 1 clang-tidy-19 -p build/lint --quiet --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-deprecated-declarations 2>/dev/null
fi
