#!/usr/bin/env bash
# graphs.sh - steps that a graph repeats are the steps that ran by themselves. On the emulated device ($PEWTER_EMU tells how
# many there were): a whole script of training in mode fast, with dropout, two encodings on one backend, a swap, an ablation,
# a prompt and an evaluation in between. What a graph's branches leave open comes in several orders.
#
# What ran by itself: `backend cuda` moves all models to a backend that has done nothing yet, so that a step behind it is the
# first of its shape, and no graph.
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

# train N HOW: so many steps of each arm, HOW: whole, pieces of one, or each moved to a fresh backend.
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

digests() { # digests HOW SETTINGS: of both arms; what was counted lies in $WORK/counts
    local said
    said=$(PEWTER_EMU=counts,$2 "$PEWTER" -c "$(script "$1" | paste -sd ';')" 2>&1) || fail "$1, $2: $said"
    grep '^emulator: ' <<<"$said" >"$WORK/counts" || fail "$1, $2: nothing was counted: $said"
    grep -oE 'digest [0-9a-f]{32}' <<<"$said" | xargs
}
count() { grep -oE "$1 [0-9]+" "$WORK/counts" | head -n 1 | grep -oE '[0-9]+$'; }

check() { # check HOW...: the digests of these are those of what ran by itself
    local want how least
    want=$(digests moved order=forward)
    [ "$(wc -w <<<"$want")" -eq 4 ] || fail "two digests, not: $want"
    [ "$(count 'graph launches')" -eq 0 ] || fail "there are graphs where every step is the first: $(cat "$WORK/counts")"
    for how in "$@"; do
        # shellcheck disable=SC2086
        [ "$(digests $how)" = "$want" ] || fail "steps that graphs repeat have other bits: $precision, $how"
        # Two arms of 60 steps, in one go some of them four a graph, and of each shape one step and one capture; few of
        # these, or a device waits for its host.
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
