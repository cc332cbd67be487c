#!/usr/bin/env bash
# study.sh - tests studies from the command line: kill -9 at any moment, failures, a second process, more seeds, files.
. "$(dirname "$0")/lib_files.sh"

said() { # said PATTERN: the output of the last command has such a line
    grep -Eq -- "$1" out || {
        echo "FAILED: no '$1' in: $(cat out err)"
        failed=1
    }
}
study() { # study VERB ...: runs it; its output is in out
    "$PEWTER" study "$@" >out 2>err
}
TEXT='race none,t5(buckets=8),alibi; model tiny(layers=1,width=16,heads=2)
# a comment; with a semicolon, and an apostrophe: it isn'"'"'t read
task copy(variant=rsc,lengths=2..4,test=5..6,alphabet=3); optim steps=60; seeds 3; eval samples=8'

# ---- mistakes leave nothing behind
refuse() { # refuse PATTERN VERB ...
    local pattern=$1
    shift
    if study "$@" || ! grep -q -- "$pattern" err || [ "$(wc -l <err)" -ne 1 ]; then
        echo "FAILED: 'study $*' says: $(cat err)"
        failed=1
    fi
}
refuse "no verb 'nwe'; did you mean 'new'" nwe
refuse "no encoding 't6'; did you mean 't5'?$" new x 'race none,t6; task sort'
refuse "no task 'srt'" new x 'race none; task srt'
refuse "ask: no arm 't5' in this study" new x 'race none,alibi; task sort; ask none:t5'
refuse "seed: no such statement; did you mean 'seeds'?" new x 'race none; task sort; seed 5'
refuse 'a parenthesis is not closed' new x 'race none,t5(buckets=8; task sort'
refuse 'a quote is not closed' new x 'race none,"t5; task sort'
refuse "'none' is there twice" new x 'race none,none; task sort'
refuse "a study needs 'task'" new x 'race none'
refuse 'allowed are a number N or a range A..B' new x 'race none; task sort; seeds 9..3'
refuse 'no study in .*; .study new' run x
refuse 'allowed are on= jobs= threads=' run x cores=2
[ ! -e "$XDG_STATE_HOME/pewter/studies/x" ] || check "a refused study leaves a folder" false

# ---- a formula of several statements, with its ';' and its name in tables and CSV
check "a study of formulas" study new formula 'race none,"expr a = learn(0.1) per head; bias = -a*d"
model tiny(layers=1,width=16,heads=2); task copy(variant=rsc,lengths=2..3,test=4..4,alphabet=3); optim steps=3
seeds 1; eval samples=4'
check "it runs" study run formula
check "its report" study report formula out=formula
said 'expr a = learn'
check "its CSV" grep -q ',"expr a = learn(0.1) per head; bias = -a\*d","copy ' formula/cells.csv

# ---- a study without interruption
check "a study is made" study new whole "$TEXT"
said '3 arms, 1 task, 3 comparisons, 3 seeds: 9 runs$'
refuse 'is there already' new whole "$TEXT"
check "it runs" study run whole
check "its status" study status whole
said '^9 of at most 9 runs done, 0 running, 0 failed, 0 wanted now; 540 steps'
OPERATIONS=$(sed -n 's/.* 540 steps, \(.* operations\), .*/\1/p' out)
said '^nothing is left to run$'
check "its report" study report whole out=files
grep -v '^cost: ' files/report.txt >whole.txt
for f in report.html cells.csv task1.svg task1.pdf; do check "the report has $f" [ -s "files/$f" ]; done
check "the picture says how it is made" grep -q "study new whole 'race none,t5(buckets=8),alibi; model tiny(" files/task1.svg
check "the page stands alone" grep -q '<svg' files/report.html
check "a line for each cell and length" [ "$(wc -l <files/cells.csv)" -eq $((9 * 5 + 1)) ]
SESSION=$(find "$XDG_STATE_HOME/pewter/studies/whole/cells" -name '*.json' | head -1)
SESSION=${SESSION%.json}.pewter
check "a session" "$PEWTER" --session "$SESSION" -c "digest" # as left by a kill just after the result
check "its results in one file" study gather whole out=files/r.sqlite
said 'wrote files/r.sqlite: 9 of at most 9 runs'
check "a SQLite file" [ "$(head -c 15 files/r.sqlite)" = "SQLite format 3" ]
refuse 'allowed are out=' gather whole to=x
check "cells are not computed twice" study run whole
[ ! -s out ] || check "nothing ran: $(cat out)" false
check "the session is removed" [ ! -e "$SESSION" ]

