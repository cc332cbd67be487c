#!/usr/bin/env bash
# choose.sh - tests `backend`, --backend and `devices`, and one clear line for every reason why no device is usable.
# Runs on the emulated device (tests/emulator), which $PEWTER_EMU can remove. (tests/lab/test_backend.c tests the lab's
# state afterwards.)
set -u
PEWTER=$(realpath "$1")
WORK=$(mktemp -d /tmp/pewter-choose-XXXXXX)
trap 'rm -rf "$WORK"' EXIT
export XDG_STATE_HOME=$WORK/state
tiny='model layers=1 width=16 heads=2; optim batch=2'

fail() {
    echo "FAILED: $*"
    exit 1
}

# refused WHAT PATTERN [NAME=VALUE...]: `backend WHAT` must print one line with this pattern.
refused() {
    local what=$1 pattern=$2 said
    shift 2
    said=$(env "$@" "$PEWTER" -c "backend $what" 2>&1) && fail "backend $what is no failure: $said"
    [ "$(wc -l <<<"$said")" -eq 1 ] || fail "backend $what says more than a line: $said"
    grep -qE "^pewter: $pattern" <<<"$said" || fail "backend $what: $said"
}

mkdir "$WORK/empty" "$WORK/other" "$WORK/text"
cp "$OTHER" "$WORK/other/libpewter_cuda.so"
echo 'no library' >"$WORK/text/libpewter_cuda.so"
refused cuda "cuda: no plug-in libpewter_cuda.so in $WORK/empty$" "PEWTER_BACKEND_DIR=$WORK/empty"
refused cuda "cuda: the plug-in can't be loaded: $WORK/text/" "PEWTER_BACKEND_DIR=$WORK/text"
refused cuda "cuda: $WORK/other/.* is of another pewter \(contract" "PEWTER_BACKEND_DIR=$WORK/other"
refused cuda 'cuda: there is no NVIDIA driver$' PEWTER_EMU=device=no-driver
refused cuda 'cuda: there is no NVIDIA device$' PEWTER_EMU=device=none
refused cuda 'cuda: the NVIDIA driver is too old: it supports CUDA 12.4, this needs 13.0$' PEWTER_EMU=device=old-driver
refused cuda 'cuda: cuBLASLt 13[0-9.]* gives no handle: CUBLAS_STATUS_NOT_INITIALIZED$' PEWTER_EMU=no-blas
refused cuda "cuda: .* can't be used: its compute capability is 6.1, this needs 7.5" PEWTER_EMU=device=61
refused cuda:1 'cuda: there is no device 1: they are numbered 0..0$'
refused 'cuda precision=bf16' 'precision=bf16 begins with compute capability 8.0' PEWTER_EMU=device=75
refused 'cuda mode=ref precision=bf16' 'cuda has no mode ref in bf16; there are fast in tf32,'
refused 'cuda mode=ref' 'this model needs .* are free on the device; ' PEWTER_EMU=memory=12M
refused 'cpu precision=tf32' 'precision=tf32: the cpu has fp32 and bf16$'
refused 'cpu mode=ref' 'mode=ref: the cpu has no modes'
refused 'gpu' "no backend 'gpu'; there are cpu, cuda"
refused 'cuda:x' "backend 'cuda:x': after the colon write a device number"
refused 'cuda mode=slow' 'backend: mode=slow: allowed are fast\|ref'
refused '' 'backend: too few arguments; usage: backend auto\|cpu\|cuda\[:N\]'

said=$("$PEWTER" -c 'backend cuda; set threads 2' 2>&1) && fail "threads on a device: $said"
grep -q "set threads: only for the cpu backend, the current one is cuda; 'backend cpu' switches to it" <<<"$said" || fail "$said"
said=$("$PEWTER" -c 'backend cuda; set precision bf16; set precision fp32; backend cpu; set isa auto' 2>&1) || fail "$said"
[ "$(grep -c '^cuda: emulated, fast' <<<"$said")" -eq 3 ] || fail "precisions of a device: $said"

