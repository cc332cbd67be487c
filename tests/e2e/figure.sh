#!/usr/bin/env bash
# figure.sh - tests figures as files. In a script a figure waits for the commands before it. Figures also work in line
# mode, and on the screen, where they draw the focused pane and its page.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 1

complains() { # complains MESSAGE COMMANDS: one line, status 1, and no file
    rm -f x.*
    "$PEWTER" -c "$2" >out 2>err && fail "worked: $2"
    { [ "$(wc -l <err)" = 1 ] && grep -qF -- "$1" err; } || fail "$2 said: $(cat err)"
    ls x.* 2>/dev/null && fail "a file was written in spite of the error: $2"
}
title() {
    sed -n 's:^<title>\(.*\)</title>$:\1:p' "$1"
}

# In a script each figure shows the state at its place. The same commands give the same bytes.
script='seed 3; race none,t5 seeds=2; train 20; export figure a.svg pane=curves; export curves c.csv; train 20; eval samples=8
    export figure b.svg pane=curves; export figure l.svg pane=lengths; export figure b.pdf pane=lengths; export lengths l.csv'
"$PEWTER" -c "$script" >out 2>err || fail "$(cat err)"
[ "$(grep -c '^wrote [abcl]\.' out)" = 6 ] || fail "not all files are named: $(cat out)"
[ "$(wc -l <c.csv)" = 81 ] || fail "the lab's export has later data"
grep -q '>20</text>' a.svg || fail "20 steps"
grep -q '>40</text>' b.svg || fail "40 steps"
grep -q 'pewter [0-9.]*: seed 3; race none,t5 seeds=2; train 20 (2 times)\|train 20; train 20' b.svg || fail "the commands"
[ "$(head -c 4 b.pdf)" = %PDF ] || fail "a PDF"
mkdir again && (cd again && "$PEWTER" -c "$script" >/dev/null 2>&1)
for file in a b l; do
    cmp -s $file.svg again/$file.svg || fail "$file.svg: the same commands, other bytes"
done
grep -qE '/tmp|20[0-9][0-9]-' a.svg b.svg l.svg && fail "a path or a date"

# Pages that draw more than the arm itself: the difference from another arm's encoding, attention of a file.
"$PEWTER" -c 'seed 3; race none,t5; train 2; table; arm 2; table; prompt sort 3 1; export attention a.npz
    import attention a.npz; export figure d.svg pane=encoding page=difference reference=1
    export figure f.svg pane=attention page=file_heads' >out 2>err || fail "$(cat err)"
[ "$(title d.svg)" = 'Kernel by distance: 2 t5 8/16 minus 1 none' ] || fail "not the difference: $(title d.svg)"
grep -q 'from the file a.npz, .* import attention a.npz' <(tr '\n' ' ' <f.svg) || fail "not the file's attention"
complains "reference=1 is the arm itself" 'train 2; table; export figure x.svg pane=encoding page=difference reference=1'
complains "no attention of a file" 'train 2; export figure x.svg pane=attention page=file'

# A figure draws the chosen arm, computed with its current weights, whichever arm answered the prompt last.
drawn='seed 3; race none,t5; train 20; prompt sort 3 1'
"$PEWTER" -c "$drawn; arm 2; export figure h.svg pane=attention page=heads; export figure t.svg pane=step
    export figure k.svg pane=encoding page=kernel; screenshot s.txt size=200x60 focus=attention zoom=on; show prompt
    train 5; export figure n.svg pane=attention; arm 1; export figure o.svg pane=step
    export figure r.svg pane=encoding page=difference reference=2" >out 2>err || fail "$(cat err)"
"$PEWTER" -c "seed 3; race none,t5; train 20; arm 2; prompt sort 3 1; export figure want.svg pane=attention page=heads" >out2 ||
    fail "the second arm's answer"
