# session_learned.sh - learned parameters of a formula in a session: resumed after an end, the bits are those without a
# break; swaps, tune and fork are re-run with equal bits.
. "$(dirname "$0")/lib.sh"

export XDG_STATE_HOME=$WORK/home/.local/state XDG_CONFIG_HOME=$WORK/home/.config
mkdir -p "$XDG_STATE_HOME" "$XDG_CONFIG_HOME"
MODEL='seed 1; model tiny layers=2 width=32'
FORMULA='a = learn(0.3) per head; T = learn(normal(0.2), 9) per layer; bias = T(i * 0.3) * tanh(a * j) + a * T[d]; mask = d < 20; cap = learn(5) per head, layer; score = cap * tanh(s / cap)'

digest_of() {
    sed -n 's/.*digest //p' | tail -n 1
}

want=$("$PEWTER" -c "$MODEL; pe expr '$FORMULA'; train 60; digest" | digest_of)
"$PEWTER" --session learned -c "$MODEL; pe expr '$FORMULA'; train 40" >/dev/null
got=$("$PEWTER" --session learned -c 'train 20; digest' | digest_of)
{ [ -n "$want" ] && [ "$got" = "$want" ]; } || fail "resumed it ends with '$got', without a break with '$want'"
"$PEWTER" --session learned -c "pe t5; train 5; pe expr '$FORMULA'; train 5; tune stretch=0.5; fork; train 5; table; digest" \
    >/dev/null || fail "swap, tune and fork"
"$PEWTER" replay learned --verify >"$WORK/verdict" || fail "not verified: $(cat "$WORK/verdict")"
grep -q '^equal: ' "$WORK/verdict" || fail "no verdict: $(cat "$WORK/verdict")"
