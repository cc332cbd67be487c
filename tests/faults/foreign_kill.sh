#!/usr/bin/env bash
# foreign_kill.sh - kills the program at random moments of a session with a model of another program, and continues it.
# The final state, evaluation and answers must equal those of an uninterrupted run. If the model's file is gone, the
# session opens without it, or one line names the file.
#
# usage: foreign_kill.sh PEWTER MODEL.gguf [SESSIONS]
set -eu
pewter=$1 golden=$2 sessions=${3:-4}
dir=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null || :; rm -rf "$dir"' EXIT
model=$dir/m.gguf
export XDG_STATE_HOME=$dir/home # for sessions that continue elsewhere
cp "$golden" "$model"

opening="model from=$model; prompt 2 7 22 17; tune base=600"
script="$opening; train 12000"
after="eval samples=4; prompt 2 7 3; digest"
i=0 kills=0 missed=0

fail() {
    printf 'violation: session %s: %s\n' "$i" "$*"
    cat "$dir/out" "$dir/err"
    exit 1
}

results() { # FILE: its results, from the evaluation on
    sed -n '/nats per token/,$p' "$1"
}

# start COMMANDS: starts the program. The shell's message about the killed job is suppressed.
start() {
    "$pewter" --threads 1 --session "$dir/s.pewter" -c "$1" >"$dir/out" 2>"$dir/err" &
    pid=$!
    disown
}

ended() {
    ! kill -0 "$pid" 2>/dev/null
}

kill_it() {
    if kill -9 "$pid" 2>/dev/null; then
        kills=$((kills + 1))
    fi
    until ended; do sleep 0.01; done
    pid=
}

# await COMMAND: waits until the session has this command.
await() {
    local patience
    for ((patience = 1200; patience > 0; patience--)); do
        ! "$pewter" replay "$dir/s.pewter" --json 2>/dev/null | grep '"kind":"command"' | grep -q "$1" || return 0
        sleep 0.05
    done
    fail "the session never has '$1'"
}

# without_file: opens the session while the file is away. A checkpoint that needs the file is not restored. If there is
# none yet, the command that read the model is run again and fails; the lab then continues in a new session, and this
# one stays as it is. Either way one line names the file. A session with trained weights needs no file.
without_file() {
    local lines status=0
    mv "$model" "$model.away"
    "$pewter" --session "$dir/s.pewter" -c digest >"$dir/out" 2>"$dir/err" || status=$?
    lines=$(cat "$dir/out" "$dir/err" | grep -c "$model" || :)
    if [ "$status" != 0 ]; then
        [ "$(wc -l <"$dir/err")" = 1 ] || fail "more than one line"
        grep -q "the session needs $model (SHA-256 .*): there is no such file" "$dir/err" || fail "the file is not named"
        missed=$((missed + 1))
    elif [ "$lines" != 0 ]; then
        grep -hq "$model: is missing, and the session has no copy of it" "$dir/out" "$dir/err" || fail "the file is not named"
        missed=$((missed + 1))
    else
        grep -q ' digest ' "$dir/out" || fail "opened without the file, but there is no model"
    fi
    mv "$model.away" "$model"
}

"$pewter" --threads 2 -c "$script; $after" >"$dir/whole" 2>"$dir/err"
results "$dir/whole" | grep -q digest || fail "nothing to compare with"
"$pewter" --threads 2 -c "$opening; $after" >"$dir/looked" 2>"$dir/err"
for ((i = 1; i <= sessions; i++)); do
    rm -rf "$dir/s.pewter"
    if [ $((i % 2)) = 0 ]; then # the weights are still those of the file
        more=checkpoint
        [ $((i % 4)) = 0 ] || more="mark none"
        start "$opening; $more; wait 60 s"
        await "$more"
        kill_it
        before=$missed
        without_file
        [ "$missed" -gt "$before" ] || fail "opened without the file of its weights"
        expected=$dir/looked
    else
        start "$script"
        await 'train 12000'
        for ((life = 0; life < 1 + i % 3; life++)); do
            sleep "0.$((RANDOM % 5))$((RANDOM % 10))"
            kill_it
            start digest
        done
        kill_it
        without_file
        expected=$dir/whole
    fi
    "$pewter" --threads 2 --session "$dir/s.pewter" -c "$after" >"$dir/out" 2>"$dir/err" || fail "it cannot be continued"
    [ "$(results "$dir/out")" = "$(results "$expected")" ] || fail "other results"
    "$pewter" replay "$dir/s.pewter" --verify >"$dir/out" 2>"$dir/err" || fail "the re-run fails"
    grep -q '^equal: ' "$dir/out" || fail "it is not equal"
done
printf 'kill -9 with a model of another program: %d kills in %d sessions, all continued to the same bits: 0 violations\n' \
    "$kills" "$sessions"
