#!/usr/bin/env bash
# session_positions.sh - positions that are read from tokens and from chance, and a rotation by the length, in a session:
# resumed after an end, the bits are those without a break; the recording is verified, from the beginning and from a
# checkpoint.
. "$(dirname "$0")/lib.sh"

export XDG_STATE_HOME=$WORK/home/.local/state XDG_CONFIG_HOME=$WORK/home/.config
mkdir -p "$XDG_STATE_HOME" "$XDG_CONFIG_HOME"
MODEL='seed 1; task addition lengths=1..3 order=reversed; model tiny layers=2 width=32'

digest_of() {
    sed -n 's/.*digest //p' | tail -n 1
}

for pe in abacus coupling randomized 'rope_dynamic trained=9'; do
    name=${pe%% *}
    want=$("$PEWTER" --threads 1 -c "$MODEL; pe $pe; train 60; digest" | digest_of)
    "$PEWTER" --session "$name" -c "$MODEL; pe $pe; train 40; prompt addition 27 + 95; eval samples=20" >/dev/null
    got=$("$PEWTER" --session "$name" -c 'train 20; inspect layer=1; digest' | digest_of)
    { [ -n "$want" ] && [ "$got" = "$want" ]; } ||
        fail "$pe: resumed it ends with '$got', without a break with '$want'"
    for from in "" "--from 40"; do
        # shellcheck disable=SC2086
        "$PEWTER" replay "$name" --verify $from >"$WORK/verdict" || fail "$pe $from: not verified: $(cat "$WORK/verdict")"
        grep -q '^equal: ' "$WORK/verdict" || fail "$pe $from: no verdict: $(cat "$WORK/verdict")"
    done
done
