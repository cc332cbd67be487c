#!/usr/bin/env bash
# pack.sh - a session is transferred as one file: packed, unpacked elsewhere, and continued. Every error is one line.
PEWTER=$(realpath "$1")
WORK=$(mktemp -d /tmp/pewter-pack-XXXXXX)
trap 'rm -rf "$WORK"' EXIT
cd "$WORK" || exit 1

fail() {
    echo "FAILED: $*"
    exit 1
}

# says STATUS TEXT ARGUMENTS...: the program must end with this status and one line that contains the text.
says() {
    local status=$1 text=$2 said
    shift 2
    said=$("$PEWTER" "$@" 2>&1 </dev/null)
    [ $? -eq "$status" ] || fail "$*: another status: $said"
    [ "$(wc -l <<<"$said")" -eq 1 ] || fail "$*: more than one line: $said"
    [[ $said == *"$text"* ]] || fail "$*: '$text' is not in: $said"
}

export XDG_STATE_HOME=$WORK/one
"$PEWTER" --threads 1 --session mine -c 'model layers=1 width=16 heads=2; train 12; checkpoint' >/dev/null ||
    fail "no session"
says 0 "packed mine into mine.pwt" session pack mine -o mine.pwt
says 1 "mine.pwt already exists" session pack mine -o mine.pwt
says 1 "mine.pewter already exists" session unpack mine.pwt

export XDG_STATE_HOME=$WORK/two
says 0 "mine.pewter" session unpack mine.pwt
says 0 "unpacked mine.pwt into ./here.pewter" session unpack mine.pwt -o ./here
before=$(XDG_STATE_HOME=$WORK/one "$PEWTER" --threads 1 --session mine -c 'train 5; digest' | grep -i digest)
after=$("$PEWTER" --threads 1 --session mine -c 'train 5; digest' | grep -i digest)
[[ -n $before && $before = "$after" ]] || fail "it continues differently: $before, $after"

# the input of a command comes from the session's copy, packed or not, branched or not
printf 'say a\ta\nsay b\tb\nsay a b\tb a\nsay b b\tb b\n' >own.tsv
"$PEWTER" --threads 1 --session own -c 'task file path=own.tsv; model layers=1 width=16 heads=2; train 8' >/dev/null ||
    fail "no session of a file"
rm own.tsv
says 0 "own.pwt" session pack own -o own.pwt
for session in own own.pwt; do
    "$PEWTER" replay $session --verify >out 2>&1 || fail "$session without its file: $(cat out)"
done
"$PEWTER" replay own.pwt --from 3 -c 'train until step=8; save branch' >out 2>&1 || fail "from a packed one: $(cat out)"
"$PEWTER" replay branch --verify >out 2>&1 || fail "a branch without its file: $(cat out)"
cp own.pwt other
for file in own.pwt ./other; do
    "$PEWTER" replay $file --json >out || fail "replay $file"
    "$PEWTER" --plain $file >as_it_is || fail "$file by itself"
    grep -q '"kind":"step"' out || fail "$file is not printed: $(cat out)"
    grep -q ': train 8' as_it_is || fail "$file is not shown: $(cat as_it_is)"
done
"$PEWTER" replay own.pwt --verify >out 2>&1 || fail "own.pwt: $(cat out)"
says 1 "'pewter session unpack FILE'" --session own.pwt -c 'train 1'

# scripts have the ending of sessions' folders: the message names a script as such, and no list has it
"$PEWTER" replay own -c 'export session script.pewter' >/dev/null || fail "no script"
for words in script.pewter "replay script.pewter" "replay script.pewter --verify" "--session script.pewter -c 'train 1'" \
    "--no-session -c 'open script.pewter'"; do
    eval "says 1 \"script.pewter: it is a script, not a session; 'pewter run script.pewter' runs it\" $words"
done
says 1 "./script.pewter: it is a script, not a session; 'pewter run ./script.pewter' runs it" session pack ./script.pewter -o x.pwt
mkdir list
cp script.pewter list
says 0 "no sessions in list" sessions list
cp -r here.pewter list
"$PEWTER" sessions list >out 2>&1
grep -q '^list/here' out || fail "the list: $(cat out)"
"$PEWTER" --no-session -c 'runs path=list' >out 2>&1
grep -q 'session="here arm 1"' out || fail "the runs: $(cat out)"
"$PEWTER" sessions list | grep -q script && fail "a script is listed"
grep -q "can't be read" out && fail "a script is listed by runs: $(cat out)"
head -c 5000 own.pwt | tail -c 4000 >list/broken.pewter
"$PEWTER" sessions list | grep -q 'broken.*not a database' || fail "the broken session is not listed"
rm -r own.pwt other out as_it_is list script.pewter
says 2 "no session 'own.pwt' ($XDG_STATE_HOME/pewter/sessions/own.pwt.pewter) and no packed one" replay own.pwt
says 2 "no session 'own.pwt'" own.pwt

says 2 "pack, unpack or delete (rm), not 'pac'" session pac
says 2 "pack needs NAME and -o FILE" session pack mine
says 2 "unpack needs FILE" session unpack
says 2 "-o needs a value" session pack mine -o
says 2 "too many words" session pack mine other -o x
says 1 "no such session" session pack nothing -o x
says 1 "not a database" session unpack "$PEWTER" -o x
head -c 20000 /dev/zero | tr '\0' x | dd of=mine.pwt bs=1000 seek=200 conv=notrunc 2>/dev/null
says 1 "mine.pwt" session unpack mine.pwt -o damaged
[ "$(echo ./*)" = "./here.pewter ./mine.pwt ./one ./two" ] || fail "files are left: $(echo ./*)"