# ---- the same, killed again and again: the runner, a cell, or the pewter that trains
study new killed "$TEXT"
PLACE=$XDG_STATE_HOME/pewter/studies/killed
for i in 1 2 3 4 5 6 7 8 9 10; do
    "$PEWTER" study run killed >out 2>err &
    sleep "0.$((i * 37 % 10))$i"
    case $((i % 3)) in
    0) pkill -9 -f "$PEWTER study run killed" ;;
    1) pkill -9 -n -f "$PLACE/cells/.* --json" ;;
    2) pkill -9 -f "$PLACE/cells/.* --json" && pkill -9 -f "$PEWTER study run killed" ;;
    esac
    [ $((i % 3)) -ne 1 ] || pkill -9 -f "$PEWTER study run killed"
    wait
done 2>/dev/null
# processes of a killed runner end in order, and a cell that one of them still holds runs elsewhere
for i in 1 2 3 4 5 6 7 8 9 10; do
    timeout 100 "$PEWTER" study run killed >out 2>err
    study status killed
    grep -q '^9 of at most 9 runs done' out && break
    sleep 0.5
done
said '^9 of at most 9 runs done, 0 running, 0 failed'
check "the same operations after ten kills" grep -Fq " 540 steps, ${OPERATIONS:-none}, " out
"$PEWTER" study report killed | grep -v '^cost: ' | sed 's/killed/whole/' >killed.txt
check "a run of a computed study" study run killed
check "the same report after ten kills: $(diff whole.txt killed.txt | head -5)" cmp -s whole.txt killed.txt
check "no session is left" [ -z "$(find "$PLACE/cells" -name '*.pewter*')" ]

# ---- a second runner is refused, and stop ends the first
study new long "${TEXT/steps=60/steps=200000}"
"$PEWTER" study run long >running 2>&1 &
for i in $(seq 100); do
    study status long
    grep -q ' running' out && ! grep -q ' 0 running' out && break
    sleep 0.1
done
refuse 'process [0-9]* runs this study' run long
check "stop" study stop long
said '^process [0-9]+ ends'
wait
check "stopped: $(cat running)" grep -q "stopped; 'study run' continues" running
study stop long
said '^no process runs this study here$'

# ---- a cell that fails is named, and the others are computed
study new broken "${TEXT/seeds 3/seeds 1}"
sed -i 's/t5(buckets=8)/t5(buckets=7777777)/' "$XDG_STATE_HOME/pewter/studies/broken/study.txt"
refuse '1 runs failed' run broken
check "status of a study with a failure" study status broken
said '^2 of at most 3 runs done, 0 running, 1 failed'
check "the reason without the program's name" [ "$(grep -c 'pewter:' out)" -eq 0 ]
said '^failed: t5 buckets=7777777, copy .*, seed 101: .*buckets'

# ---- damaged results are computed again, not believed
cell=$(find "$XDG_STATE_HOME/pewter/studies/whole/cells" -name '*.json' | sort | head -1)
echo '{"format":1,"id":"x"' >"$cell"
study status whole
said '^8 of at most 9 runs done, 0 running, 1 failed'
check "a damaged result runs again" study run whole
"$PEWTER" study report whole | grep -v '^cost: ' >again.txt
check "with the same report" cmp -s whole.txt again.txt

# ---- more seeds: the first results stay
check "more seeds" study add whole seeds=2
said '^seeds 3..5'
check "they run" study run whole
study status whole
said '^15 of at most 15 runs done'

exit "$failed"
