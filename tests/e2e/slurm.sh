#!/usr/bin/env bash
# slurm.sh - tests studies on a cluster: a Slurm of one node, whose parts are killed, with cells that fail, are cut off
# by the limit of time, or find a full disk; two studies at once. Nothing is lost, nothing is computed twice, and
# status is true all the while.
# shellcheck disable=SC2317 # wait_until calls functions
. "$(dirname "$0")/lib_files.sh"
MAX_ARRAY=11 # so that 30 cells are three arrays
. "$(dirname "$0")/lib_slurm.sh"

STUDIES=$XDG_STATE_HOME/pewter/studies
PATIENCE=120 # seconds until an expected state counts as missing
MODEL='model tiny(layers=1,width=16,heads=2); task copy(variant=rsc,lengths=2..4,test=5..6,alphabet=3); eval samples=8'

study() { # study VERB ...: runs it; its output is in out
    "$PEWTER" study "$@" >out 2>err
}
said() { # said PATTERN: the output of the last command has such a line
    grep -Eq -- "$1" out || {
        echo "FAILED: no '$1' in: $(cat out err)"
        failed=1
    }
}
refuse() { # refuse PATTERN VERB ...
    local pattern=$1
    shift
    if study "$@" || ! grep -q -- "$pattern" err || [ "$(wc -l <err)" -ne 1 ]; then
        echo "FAILED: 'study $*' says: $(cat err)"
        failed=1
    fi
}
status_says() { # status_says NAME PATTERN
    "$PEWTER" study status "$1" >now 2>&1
    grep -Eq -- "$2" now
}
await() { # await NAME PATTERN: waits for a line of its status
    wait_until "$PATIENCE" status_says "$1" "$2" || {
        echo "FAILED: status of $1 never says '$2': $(cat now; squeue; tail -n 5 "$STUDIES/$1/slurm"/*.log)"
        exit 1
    }
}
idle() { # idle PATTERN: no job of such a name is in the queue
    ! squeue --noheader --format=%j | grep -q "^$1"
}
await_idle() {
    wait_until "$PATIENCE" idle "$1-" || {
        echo "FAILED: jobs of $1 stay in the queue: $(squeue)"
        exit 1
    }
}
trainer() { # trainer NAME: the process that trains, as soon as its session has a first checkpoint
    [ -n "$(find "$STUDIES/$1/cells" -path '*/files/*')" ] && pgrep -f -- "--session $STUDIES/$1/cells/.* --json"
}
hold() { # hold NAME: stops the process that trains as soon as it does, so that its cell can't end meanwhile
    local pid until=$((SECONDS + PATIENCE))
    until pid=$(trainer "$1"); do
        [ "$SECONDS" -lt "$until" ] || check "$1 trains: $(logs "$1")" false
        sleep 0.02
    done
    kill -STOP "$pid"
}
logs() { # logs NAME: the lines of its cells
    cat "$STUDIES/$1/slurm"/*.log
}
logs_say() { # logs_say NAME PATTERN
    logs "$1" | grep -Eq "$2"
}
computed_once() { # computed_once NAME: no cell was computed twice. A job reports a cell after its result is there.
    await_idle "$1"
    logs "$1" | sed -n 's/^cell \(.*\): computed$/\1/p' | sort >cells
    check "$1: logs: $(logs "$1")" [ -s cells ]
    check "$1: twice: $(uniq -d cells | head -3)" [ -z "$(uniq -d cells)" ]
}
same_report() { # same_report NAME: as a run on this machine
    study new "here-$1" "$STUDIES/$1/study.txt"
    check "$1 runs here" study run "here-$1"
    "$PEWTER" study report "$1" | grep -v '^cost: ' >there.txt
    "$PEWTER" study report "here-$1" | grep -v '^cost: ' | sed "s/here-$1/$1/" >here.txt
    check "the report of $1: $(diff here.txt there.txt | head -5)" cmp -s here.txt there.txt
}

# ---- mistakes, without Slurm
study new plain "race none; $MODEL; optim steps=2; seeds 1"
refuse 'on=cluster: allowed are local|slurm' run plain on=cluster
refuse 'partition= needs on=slurm; of on=local allowed are jobs=, threads=' run plain partition=all
refuse 'jobs= needs on=local; of on=slurm allowed are partition=' run plain on=slurm jobs=2
refuse 'time=soon: allowed are minutes, such as 90, or H:MM:SS' run plain on=slurm time=soon
refuse 'time=1:70:00: allowed' run plain on=slurm time=1:70:00
check "no Slurm" [ "$(env PATH=/nowhere "$PEWTER" study run plain on=slurm 2>&1)" = \
    "pewter: on=slurm: no program 'sbatch' in PATH; allowed are on=local, on=slurm" ]
check "a refused run leaves no record" [ ! -e "$STUDIES/plain/slurm" ]

slurm_begin
refuse 'on=slurm: sbatch: .*[Ii]nvalid partition' run plain on=slurm partition=none

"$PEWTER" -c 'study run plain on=slurm partition=none' >out 2>err
check "the workbench's command refuses it, too" grep -q 'sbatch: .*[Ii]nvalid partition' err
check "the workbench's command submits" "$PEWTER" -c 'study run plain on=slurm' >out 2>err
said '^job [0-9]+: 1 cells in 1 tasks$'

# ---- three studies at once; one is submitted by two processes, and their node crashes while a long cell runs
study new long "race none; $MODEL; optim steps=8000; seeds 1"
study run long on=slurm
await long '^0 of at most 1 runs done, 1 running'
study new whole "race none,t5(buckets=8),alibi; $MODEL; optim steps=200; seeds 10"
study new more "race none,alibi; $MODEL; optim steps=40; seeds 2..4"
SQUEUE_STATES=RUNNING "$PEWTER" study run whole on=slurm >first 2>&1 &
first=$!
check "a second process submits" study run whole on=slurm
wait $first
check "30 cells are submitted: $(cat first out)" [ "$(cat "$STUDIES"/whole/slurm/*.cells | wc -l)" -eq 30 ]
check "in three arrays" [ "$(find "$STUDIES/whole/slurm" -name '*.cells' | wc -l)" -eq 3 ]
(
    while [ -d "$WORK" ] && [ ! -e whole.done ]; do
        "$PEWTER" study status whole >>watched
        sleep 0.1
    done
) &
watch=$!
check "another study" study run more on=slurm cells=2 time=10 partition=all
said '^job [0-9]+: 4 cells in 2 tasks$'
await whole '^([3-9]|[12][0-9]) of at most 30 runs done'
victim=$(squeue --noheader --array --states=PENDING --format=%i --name="$(sed -n 's/token //p' "$STUDIES/whole/slurm/jobs")-3" | tail -n 1)
scancel "$victim"
crash_node
sleep 12 # longer than BatchStartTimeout and MessageTimeout: younger tasks of a node that comes back count as running
start_node
scontrol update NodeName="$(hostname -s)" State=RESUME
await whole '^30 of at most 30 runs done, 0 running, 0 queued, 0 failed, 0 wanted'
await_idle whole
touch whole.done
wait $watch
await long '^1 of at most 1 runs done'
computed_once long
computed_once whole
same_report whole

# The states of each look at the study have the same sum, and no result disappears. A line of counts comes first.
awk '
/ runs done, / { done = $1; running = $8; queued = $10; failed = $12; looks++
    if (done < before) { print "done falls from " before " to " done; bad = 1 }
    before = done; missing = 0; cells = 0; stars = 0; waits = 0 }
/^  (none|t5 buckets=8|alibi) +[#*qx.-]+$/ { n = $NF; cells += length(n); missing += gsub(/[.-]/, "", n)
    stars += gsub(/[*]/, "", n); waits += gsub(/q/, "", n) }
/^  alibi +[#*qx.-]+$/ { if (done + running + queued + failed + missing != 30 || cells != 30 || stars != running ||
    waits != queued) { print "sum: " done, running, queued, failed, missing; bad = 1 }
    if (queued > 0) seen = 1; if (running > 0) ran = 1 }
END { if (!seen || !ran || looks < 10) { print "looks: " looks, seen, ran; bad = 1 }
    exit bad }' watched >sums
check "status is true all the while: $(head -5 sums)" [ ! -s sums ]

await more '^8 of at most 8 runs done' # two seeds, then one more, and one more
computed_once more
same_report more

# ---- a cell that fails is not submitted again by a job, but by the user
study new broken "race none,t5(buckets=8); $MODEL; optim steps=2; seeds 1"
sed -i 's/t5(buckets=8)/t5(buckets=7777777)/' "$STUDIES/broken/study.txt"
check "a study with a failure is submitted" study run broken on=slurm
await broken '^1 of at most 2 runs done, 0 running, 0 queued, 1 failed'
await_idle broken
status_says broken '^failed: t5 buckets=7777777, copy .*, seed 101: .*buckets'
check "status of a failure: $(cat now)" grep -q '^failed: t5' now
check "the failure is submitted once" [ "$(cat "$STUDIES"/broken/slurm/*.cells | wc -l)" -eq 2 ]
mkdir bin # a scheduler with accounting
job=$(sed -n 's/^[a-z]* 1 //p' "$STUDIES/broken/slurm/jobs")
printf '#!/bin/sh\nprintf "%%s\\n" "%s_1|COMPLETED" "%s_2|TIMEOUT" "%s_3|CANCELLED by 0" "1_1|FAILED" "%s_4|TIMEOUT"\n' \
    "$job" "$job" "$job" "$job" >bin/sacct
chmod +x bin/sacct
PATH=$WORK/bin:$PATH study status broken
said "^job $job: 2 tasks ended with TIMEOUT$"
said "^job $job: 1 tasks ended with CANCELLED$"
check "the user submits it again" study run broken on=slurm
said '^job [0-9]+: 1 cells in 1 tasks$'
await broken '^1 of at most 2 runs done, 0 running, 0 queued, 1 failed'

# ---- the limit of time: the cell ends with a checkpoint, and continues in the next submission
study new limit "race none; $MODEL; optim steps=6000; seeds 1"
check "a long cell is submitted" study run limit on=slurm time=10
hold limit # the scheduler looks at its limits twice a minute
await limit '^0 of at most 1 runs done, 1 running'
job=$(sed -n 's/^array 1 //p' "$STUDIES/limit/slurm/jobs")
scontrol update JobId="$job" EndTime=now+1

# ---- meanwhile: a cell that was submitted ten times without progress is given up, until the user submits it
study new given "race none; $MODEL; optim steps=2; seeds 1"
study run given on=slurm
await given '^1 of at most 1 runs done'
await_idle given
id=$(cat "$STUDIES/given/slurm/1.cells")
rm "$STUDIES/given/cells/$id.json"
for i in 2 3 4 5 6 7 8 9 10; do
    echo "$id@$((i * 10))" >"$STUDIES/given/slurm/$i.cells"
    echo "ended $i 1" >>"$STUDIES/given/slurm/jobs"
done
check "a job that continues the study" study run given on=slurm follow=on
said '^job [0-9]+: 1 cells in 1 tasks$' # it came further each time
await given '^1 of at most 1 runs done'
await_idle given
rm "$STUDIES/given/cells/$id.json"
for i in 2 3 4 5 6 7 8 9 10; do
    echo "$id" >"$STUDIES/given/slurm/$i.cells"
done
check "a job that continues the study" study run given on=slurm follow=on
said '^nothing to submit: 0 of at most 1 runs done, 0 running, 0 queued, 1 failed'
status_says given '^failed: none, copy .*: 11 submissions ended without a result, and without a checkpoint after step 0: '
check "a cell is given up: $(cat now)" grep -q '11 submissions' now
check "the user submits it" study run given on=slurm
await given '^1 of at most 1 runs done'

# ---- the limit of time has come
wait_until "$PATIENCE" logs_say limit 'CANCELLED|: interrupted' || check "a job is cut off by the limit of time" false
kill -CONT "$(trainer limit)" 2>/dev/null
await limit '^1 of at most 1 runs done, 0 running, 0 queued, 0 failed'
check "the cell ended in order: $(logs limit)" [ "$(logs limit | grep -c '^cell .*: interrupted')" -eq 1 ]
computed_once limit
same_report limit

# ---- stop, and continue from the checkpoint
study new halted "race none,alibi; $MODEL; optim steps=6000; seeds 1"
study run halted on=slurm cells=2
hold halted
await halted '^0 of at most 2 runs done, 1 running, 1 queued'
check "stop" study stop halted
said '^2 jobs of the cluster were cancelled$'
kill -CONT "$(trainer halted)"
await_idle halted
await halted '^0 of at most 2 runs done, 0 running, 0 queued, 0 failed, 2 wanted'
check "the session stays" [ -n "$(find "$STUDIES/halted/cells" -name '*.pewter')" ]
check "a job that comes late submits nothing" study run halted on=slurm follow=on
said 'was stopped'
check "stop again" study stop halted
check "run again" study run halted on=slurm cells=2

await halted '^2 of at most 2 runs done'
same_report halted

# ---- a full disk: nothing is submitted, or cells fail; with room again the user continues
mkdir "$WORK/disk"
if mount -t tmpfs -o size=40m tmpfs "$WORK/disk" 2>/dev/null; then
    full=$WORK/disk/full
    fill() { head -c 50m /dev/zero >"$WORK/disk/filler" 2>/dev/null; }
    study new "$full" "race none,alibi; $MODEL; optim steps=40; seeds 2"
    fill
    refuse 'No space left' run "$full" on=slurm
    check "nothing is submitted" idle full-
    rm "$WORK/disk/filler"
    scontrol update NodeName="$(hostname -s)" State=DRAIN Reason=test
    check "submitted" study run "$full" on=slurm
    fill
    scontrol update NodeName="$(hostname -s)" State=RESUME
    wait_until "$PATIENCE" idle 'full-.*-[1-9]' || check "cells end on a full disk" false
    check "status of a full disk" study status "$full"
    said '^0 of at most 4 runs done, 0 running, 0 queued, [0-4] failed'
    rm "$WORK/disk/filler"
    check "with room: $(cat out)" study run "$full" on=slurm
    await "$full" '^4 of at most 4 runs done, 0 running, 0 queued, 0 failed'
    four() { [ "$(cat "$full"/slurm/*.log | grep -c ': computed$')" -eq 4 ]; }
    wait_until "$PATIENCE" four || check "each is computed once" false
    scancel --name="$(sed -n 's/^token //p' "$full/slurm/jobs")-next" # it tries once a minute
else
    echo "no file system of its own can be mounted, so no disk is full here"
fi

# ---- the scheduler loses all jobs; the same command submits the cells again
study new lost "race none,alibi; $MODEL; optim steps=10; seeds 3"
study run lost on=slurm
kill -9 "$CONTROLLER"
sed 's/^MessageTimeout=.*/MessageTimeout=1/' "$SLURM_CONF" >impatient.conf
SLURM_CONF=$WORK/impatient.conf study status lost
said '^jobs as recorded: squeue: .*'
said '^[0-9] of at most 6 runs done, [0-9] running, [0-6] queued'
SLURM_CONF=$WORK/impatient.conf refuse 'on=slurm: squeue: ' run lost on=slurm
start_controller -c
wait_until "$PATIENCE" node_is_up || check "the scheduler comes up" false
check "the jobs are lost" idle lost-
check "the same command" study run lost on=slurm
await lost '^6 of at most 6 runs done'
await_idle lost
same_report lost

exit "$failed"