caption() {
    sed -n 's/.*[Aa]rm \([12] [a-z0-9/ ]*\) at step \([0-9]*\).*/\1 \2/p' "$1" | head -1
}
images() {
    grep -o 'base64,[^"]*' "$1"
}
[ "$(caption h.svg), $(caption t.svg)" = '2 t5 8/16 20, 2 t5 8/16 20' ] || fail "not arm 2: $(caption h.svg), $(caption t.svg)"
diff <(images h.svg) <(images want.svg) >/dev/null || fail "the caption says arm 2, and the maps are others"
grep -q 't5.*step 20' s.txt || fail "the screen shows another arm's attention"
grep -q '^arm 2  step 20' out || fail "the text is of another arm's answer"
[ "$(caption n.svg), $(caption o.svg)" = '2 t5 8/16 25, 1 none 25' ] || fail "not the current state: $(caption n.svg), $(caption o.svg)"
[ "$(title k.svg), $(title r.svg)" = 'Score by distance: 2 t5 8/16, Kernel by distance: 1 none minus 2 t5 8/16' ] ||
    fail "not the chosen arm's table: $(title k.svg), $(title r.svg)"

# A page first computes missing data: an evaluation, the list of failing samples. Existing data are not computed
# again.
computed() { # computed COMMANDS FIGURE: the figure runs these commands, and equals the one after typing them
    rm -f x.svg y.svg
    "$PEWTER" --json -c "$MADE; export figure x.svg $2" >out 2>err || fail "$2: $(cat err)"
    [ "$(sed -n 's/.*"kind":"command".*"text":"\([^"]*\)".*/\1/p' out | tail -n +5 | tr '\n' ';')" = "$1;" ] ||
        fail "$2 runs: $(grep '"kind":"command"' out)"
    "$PEWTER" -c "$MADE; $1; export figure y.svg $2" >out 2>err || fail "$1; $2: $(cat err)"
    cmp -s x.svg y.svg || fail "$2: another picture than after '$1'"
}
MADE='model tiny layers=1 width=16 heads=2; task sort lengths=2..3 test=4..4; race none,t5; train 2'
computed 'eval' 'pane=lengths'
computed 'eval' 'pane=lengths page=tests'
computed 'eval' 'pane=curves page=exact'
computed 'eval;failing arm=2' 'pane=lengths page=failing arm=2'
"$PEWTER" --json -c "$MADE; eval samples=3; table length=9; export figure x.svg pane=lengths
    export figure y.svg pane=encoding" >out 2>err || fail "$(cat err)"
[ "$(grep -c '"kind":"command"' out)" = 6 ] || fail "computes existing data again: $(grep '"kind":"command"' out)"
rm -f x.svg y.svg

# The user's own words and font; the loss axis is logarithmic, as on the screen.
"$PEWTER" -c 'race none,t5; train 20; export figure w.svg pane=curves names="NoPE,with a bias" xlabel=steps ylabel="cross entropy" font=serif
    export figure v.svg pane=curves names=,T5; export figure u.svg pane=curves log=off' >out 2>err || fail "$(cat err)"
for word in '>NoPE ' '>with a bias ' '>steps<' '>cross entropy<' '"Times,'; do
    grep -qF -- "$word" w.svg || fail "no $word in the figure"
done
{ grep -q '>1 none ' v.svg && grep -q '>T5 ' v.svg; } || fail "an empty name is not the arm's own: $(grep -o '<text.*' v.svg)"
{ grep -q '(logarithmic)' v.svg && ! grep -q '(logarithmic)' u.svg; } || fail "a figure's axis is not the screen's"

complains 'without a screen it must be named: pane=curves|lengths|attention' 'train 2; export figure x.svg'
complains "nothing to draw yet: no prompt's attention; run 'prompt copy " 'task copy; export figure x.svg pane=attention'
complains "nothing to draw yet: no prompt; run 'prompt sort " 'export figure x.svg pane=prompt'
complains 'nothing to draw yet: this encoding has no buckets' 'train 2; export figure x.svg pane=encoding page=buckets'
complains 'export figure: x.gif: the extension must be .svg, .pdf or .png' 'train 2; export figure x.gif pane=curves'
complains 'pane=heads: allowed are focused|curves' 'export figure x.svg pane=heads'
complains "curves has no page 'map'; there are loss, exact" 'train 2; export figure x.svg pane=curves page=map'
complains 'width=10: allowed are 240..2000' 'export figure x.svg pane=curves width=10'
complains 'usage: export figure FILE.svg|pdf|png' 'export figure'
complains "no option 'size'" 'export figure x.svg size=3'
complains "did you mean 'lengths'" 'export length x.csv'
# A command that fails in the lab drops the rest of the line in the workbench.
complains "export: cannot export 'nothing': weights" 'export nothing x.csv; export figure x.svg pane=log'

# Line mode, one command a line.
printf 'train 2\nexport figure p.svg pane=curves\nexport curves p.csv\n' | "$PEWTER" --plain >out 2>err || fail "$(cat err)"
{ [ -s p.svg ] && [ -s p.csv ]; } || fail "no files in line mode"

# On the screen: the focused pane and the page that it shows.
shell 100x30
workbench
wait_for 'sort'
command_line 'race none,t5'
command_line 'train 20'
wait_for 'idle 20'
keys 1
command_line "export figure $WORK/s1.svg"
wait_for "wrote $WORK/s1.svg"
[ "$(title "$WORK/s1.svg")" = "Loss over training" ] || fail "not the pane with the focus"
command_line 'eval samples=16'
keys 2
wait_for 'of 16 exact'
keys v
wait_for 'errors 2/4'
command_line "export figure $WORK/s2.svg"
wait_for "wrote $WORK/s2.svg"
[ "$(title "$WORK/s2.svg")" = 'First errors of answers: 1 none' ] || fail "not the page: $(title "$WORK/s2.svg")"
command_line "export figure $WORK/s3.png pane=curves page=accuracy"
wait_for "wrote $WORK/s3.png"
[ "$(head -c 4 "$WORK/s3.png" | tail -c 3)" = PNG ] || fail "a PNG"
keys 5
wait_for 'kernel'
keys d '>' # the export below draws this page
command_line "export figure $WORK/s5.svg"
wait_for "wrote $WORK/s5.svg"
case $(title "$WORK/s5.svg") in *' by distance: 2 t5 8/16 minus 1 none') ;; *) fail "not what is compared: $(title "$WORK/s5.svg")" ;; esac
command_line "export lengths $WORK/s.csv"
until_true "the laboratory's half" test -s "$WORK/s.csv"
command_line "export figure $WORK/s4.svg pane=attention"
wait_for '^! export figure: nothing to draw yet: no prompt'
# In one typed line each figure shows the state after the commands before it, also during training.
command_line 'prompt sort 3 1'
command_line 'arm 1; export figure a1.svg pane=step; arm 2; export figure a2.svg pane=step'
wait_for 'wrote a2.svg'
[ "$(caption a1.svg), $(caption a2.svg)" = '1 none 20, 2 t5 8/16 20' ] ||
    fail "one line: $(caption a1.svg), $(caption a2.svg)"
command_line 'train'
command_line 'arm 1; export figure a3.svg pane=attention; arm 2; screenshot a4.txt focus=step'
wait_for 'wrote a4.txt'
case $(caption a3.svg) in '1 none '*) ;; *) fail "while training: $(caption a3.svg)" ;; esac
grep -q 't5' a4.txt || fail "the screen while training"
command_line 'stop'

command_line "import attention $WORK/a.npz"
keys 3
wait_for 'file '
keys ']'
command_line "export figure $WORK/s6.svg"
wait_for "wrote $WORK/s6.svg"
{ [ "$(title "$WORK/s6.svg")" = 'Attention of head L0H1: probabilities' ] && grep -q 'from the file' "$WORK/s6.svg"; } ||
    fail "not the file's head: $(title "$WORK/s6.svg")"
