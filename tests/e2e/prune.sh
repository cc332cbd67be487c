# prune.sh - old sessions are listed with their size and deleted together, after a question. Sessions with a name of
# the user, open ones and new ones are kept.
. "$(dirname "$0")/lib.sh"

cd "$WORK" || exit 1
SESSIONS=$XDG_STATE_HOME/pewter/sessions
OLD=2020-01-02-030405-77
AGAIN=2020-01-02-030405-77-2
NEW=2020-01-02-030406-78
export LC_ALL=C.UTF-8

# run STATUS ARGUMENTS...: runs the program without a terminal; its output is in out and err.
run() {
    local status=$1 got
    shift
    "$PEWTER" "$@" >out 2>err </dev/null
    got=$?
    [ $got -eq "$status" ] || fail "$*: status $got: $(cat out err)"
}
# left NAME...: exactly these sessions are there.
left() {
    [ "$(ls "$SESSIONS")" = "$(for name; do echo "$name.pewter"; done | sort)" ] || fail "not $*: $(ls "$SESSIONS")"
}
# age SESSION WHEN: sets the time of the last write.
age() {
    touch -d "$2" "$SESSIONS/$1.pewter/session.db"
}
# fill: makes the sessions of this test again.
fill() {
    rm -rf "$SESSIONS"
    "$PEWTER" --session mine -c 'mark x' >/dev/null || fail "no session"
    for name in $OLD $AGAIN $NEW; do
        cp -r "$SESSIONS/mine.pewter" "$SESSIONS/$name.pewter"
        age "$name" '40 days ago'
    done
    age $NEW '29 days ago'
    age mine '400 days ago'
}

# ---- the list has the space that each session takes
fill
head -c 30000000 /dev/zero >"$SESSIONS/$AGAIN.pewter/files/more"
run 0 sessions
[ "$(wc -l <out)" -eq 6 ] || fail "not four sessions, a head and a total: $(cat out)"
grep -qE "^$AGAIN +3[0-9]\.[0-9] " out || fail "not 30 MB: $(cat out)"
grep -qE '^total: 4 sessions +3[0-9]\.[0-9]$' out || fail "another total: $(cat out)"
run 0 sessions by=size
sed -n 2p out | grep -q "^$AGAIN " || fail "not the largest first: $(cat out)"
run 0 sessions "$SESSIONS" by=use
run 1 sessions by=name
grep -q 'by=name: allowed are use|size' err || fail "$(cat err)"

# ---- without a terminal: nothing is deleted without --yes
run 1 sessions prune older=30d
grep -q '^pewter: sessions prune: nothing was deleted: without a terminal to ask at, it needs --yes$' err || fail "$(cat err)"
grep -qE "^$OLD +[0-9.]+ MB  20[0-9-]+ [0-9:]+$" out || fail "not listed: $(cat out)"
[ "$(wc -l <out)" -eq 2 ] || fail "not two sessions: $(cat out)"
left mine $OLD $AGAIN $NEW
run 0 sessions prune older=30d --yes
tail -n 1 out | grep -qE '^deleted 2 sessions \(3[0-9]\.[0-9] MB\)$' || fail "$(cat out)"
left mine $NEW
run 0 --yes sessions prune older=30d
grep -qx 'no session to delete: older=30d keep=named' out || fail "$(cat out)"
run 0 sessions prune older=4w --yes
left mine
run 0 sessions prune keep=none older=30d --yes
left

# ---- units, and values that are refused
fill
age $OLD '90 minutes ago'
run 0 sessions prune older=2h --yes
left mine $OLD
run 0 sessions prune older=1h --yes
left mine
for wrong in older= older=30 older=d older=3m older=-1d older=1.5d 'older=1 d' older=100001d; do
    run 2 sessions prune "$wrong" --yes
    [ "$(wc -l <err)" -eq 1 ] || fail "$wrong: $(cat err)"
    grep -q 'allowed are 0..100000 and a unit: h (hours), d (days), w (weeks)' err || fail "$wrong: $(cat err)"
done
run 2 sessions prune --yes
grep -q 'sessions prune: older=: allowed are' err || fail "$(cat err)"
run 2 sessions prune older=1d keep=all --yes
grep -q 'sessions prune: keep=all: allowed are named|none' err || fail "$(cat err)"
run 2 sessions prune 30d
grep -q "sessions prune: '30d': allowed are older=TIME and keep=named|none" err || fail "$(cat err)"
run 2 --yes -c 'mark x'
grep -q "\-\-yes is only allowed with 'session delete' and 'sessions prune'" err || fail "$(cat err)"
left mine

