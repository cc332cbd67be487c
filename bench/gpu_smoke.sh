#!/usr/bin/env bash
# gpu_smoke.sh - runs gpu.py on the emulated device and checks its tables. PyTorch is not needed.
# usage: gpu_smoke.sh BUILD PLUGIN_FOLDER
set -eu
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
command -v python3 >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    printf '%s\n' "$*"
    exit 1
}

gpu() { python3 "$here/gpu.py" quick --build "$build" --out "$work/gpu.md" --seconds 0.01 --python "$work/no-python" "$@"; }

build=$1
export PEWTER_BACKEND_DIR=$2
gpu --only 'same,limits,paper, copy,4 x 128,arms,looking' >"$work/said" || fail "it failed: $(cat "$work/said")"
grep -qE '^\| ref \| [0-9.]+ \| 0.0e\+00 \| yes \| yes \|$' "$work/gpu.md" || fail "ref has other bits: $(cat "$work/gpu.md")"
grep -qE '^\| bf16 \| [0-9.]+ \| [0-9.]+e-0[3-9] \| no \| yes \|$' "$work/gpu.md" || fail "bf16 is far off: $(cat "$work/gpu.md")"
grep -qE '^\| paper, copy \|( [0-9.]+ \|){5}(  \|){4}$' "$work/gpu.md" || fail "no steps: $(cat "$work/gpu.md")"
grep -qE '^\| 4 x 128 \|( [0-9.]+ \|){6}(  \|){3}$' "$work/gpu.md" || fail "no steps without groups: $(cat "$work/gpu.md")"
[ "$(grep -cE ' \| (inspect|decode|swap) \|( [0-9.]+ \|){3}$' "$work/gpu.md")" -eq 6 ] || fail "no looks: $(cat "$work/gpu.md")"
grep -qE '^paper, copy, bf16: y \[[0-9]+,[0-9]+\] = x W\^T over [0-9]+, bf16: algorithm ' "$work/gpu.plans" || fail "no plans: $(head -3 "$work/gpu.plans")"
grep -q 'one arm [1-9][0-9]* steps/s, five [1-9]' "$work/gpu.md" || fail "no arms: $(cat "$work/gpu.md")"
[ "$(sed -n '/^Not measured/,$p' "$work/gpu.md" | grep -c '^- ')" -eq 1 ] || fail "more than torch is missing: $(cat "$work/gpu.md")"

if PEWTER_BACKEND_DIR=$work gpu >"$work/said"; then fail "it takes a plug-in that isn't there"; fi
grep -q '^- the device: bench_train: cuda: no plug-in' "$work/said" || fail "no word of the plug-in: $(cat "$work/said")"
