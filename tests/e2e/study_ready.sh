#!/usr/bin/env bash
# study_ready.sh - tests the studies that come with pewter, the two scales of a text, the size of a study, and the
# weights that its runs keep.
. "$(dirname "$0")/lib_files.sh"

said() { # said PATTERN: the output of the last command has such a line
    grep -Eq -- "$1" out || check "no '$1'" false
}
study() { # study VERB ...: runs it; its output is in out
    "$PEWTER" study "$@" >out 2>err
}
refuse() { # refuse PATTERN VERB ...: one line says why
    local pattern=$1
    shift
    if study "$@" || ! grep -q -- "$pattern" err || [ "$(wc -l <err)" -ne 1 ]; then
        check "'study $*' is refused with '$pattern'" false
    fi
}
PLACE=$XDG_STATE_HOME/pewter/studies

# ---- each ready study is made at both scales: pewter accepts its lines
check "the list" study ready
[ "$(wc -l <out)" -eq 5 ] || check "four studies and a line about them" false
for name in content figure4 scratchpads table; do
    study ready
    said "^$name +[A-Z].*[?] \([A-Z][a-z]+ et al"
    for scale in toy paper; do
        check "$name at scale $scale" study new "$name-$scale" "ready=$name" "scale=$scale"
        if grep -Eq '^(toy|paper):' "$PLACE/$name-$scale/study.txt"; then
            check "$name at scale $scale has no scales in its text" false
        fi
    done
done
study new defaults ready=table
check "toy is the default" cmp -s "$PLACE/defaults/study.txt" "$PLACE/table-toy/study.txt"
refuse "no ready study 'tabel'; there are content, figure4, scratchpads, table" new x ready=tabel
refuse 'scale=papr: allowed are toy|paper' new x ready=table scale=papr
refuse 'ready=table has a text; remove' new x ready=table 'race none'
refuse "no scale 'tyo'; allowed are toy and paper" new x 'race none; tyo: task sort'
refuse "t6 with task sort cannot run: no encoding 't6'" new x 'race t6; task sort; model paper'

# ---- a user's own text with scales
cat >own.study <<'END'
race none # one arm
toy: task copy(variant=rsc,lengths=3..3,test=4..4,alphabet=3); paper: task copy
toy: model tiny(layers=1,width=16,heads=2); optim steps=30; seeds 2; eval samples=4
END
check "a file" study new own own.study
said '1 arm, 1 task, 0 comparisons, 2 seeds: 2 runs$'
check "paper" study new own-paper own.study scale=paper
check "its text" grep -Fxq 'task copy' "$PLACE/own-paper/study.txt"

# ---- its size is what its runs count: all samples have one length, so the mean is exact
check "size" study size own
said '^  none +[0-9]+ +[0-9.e+]+ +[0-9]+ +30 +[0-9.e+]+$'
SUM=$(sed -n 's/^2 seeds: 2 runs, \(.*\) operations$/\1/p' out)
check "it runs" study run own
study status own
check "size counts what runs count" grep -Fq "; 60 steps, ${SUM:-none} operations, " out
# ---- a run that was killed between training and measuring has the operations of its recorded steps
study new resumed 'race none; task copy(variant=rsc,lengths=3..3,test=4..4,alphabet=3); seeds 1; eval samples=4
model tiny(layers=1,width=16,heads=2); optim steps=30'
study run resumed
CELL=$(find "$PLACE/resumed/cells" -name '*.json')
sed 's/"seconds":[^,]*//' "$CELL" >before
rm "$CELL"
check "as left by the kill" "$PEWTER" --session "${CELL%.json}.pewter" -c 'seed 101; model tiny context=8192
task copy variant=rsc lengths=3..3 test=4..4 alphabet=3; model tiny layers=1 width=16 heads=2; pe none
optim steps=30; train' >out 2>err
check "it continues" study run resumed
sed 's/"seconds":[^,]*//' "$CELL" >after
check "the same result" cmp before after
check "with operations" grep -q '"operations":[1-9]' after

# ---- hours
check "measured" study size own measure=on jobs=2
said '^2 seeds: 2 runs, .* operations; [0-9.e-]+ hours here with jobs=2 threads=1$'
check "the paper's table, at a rate" study size table-paper rate=100
said '^3 seeds: 255 runs, 1[.]07e[+]19 operations; 29[.][0-9] hours of a device with 100 TFLOPS$'
refuse 'study size: measure=maybe: allowed are on|off' size own measure=maybe

# ---- a ready study runs, at a very small size, and its weights can be read
study new small ready=figure4
sed -i 's/steps=8000/steps=4/' "$PLACE/small/study.txt"
check "it runs" study run small
refuse 'needs out=FOLDER' weights small
refuse "no statement 'keep weights'" weights own out=models
check "weights" study weights small out=models
said '^the weights of 10 runs are in models$'
for name in none none-2 none_other t5 alibi rotary sinusoidal; do
    check "$name.safetensors" [ -s "models/$name.safetensors" ]
done
check "NoPE* is NoPE with the next seed" cmp -s models/none_other.safetensors models/none-2.safetensors
if cmp -s models/none.safetensors models/none-2.safetensors; then
    check "another seed has other weights" false
fi
check "they are read" "$PEWTER" --no-session -c 'task scan; model tiny context=fit; pe t5 buckets=32 distance=128
import weights models/t5.safetensors' >out 2>err

exit "$failed"
