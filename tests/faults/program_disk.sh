#!/usr/bin/env bash
# program_disk.sh - runs the program on a disk that fails, is full or is read-only. Training must continue to the same
# bits, and one line must report the failure. The recorded part must re-run.
#
# usage: program_disk.sh PEWTER SHIM [FAULTS]    without a SHIM ('-') no calls are made to fail
set -eu
pewter=$1 shim=$2 faults=${3:-6}
dir=$(mktemp -d)
disk=$dir/disk
pid=
trap '[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null || :; umount "$disk" 2>/dev/null || :; rm -rf "$dir"' EXIT
mkdir "$disk"
if [ "$shim" != - ]; then # LD_PRELOAD can't hold a path with a blank
    ln -s "$(realpath "$shim")" "$dir/shim.so"
    shim=$dir/shim.so
fi

lab="task copy lengths=1..3 alphabet=4 test=4..5; model tiny width=16 heads=2; pe none"
what=beginning

fail() {
    printf 'violation: %s: %s\n' "$what" "$*"
    tail -n 20 "$dir/out" "$dir/err"
    exit 1
}

digest() {
    sed -n 's/.*digest //p' "$1" | tail -n 1
}

verify() { # SESSION
    "$pewter" replay "$1" --verify >"$dir/out" 2>"$dir/err" || fail "the re-run fails"
    grep -q '^equal: ' "$dir/out" || fail "it is not equal"
}

# one_line TEXT COMMAND...: the command must fail and print TEXT as its only line.
one_line() {
    local text=$1 status=0
    shift
    "$@" >"$dir/out" 2>"$dir/err" || status=$?
    [ "$status" = 1 ] || fail "status $status"
    [ "$(wc -l <"$dir/err")" = 1 ] || fail "not one line"
    grep -qE "$text" "$dir/err" || fail "not '$text'"
}

# seen PATTERN: waits until the program prints PATTERN, and fails after a limit.
seen() {
    local patience
    for ((patience = 6000; patience > 0; patience--)); do
        ! grep -q "$1" "$dir/run" || return 0
        sleep 0.05
    done
    cp "$dir/run" "$dir/out"
    fail "not seen: $1"
}

# terminate SESSION: sends SIGTERM to the program and checks its exit. The recorded session must then verify.
terminate() {
    local status=0
    kill -TERM "$pid"
    wait "$pid" || status=$?
    pid=
    [ "$status" -gt 0 ] || fail "status $status"
    verify "$1"
}

# ---- failing calls