# auto takes the available device, and reports the reason.
said=$("$PEWTER" --backend auto -c "$tiny; train 1" 2>&1) || fail "$said"
grep -q '^auto chooses cuda; there is emulated, fast tf32' <<<"$said" || fail "auto: $said"
said=$(PEWTER_EMU=device=none "$PEWTER" --backend auto -c "$tiny; train 1" 2>&1) || fail "$said"
grep -q '^auto chooses the cpu; cuda: there is no NVIDIA device' <<<"$said" || fail "auto without a device: $said"
said=$(PEWTER_EMU=device=old-driver "$PEWTER" --backend auto -c "$tiny; train 1" 2>&1) || fail "$said"
grep -q '^auto chooses the cpu; cuda: the NVIDIA driver is too old' <<<"$said" || fail "auto with an old driver: $said"
said=$(PEWTER_EMU=no-blas "$PEWTER" --backend auto -c "$tiny; train 1" 2>&1) || fail "$said"
grep -q '^auto chooses the cpu; cuda: cuBLASLt .* gives no handle' <<<"$said" || fail "auto without cuBLASLt: $said"
"$PEWTER" --backend 'cpu;quit' -c 'train 1' >/dev/null 2>&1
[ $? -eq 2 ] || fail "--backend takes commands"

said=$("$PEWTER" devices) || fail "devices: $said"
grep -qE '^cpu +[0-9]+ processors, .*: fp32' <<<"$said" || fail "devices: $said"
grep -qE '^cuda:0 +emulated, compute capability 8.6, .* free' <<<"$said" || fail "devices: $said"
grep -qE "^ +by $PEWTER_BACKEND_DIR/libpewter_cuda.so: CUDA 13.0, driver 13.0, cuBLASLt 13" <<<"$said" || fail "devices: $said"
said=$(PEWTER_EMU=device=61 "$PEWTER" devices) || fail "devices: $said"
grep -q "cannot be used: its compute capability is 6.1" <<<"$said" || fail "devices: $said"
said=$(PEWTER_EMU=device=none "$PEWTER" devices) || fail "devices: $said"
grep -qE '^cuda +there is no NVIDIA device \(' <<<"$said" || fail "devices: $said"
said=$(PEWTER_EMU=device=old-driver "$PEWTER" devices) || fail "devices: $said"
grep -qE '^cuda +the NVIDIA driver is too old: it supports CUDA 12.4, this needs 13.0 \(' <<<"$said" || fail "devices: $said"

# Mode ref needs no cuBLASLt, nor does `auto` with mode=ref.
for what in cuda auto; do
    said=$(PEWTER_EMU=no-blas "$PEWTER" -c "backend $what mode=ref; $tiny; train 1" 2>&1) || fail "ref without cuBLASLt: $said"
    grep -q '^cuda: emulated, ref fp32' <<<"$said" || fail "ref without cuBLASLt: $said"
done

# cuBLASLt has half a gigabyte, so it must not be loaded without a device for it.
unread() { # unread DEVICE ARGUMENTS...
    local said
    said=$(PEWTER_EMU=counts,device=$1 "$PEWTER" "${@:2}" 2>&1)
    grep -q '^emulator: .* libraries 0$' <<<"$said" || fail "cuBLASLt is opened: $*: $said"
}
for device in none no-driver old-driver; do
    unread "$device" devices
    unread "$device" -c 'backend cuda'
    unread "$device" -c 'backend auto'
done
unread 61 -c 'backend cuda'

# The plug-in's path is shown without "..", as it is where the program finds it beside its own folder.
mkdir "$WORK/bin"
said=$(PEWTER_BACKEND_DIR=$WORK/bin/..${PEWTER_BACKEND_DIR:+/../..$PEWTER_BACKEND_DIR} "$PEWTER" --version)
grep -qx "cuda: plug-in $(realpath "$PEWTER_BACKEND_DIR")/libpewter_cuda.so" <<<"$said" || fail "--version: $said"
echo "every backend that can't be had says why"
