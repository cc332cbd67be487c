# terminal_findings.sh - a measurement from its command to the figure: headless, in lines, and on the screen.
. "$(dirname "$0")/lib.sh"

cd "$WORK" || exit 1
small='task copy lengths=1..3 test=4..5 alphabet=5; model tiny layers=1 width=16 heads=2; optim batch=4'

# Headless and in lines: both print the verdict and write the same figure.
"$PEWTER" -c 'reproduce buckets' >out 2>&1 || fail "reproduce: status $?: $(cat out)"
grep -q '^ reproduced: .*bucket' out || fail "no verdict: $(cat out)"
grep -q '^wrote buckets.svg' out || fail "no figure: $(cat out)"
mv buckets.svg headless.svg
printf 'reproduce buckets\nshow findings\n' | "$PEWTER" --plain >out 2>&1 || fail "plain: status $?: $(cat out)"
[ "$(grep -c 'T5.s buckets by distance' out)" -ge 2 ] || fail "not shown in words: $(cat out)"
cmp -s buckets.svg headless.svg || fail 'the figure has other bytes'
"$PEWTER" -c 'reproduce buckets figure="a \"b\" c.svg"; export finding f.csv' >out 2>&1 || fail "quotes: $(cat out)"
[ -s 'a "b" c.svg' ] || fail 'no figure of that name'
grep -q '^# claims' f.csv || fail "csv: $(cat f.csv)"
"$PEWTER" -c 'reproduce buckets figure=x.gif' >out 2>&1 && fail 'a .gif is taken'
[ "$(wc -l <out)" = 1 ] || fail "not one line: $(cat out)"

# On the screen: measured during training, inspected, and shown at a past moment of the session.
shell 80x24
workbench --session "$WORK/watch"
line ":$small"
command_line 'probe dispersion samples=1 every=10'
wait_for '^ 8 Findings: dispersion 1: ' # there is no room for its pane
keys 8
wait_for '┏━ 8 Findings .*dispersion 1 .* 1/[2-9]'
wait_for '^┃ln\(keys\) [0-9.]+  ● layer 0'
keys v
wait_for '┏━ 8 Findings .* 2/[2-9]'
keys V
command_line 'train 25'
wait_for 'step 20'
command_line 'goto 12'
wait_for 'Findings .*step 10'
keys L
wait_for 'Findings .*step 20'
command_line 'reproduce buckets figure=off'
wait_for 'Findings .*buckets .*reproduced'
keys '['
wait_for 'Findings .*dispersion 1'
command_line 'export figure shown.svg'
wait_for 'wrote shown.svg'
grep -q '<title>dispersion 1' shown.svg || fail 'the figure differs from the screen'
keys ] z
wait_for 'released code: first distances'
keys q
wait_for status=0
"$PEWTER" replay "$WORK/watch" --verify >out 2>&1 || fail "verify: status $?: $(cat out)"
echo 'measured, shown, drawn and verified'