# ---- links, packed sessions and other folders are left alone
fill
run 0 session pack mine -o "$SESSIONS/packed.pewter"
touch -d '90 days ago' "$SESSIONS/packed.pewter"
mkdir "$SESSIONS/plain.pewter"
mv "$SESSIONS/$OLD.pewter" elsewhere
ln -s "$WORK/elsewhere" "$SESSIONS/$OLD.pewter"
run 0 sessions prune older=0h keep=none --yes
left packed plain $OLD
[ -s elsewhere/session.db ] || fail "a session behind a link was deleted"

# ---- folders that a killed deletion or unpacking left are deleted, unless a process uses them
fill
for name in gone.pewter.deleted half.pewter.tmp-Abc123 new.pewter.deleted half.pewter.tmp-Abc12 other.deleted; do
    mkdir "$SESSIONS/$name"
    head -c 1000000 /dev/zero >"$SESSIONS/$name/part"
    case $name in new.*) ;; *) touch -d '40 days ago' "$SESSIONS/$name" ;; esac
done
touch -d '40 days ago' "$SESSIONS/file.pewter.deleted"
run 1 sessions prune older=30d
grep -qE '^gone.pewter.deleted +1\.0 MB  20[0-9-]+ [0-9:]+  \(interrupted\)$' out || fail "not listed: $(cat out)"
exec 9<"$SESSIONS/half.pewter.tmp-Abc123"
flock 9
run 1 sessions prune older=30d --yes
grep -q 'sessions prune: half.pewter.tmp-Abc123: another process uses it$' err || fail "$(cat out err)"
exec 9<&-
[ "$(cd "$SESSIONS" && echo *)" = "$NEW.pewter file.pewter.deleted half.pewter.tmp-Abc12 half.pewter.tmp-Abc123 mine.pewter new.pewter.deleted other.deleted" ] ||
    fail "$(ls "$SESSIONS")"
run 0 sessions prune older=30d --yes
grep -q '^deleted 1 session (1.0 MB)' out || fail "$(cat out)"
[ ! -e "$SESSIONS/half.pewter.tmp-Abc123" ] || fail "left: $(ls "$SESSIONS")"

# ---- a session that is open is kept
fill
rm -r "$SESSIONS/$OLD.pewter"
shell 100x30 "XDG_STATE_HOME=$XDG_STATE_HOME" "XDG_CONFIG_HOME=$XDG_CONFIG_HOME"
workbench "$SESSIONS/$AGAIN.pewter"
# It writes while it opens the session, so the age is set each time.
# shellcheck disable=SC2317 # until_true calls it
is_kept() {
    age "$AGAIN" '40 days ago'
    [ ! -e "$SESSIONS/$AGAIN.pewter/session.db-wal" ] || touch -d '40 days ago' "$SESSIONS/$AGAIN.pewter/session.db-wal"
    run 0 sessions prune older=30d --yes
    grep -q "^kept $AGAIN: it is open in pewter $APP_PID on " out
}
until_true "the line about the open session" is_kept
left mine $AGAIN $NEW
keys Q
wait_exit

# ---- at a terminal it asks
fill
shell 100x30 "XDG_STATE_HOME=$XDG_STATE_HOME" "XDG_CONFIG_HOME=$XDG_CONFIG_HOME"
for answer in n '' nein; do
    pewter sessions prune older=30d
    wait_for '^delete these 2 sessions \([0-9.]+ MB\)\? \[y/N\]'
    line "$answer"
    wait_for '^status=1'
    screen_has 'nothing was deleted' || fail "no word about '$answer'"
done
left mine $OLD $AGAIN $NEW
pewter sessions prune older=30d
wait_for '^delete these 2 sessions'
age $OLD 'now' # used while the question is open
line y
wait_for '^status=0'
screen_has "^kept $OLD: it was used meanwhile" || fail "the used session isn't named"
screen_has '^deleted 1 session \(' || fail "another number"
left mine $OLD $NEW
pewter session rm $OLD
wait_for "^delete session $OLD \([0-9.]+ MB\)\? \[y/N\]"
line n
wait_for '^status=1'
left mine $OLD $NEW
pewter session delete $OLD
wait_for "^delete session $OLD "
line yes
wait_for '^status=0'
left mine $NEW
pewter session rm $NEW --yes
wait_for '^status=0'
screen_has "^deleted $NEW" || fail "not deleted"
run 0 session rm mine
grep -qx 'deleted mine' out || fail "$(cat out)"
left
exit 0
