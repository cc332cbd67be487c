#!/usr/bin/env bash
# lib_plugin.sh PROGRAM PLUGIN - tests the plug-in that nvcc has built. It exports one function and needs no CUDA
# library. Without a device the program says why the plug-in can't be used, and trains on.
set -u
PEWTER=$1
PLUGIN=$2
export PEWTER_BACKEND_DIR=${PLUGIN%/*}

fail() {
    echo "FAILED: $*"
    exit 1
}

symbols=$(nm -D --defined-only "$PLUGIN" | awk '{print $3}')
[ "$symbols" = pw_backend_plugin ] || fail "it exports: $symbols"
needed=$(objdump -p "$PLUGIN" | awk '$1 == "NEEDED" {print $2}')
grep -qi 'cuda\|cublas' <<<"$needed" && fail "it needs $needed"

said=$("$PEWTER" devices 2>&1) || fail "devices: $said"
if grep -q '^cuda:0 ' <<<"$said"; then
    grep -q "by $PLUGIN: CUDA" <<<"$said" || fail "devices: $said"
else
    grep -qE "^cuda +(there is no NVIDIA (driver|device)|the NVIDIA driver is too old).* \($PLUGIN\)" <<<"$said" ||
        fail "devices: $said"
    said=$("$PEWTER" -c 'backend cuda' 2>&1) && fail "it trains without a device"
    grep -qE '^pewter: cuda: the' <<<"$said" || fail "backend cuda: $said"
fi
"$PEWTER" -c 'backend auto mode=ref; optim batch=2; train 1' >/dev/null || fail "auto does not train"
echo "the plug-in exports one function"
