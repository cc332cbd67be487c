#!/usr/bin/env bash
# blog.sh - runs studies of Su 2024 from beginning to end: a script, probes of each arm of each model, all models
# together, a figure. One model must decide no claim, and a session with probes must re-run to the same bits.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 1

"$PEWTER" -c 'reproduce permutation; reproduce shift steps=2 seeds=4 figure=s.svg' >out 2>err || fail "$(cat err)"
[ "$(grep -c '^ reproduced: ' out)" -ge 5 ] || fail "what is reproduced: $(cat out)"
grep -q ': mean .* of 4 trained models, 95 % interval ' out || fail "no interval: $(cat out)"
for k in 1 2 3 4; do
    grep -q "^  seed $((9000 + k)) " out || fail "model $k: $(cat out)"
done
"$PEWTER" -c 'judge shift model=1' >out2 2>err && fail "judged without a measurement"
grep -q "judge shift: the lab has task 'sort', the study needs 'copy variant=rdc'" err || fail "$(cat err)"
grep -q '^ comparison of the arms' out || fail "comparison of the arms: $(cat out)"
for arm in '1 none' '2 learned' '3 rotary' '4 alibi'; do
    grep -q "^  $arm " out || fail "arm $arm: $(cat out)"
done
grep -q '<title>.*shift' s.svg || fail "the figure: $(head -c 300 s.svg)"
[ -s permutation.svg ] || fail "the figure of a study without a judge"

"$PEWTER" --session probes -c 'race none,alibi; train 2; probe decay samples=2; probe scores samples=8 arm=2
    probe position samples=8 arm=1; probe resolution samples=8' >out 2>err || fail "$(cat err)"
grep -q '^ [a-z ]*: Haviv et al. 2022' out && fail "one model decides a claim: $(cat out)"
grep -q 'makes no claim about it: .reproduce position. trains several' out || fail "it doesn't say where claims are: $(cat out)"
"$PEWTER" replay probes --verify >out 2>err || fail "$(cat out err)"
grep -q '^equal: ' out || fail "verified: $(cat out)"

"$PEWTER" -c 'probe position length=129' >out 2>err && fail "longer than the context"
grep -qx 'pewter: probe position: length=129: arm 1 reads at most 128 tokens' err || fail "$(cat err)"
exit 0
