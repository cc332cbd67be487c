# terminal_study.sh - a study is made, run and watched in the workbench, while its findings grow.
. "$(dirname "$0")/lib.sh"

cd "$WORK" || exit 1
shell 80x24
workbench --no-session
cat >live.txt <<'TEXT'
race none,t5,alibi
model tiny(layers=1,width=16,heads=2)
optim steps=60
task sort
seeds 4
eval samples=8
TEXT
command_line 'study new live live.txt'
wait_for '3 arms, '
command_line 'study watch nosuch'
wait_for '! no study in .*nosuch;'
command_line 'study watch'
wait_for '! study watch: no study is watched'
command_line 'study run live on=moon'
wait_for '! study run: on=moon: allowed are local'
command_line 'study run live gpus=1'
wait_for '! run: gpus= needs on=slurm'
command_line 'study run live jobs=1'
wait_for '┏━ 8 Findings .* live sort  1/[3-5] '
wait_for 'Findings .* live sort  1/5 ' # the first results are there: curves
keys V
wait_for '12 of at most 12 runs done, 0 running, 0 failed'
keys V z
wait_for 'exact match of each run beyond the trained'
wait_for 'arm 1 none, seed 101: [0-9]'

# The shown finding as a figure and as a table, although no session has it.
command_line 'export figure live.svg; export finding live.csv'
wait_for 'wrote live.csv'
grep -q '<title>live sort' live.svg || fail 'not the shown finding'
grep -q 'study new live .race none,t5,alibi; model tiny(' live.svg || fail 'no commands below it'
grep -q '^# live sort: sort: 3 arms' live.csv || fail "csv: $(cat live.csv)"

# Another process adds seeds; a wrong name leaves the pane as it is; a study that is gone leaves the pane.
"$PEWTER" study add live seeds=1 >out || fail "add: $(cat out)"
wait_for 'arm 1 none, seed 101'
keys V V V
wait_for 'sort: 3 arms, seeds from 101 on, 12 of at most 15'
command_line 'study watch nosuch'
wait_for '! no study in .*nosuch'
wait_for 'Findings .* live sort'
rm -r "$XDG_STATE_HOME/pewter/studies/live"
wait_for '! no study in .*live'
wait_for 'nothing measured yet'
keys q
wait_for status=0

# Without a screen: the findings in words.
printf 'study new two "race none; task sort; optim steps=2; eval samples=2; seeds 1"\nstudy watch two\nshow findings\n' |
    "$PEWTER" --plain --no-session >out 2>&1 || fail "plain: status $?: $(cat out)"
grep -q '^two: sort: 1 arms, seeds from 101 on, 0 of at most 1 runs' out || fail "not in words: $(cat out)"

# Cells in the queue of a cluster. These two programs answer as its own do.
mkdir bin
cat >bin/sbatch <<'END'
#!/bin/sh
echo 77
END
cat >bin/squeue <<END
#!/bin/sh
name=\$(sed -n 's/^token //p' "$XDG_STATE_HOME/pewter/studies/two/slurm/jobs")-1
echo "77_1|\$name|PENDING|Resources"
END
chmod +x bin/sbatch bin/squeue
PATH=$WORK/bin:$PATH "$PEWTER" study run two on=slurm >out 2>&1 || fail "submit: $(cat out)"
printf 'study watch two\nshow findings\n' | PATH=$WORK/bin:$PATH "$PEWTER" --plain --no-session >out 2>&1 ||
    fail "plain: status $?: $(cat out)"
grep -q '0 of at most 1 runs done, 0 running, 1 queued, 0 failed' out || fail "no queue: $(cat out)"
echo 'made, run, watched and drawn'