run="$lab; train 600; checkpoint; train 600; digest"
"$pewter" --threads 1 --session "$dir/r.pewter" -c "$run" >"$dir/run" 2>/dev/null
digest=$(digest "$dir/run")
[ -n "$digest" ] || fail "nothing to compare with"
kinds=("write %d 28 0" "sync %d 5 0.5" "write %d 5 0 short" "rename %d 28 0.5" "open %d 24 0" "write %d 28 1.5")
tried=0
for ((i = 0; i < faults && ${#shim} > 1; i++)); do
    kind=${kinds[i % 6]}
    # shellcheck disable=SC2059
    what=$(printf "$kind" $((7 + 3 * i % 40)))
    rm -rf "$dir/s.pewter" "$dir/hit"
    status=0
    PEWTER_FILES=$dir/s.pewter PEWTER_BREAK=$what PEWTER_BROKEN=$dir/hit LD_PRELOAD=$shim \
        "$pewter" --threads 1 --session "$dir/s.pewter" -c "$run" \
        >"$dir/run" 2>"$dir/err" || status=$?
    [ ! -e "$dir/hit" ] || tried=$((tried + 1))
    if [ "$status" = 1 ] && [ -e "$dir/hit" ] && [ ! -e "$dir/s.pewter" ]; then
        [ "$(wc -l <"$dir/err")" = 1 ] || fail "not one line"
        continue # the session could not be created
    fi
    [ "$status" = 0 ] || fail "status $status"
    [ "$(digest "$dir/run")" = "$digest" ] || fail "training was disturbed"
    verify "$dir/s.pewter"
    [ "$("$pewter" --session "$dir/s.pewter" -c digest 2>/dev/null | sed -n 's/.*digest //p')" = "$digest" ] ||
        fail "other bits when it is continued"
done
[ ${#shim} -le 1 ] || printf 'calls that fail in the program: %d: 0 violations\n' "$tried"

# ---- a second process on the same session

what="a second one"
"$pewter" --threads 1 --session "$dir/t.pewter" -c "$lab; train 1000000" >"$dir/run" 2>&1 &
pid=$!
until "$pewter" replay "$dir/t.pewter" --json 2>/dev/null | grep -q '"step"'; do sleep 0.05; done
one_line "open in pewter $pid on .* since .*follows it read-only" "$pewter" --session "$dir/t.pewter" -c digest
"$pewter" replay "$dir/t.pewter" --plain >"$dir/out" 2>"$dir/err" || fail "it can't be followed"

# ---- SIGTERM

what=SIGTERM
terminate "$dir/t.pewter"

# ---- a disk of 8 MiB

if ! mount -t tmpfs -o size=8m pewter-test "$disk" 2>/dev/null; then
    echo "skipped: nothing can be mounted here"
    exit 77
fi

# ---- no room for the first checkpoint

what="no room for a checkpoint"
"$pewter" --threads 1 -c "$lab; train 60; digest" >"$dir/run"
digest=$(digest "$dir/run")
dd if=/dev/zero of="$disk/filler" bs=1M count=5 2>/dev/null
status=0
timeout 600 "$pewter" --threads 1 --session "$disk/n.pewter" -c "$lab; train 60; digest" >"$dir/run" 2>"$dir/err" ||
    status=$?
[ "$status" = 1 ] || fail "status $status"
seen "recording is paused: no space for a file of .*; training continues"
grep -q "not all of it is on disk: no space for a file" "$dir/err" || fail "it doesn't say what is lost"
[ "$(digest "$dir/run")" = "$digest" ] || fail "training was disturbed"
verify "$disk/n.pewter"
rm -r "$disk/n.pewter"
: >"$dir/run" # else the output of the run before could match while the next one has not started
"$pewter" --threads 1 --session "$disk/n.pewter" -c "$lab; train 100000000" >"$dir/run" 2>&1 &
pid=$!
seen "recording is paused: no space for a file of .*; training continues"
mount -o remount,size=64m "$disk" # room for the file, and for the events that are emitted meanwhile
seen "recording continues"
terminate "$disk/n.pewter"
rm -r "$disk/n.pewter" "$disk/filler"
mount -o remount,size=8m "$disk"

# ---- a disk that fills up

# typed SESSION: starts the program with lines from descriptor 3. So it trains on only after the disk is full.
typed() {
    rm -f "$dir/typed"
    mkfifo "$dir/typed"
    "$pewter" --plain --threads 1 --session "$1" <"$dir/typed" >"$dir/run" 2>"$dir/err" &
    pid=$!
    exec 3>"$dir/typed"
    printf '%s; train 100\n' "$lab" >&3
    until "$pewter" replay "$1" --json 2>/dev/null | grep -q '"step"'; do sleep 0.05; done
    dd if=/dev/zero of="$disk/filler" bs=4k count=4000 2>/dev/null || :
    echo 'train 2000' >&3
    seen "recording is paused: .*no space left on the disk; training continues"
}

what="full disk"
typed "$disk/s.pewter"
rm "$disk/filler"
echo 'train 2000; digest' >&3
seen "recording continues"
exec 3>&-
wait "$pid" || fail "the program ended with $?"
pid=
digest=$(digest "$dir/run")
[ -n "$digest" ] || fail "training ended"
verify "$disk/s.pewter"

what="full to the end"
typed "$disk/e.pewter"
echo 'train 2000; digest' >&3
exec 3>&-
status=0
wait "$pid" || status=$?
pid=
[ "$status" = 1 ] || fail "status $status"
grep -q "nothing is recorded from .* on" "$dir/err" || fail "it doesn't say what is lost"
[ "$(digest "$dir/run")" = "$digest" ] || fail "training was disturbed"
rm -r "$disk/filler" "$disk/e.pewter"

# ---- a disk that becomes read-only

what="read-only disk"
"$pewter" --threads 1 --session "$disk/s.pewter" -c "train 1000000" >/dev/null 2>&1 &
pid=$!
disown
until "$pewter" replay "$disk/s.pewter" --json 2>/dev/null | grep -q '"step"'; do sleep 0.05; done
kill -9 "$pid"
while kill -0 "$pid" 2>/dev/null; do sleep 0.01; done
pid=
"$pewter" replay "$disk/s.pewter" --json >"$dir/before" 2>"$dir/err" || fail "it can't be replayed"
mount -o remount,ro "$disk"
one_line "can't be locked: Read-only file system; 'pewter replay' can read it" "$pewter" --session "$disk/s.pewter" -c digest
one_line "can't be made: Read-only file system" "$pewter" --session "$disk/new.pewter" -c digest
"$pewter" replay "$disk/s.pewter" --json >"$dir/run" 2>"$dir/err" || fail "it can't be replayed"
cmp -s "$dir/run" "$dir/before" || fail "not all of it is read"
mount -o remount,rw "$disk"
"$pewter" --session "$disk/s.pewter" -c digest >"$dir/out" 2>"$dir/err" || fail "it cannot be continued"

echo "a second opener, SIGTERM, a disk without room for a checkpoint, a full one, a read-only one: 0 violations"
