#!/usr/bin/env bash
# session.sh - tests sessions that were trained on a device. Portable ones continue anywhere with the same bits. Others
# continue where their arithmetic is available, and elsewhere a message says so. After a device fails the session can be
# continued.
set -u
PEWTER=$(realpath "$1")
WORK=$(mktemp -d /tmp/pewter-device-XXXXXX)
trap 'rm -rf "$WORK"' EXIT
export XDG_STATE_HOME=$WORK/state
tiny='model layers=1 width=16 heads=2; optim batch=3'
without() { env -u PEWTER_BACKEND_DIR PEWTER_BACKEND_DIR="$WORK" "$@"; } # a machine without the plug-in

fail() {
    echo "FAILED: $*"
    exit 1
}
digest() { grep -oE 'digest [0-9a-f]{32}' <<<"$1" | tail -n 1; }

want=$(digest "$("$PEWTER" -c "$tiny; train 7; digest")")
"$PEWTER" --session ref --backend 'cuda mode=ref' -c "$tiny; train 3; checkpoint; train 2" >/dev/null || fail "ref"
said=$(without "$PEWTER" --session ref -c 'train 2; digest' 2>&1) || fail "ref without a device: $said"
[ "$(digest "$said")" = "$want" ] || fail "ref continues with other bits: $said"
for where in env without; do
    said=$($where "$PEWTER" replay ref --verify 2>&1) || fail "ref is not verified: $where: $said"
    grep -q '^equal: ' <<<"$said" || fail "ref: $said"
done

"$PEWTER" --session fast --backend cuda -c "$tiny; train 3; checkpoint; train 2" >/dev/null || fail "fast"
want=$(digest "$("$PEWTER" -c "backend cuda; $tiny; train 7; digest")")
cp -r "$XDG_STATE_HOME/pewter/sessions/fast.pewter" "$WORK/copy.pewter"
said=$("$PEWTER" --session fast -c 'train 2; digest' 2>&1) || fail "fast: $said"
[ "$(digest "$said")" = "$want" ] || fail "fast continues with other bits: $said"
"$PEWTER" replay fast --verify >/dev/null || fail "fast is not verified"
said=$(without "$PEWTER" --session "$WORK/copy.pewter" -c 'train 2' 2>&1) && fail "fast goes on without a device: $said"
grep -q "no plug-in .*; '--backend cpu' continues with different bits" <<<"$said" || fail "fast without a device: $said"
said=$(without "$PEWTER" --backend cpu --session "$WORK/copy.pewter" -c 'train 2; digest' 2>&1) || fail "other bits: $said"
grep -q 'step 7  digest [0-9a-f]*$' <<<"$said" || fail "other bits: $said"

# A kernel fails, and the device with it: one line, and the session has all steps up to the last checkpoint.
said=$(PEWTER_EMU=fail-launch=400 "$PEWTER" --session lost --backend 'cuda mode=ref' -c "$tiny; train 1; checkpoint; train 50" \
    2>&1) && fail "a failed launch is no failure: $said"
grep -qE '^pewter: cuda: [a-z_]+: .*; the device is lost to this process' <<<"$said" || fail "a failed launch: $said"
said=$(without "$PEWTER" --session lost -c 'digest' 2>&1) || fail "after a failed launch: $said"
grep -q 'digest' <<<"$said" || fail "after a failed launch: $said"
echo "sessions go on"
