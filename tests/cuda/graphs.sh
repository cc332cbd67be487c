#!/usr/bin/env bash
# graphs.sh - tests that steps launched as graphs equal eager steps. Runs on the emulated device, which counts them
# ($PEWTER_EMU). The script trains in mode fast with dropout and two encodings on one backend. In between it has a swap,
# an ablation, a prompt and an evaluation. Work that the graph leaves unordered runs in several orders.
#
# For eager steps, `backend cuda` moves all models to a new backend before each step. So each step is the first of its
# shape, and isn't a graph.
set -u
PEWTER=$(realpath "$1")
WORK=$(mktemp -d /tmp/pewter-graphs-XXXXXX)
trap 'rm -rf "$WORK"' EXIT
export XDG_STATE_HOME=$WORK/state
tiny='layers=2 width=16 heads=2 ffn=24 norm=layernorm bias=on dropout=0.2'
move='backend cuda'
precision=tf32
tied=on

fail() {
    echo "FAILED: $*"
    exit 1
}

# train N HOW: N steps of each arm. HOW: whole, in pieces of one step, or moved to a new backend before each step.
train() {
    local i
    case $2 in
    whole) echo "train $1" ;;
    pieces) for ((i = 0; i < $1; i++)); do echo 'train 1'; done ;;
    moved) for ((i = 0; i < $1; i++)); do echo "$move precision=$precision; train 1"; done ;;
    esac
}

script() { # script HOW
    echo "$move precision=$precision; task copy lengths=1..6"
    echo "model $tiny tied=$tied; optim batch=5; race t5,rotary"
    train 30 "$1"
    echo 'pe alibi arm=2'
    train 10 "$1"
    echo 'prompt copy 1 2; eval lengths=1..2 samples=2; ablate 0.1'
    train 5 "$1"
    echo restore
    train 15 "$1"
    echo digest
}

digests() { # digests HOW SETTINGS: prints the digests of both arms, and writes the counts to $WORK/counts
    local said
    said=$(PEWTER_EMU=counts,$2 "$PEWTER" -c "$(script "$1" | paste -sd ';')" 2>&1) || fail "$1, $2: $said"
    grep '^emulator: ' <<<"$said" >"$WORK/counts" || fail "$1, $2: nothing was counted: $said"
    grep -oE 'digest [0-9a-f]{32}' <<<"$said" | xargs
}
count() { grep -oE "$1 [0-9]+" "$WORK/counts" | head -n 1 | grep -oE '[0-9]+$'; }

check() { # check HOW...: these digests must equal those of eager steps
    local want how least
    want=$(digests moved order=forward)
    [ "$(wc -w <<<"$want")" -eq 4 ] || fail "two digests, not: $want"
    [ "$(count 'graph launches')" -eq 0 ] || fail "there are graphs where every step is the first: $(cat "$WORK/counts")"
    for how in "$@"; do
        # shellcheck disable=SC2086
        [ "$(digests $how)" = "$want" ] || fail "steps that graphs repeat have other bits: $precision, $how"
        # Two arms of 60 steps. In one go some graphs have four steps, and each shape needs one eager step and one
        # capture. With many captures a device would wait for its host.
        [[ $how = whole* ]] && least=45 || least=100
        [ "$(count 'graph launches')" -ge $least ] || fail "$how: few steps are graphs: $(cat "$WORK/counts")"
        [ "$(count captures)" -le 12 ] || fail "$how: graphs are hardly used again: $(cat "$WORK/counts")"
    done
}

check 'whole order=forward' 'whole order=reverse' 'whole deferred,order=shuffle:3' 'pieces deferred'
precision=bf16
tied=off
check 'whole order=reverse' 'whole deferred,order=shuffle:5'
export PEWTER_CUDA_SIDE=0 # one branch
check 'whole order=reverse'
echo "graphs repeat what was done"
