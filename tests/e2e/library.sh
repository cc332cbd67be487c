#!/usr/bin/env bash
# library.sh - formula files: found beside the program wherever it is, and in the user's folder; a session that used
# one is verified, resumed after kill -9, packed and opened where the file is not.
PEWTER=$(realpath "$1")
WORK=$(mktemp -d /tmp/pewter-library-XXXXXX)
trap 'rm -rf "$WORK"' EXIT
cd "$WORK" || exit 1
export XDG_STATE_HOME=$WORK/state XDG_CONFIG_HOME=$WORK/one

fail() {
    echo "FAILED: $*"
    exit 1
}

# beside the program: installed, moved, and without the files
mkdir -p prefix/bin prefix/share/pewter "moved to"
cp "$PEWTER" prefix/bin/pewter
cp -r "$PEWTER_SOURCE_DIR/encodings" prefix/share/pewter/
prefix/bin/pewter --no-session -c 'pe rope_pi factor=4' >out 2>&1 || fail "installed: $(cat out)"
grep -q 'rope_pi base=10000 factor=4' out || fail "installed: $(cat out)"
mv prefix/bin/pewter prefix/share/pewter/encodings "moved to/"
"moved to/pewter" --no-session -c 'pe ROPE_PI; help pe' >out 2>&1 || fail "moved: $(cat out)"
grep -q '^  rope_pi  *position interpolation' out || fail "not in the list: $(cat out)"
rm -r "moved to/encodings"
"moved to/pewter" --no-session -c 'help pe expr' >out 2>&1 || fail "the language: $(cat out)"
for word in STAGES '  gate ' '  mix ' '  scan ' 'a = learn(INIT)'; do
    grep -qF "$word" out || fail "the language has no '$word': $(cat out)"
done
"moved to/pewter" --no-session -c 'pe rope_pi' >out 2>&1 && fail "found without its folder"
grep -q "no encoding 'rope_pi'" out || fail "another message: $(cat out)"
[ "$(wc -l <out)" -eq 1 ] || fail "more than one line: $(cat out)"

# a file of the user's, saved from a formula
"$PEWTER" --no-session -c "pe expr 'a = option(1, 0.01..9); bias = -a * log1p(d)' a=2; pe save mine title=\"a logarithm\"
    pe none; pe mine a=3; help pe mine" >out 2>&1 || fail "not saved: $(cat out)"
grep -q '^  a = option(2, 0.01 .. 9)' out || fail "the value is not the default: $(cat out)"
grep -q 'arm 1: mine a=3' out || fail "not found: $(cat out)"

# killed in training, resumed without the file
"$PEWTER" --threads 1 --session own -c 'seed 1; model layers=1 width=16 heads=2; optim batch=2; race mine,mine(a=3)
    train 20000' >out 2>&1 &
pid=$!
for ((i = 0; i < 600; i++)); do
    "$PEWTER" replay own --plain 2>/dev/null | grep -q 'step' && break
    sleep 0.1
done
kill -KILL $pid
wait $pid 2>/dev/null
export XDG_CONFIG_HOME=$WORK/two
"$PEWTER" --threads 1 --session own -c 'train 3; digest' >out 2>&1 || fail "not resumed: $(cat out)"
grep -q 'arm 2 *mine a=3' out || fail "another encoding: $(cat out)"
"$PEWTER" replay own --verify >out 2>&1 || fail "not verified without its file: $(cat out)"
"$PEWTER" session pack own -o own.pwt >out 2>&1 || fail "not packed: $(cat out)"
export XDG_STATE_HOME=$WORK/elsewhere
"$PEWTER" session unpack own.pwt >out 2>&1 || fail "not unpacked: $(cat out)"
"$PEWTER" --threads 1 --session own -c "arm 2; train 2; digest" >out 2>&1 ||
    fail "not continued elsewhere: $(cat out)"
"$PEWTER" replay own --verify >out 2>&1 || fail "not verified elsewhere: $(cat out)"
echo "equal: $(grep -c equal out)"
