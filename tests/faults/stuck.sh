#!/usr/bin/env bash
# stuck.sh - the disk stops answering while keys are pressed: each key reaches the screen all the same, and
# nothing that the keys asked for is lost when the disk answers again. No time is measured: a call that touches a
# file waits as long as the test wants.
#
# usage: stuck.sh PEWTER SHIM
. "$(dirname "$0")/../e2e/lib.sh"

cd "$WORK" || exit 1
ln -s "$(realpath "$2")" stuck.so # LD_PRELOAD can't hold a path with a blank
STUCK=$WORK/disk-is-stuck
printf '#!/bin/sh\nexec env LD_PRELOAD="%s" PEWTER_STUCK="%s" "%s" "$@"\n' "$WORK/stuck.so" "$STUCK" "$PEWTER" >stuck
chmod +x stuck
PROGRAM=$(printf %q "$WORK/stuck")

stick() {
    touch "$STUCK"
}
unstick() {
    rm "$STUCK"
    [ ! -e "$STUCK.calls" ] || fail "the UI thread touched files: $(sort "$STUCK.calls" | uniq -c)"
}
# The line that is typed appears, although the disk is stuck.
echoed=0
echoes() {
    echoed=$((echoed + 1))
    keys :
    literal "is echoed $echoed"
    wait_for "^:is echoed $echoed"
    keys C-c
    wait_gone "^:is echoed"
}
# typed TEXT: a command whose work waits for the disk.
typed() {
    command_line "$1"
    echoes
}

"$PEWTER" --session "$WORK/other.pewter" -c 'task sort; model tiny; train 4; eval' >out 2>&1 || fail "$(cat out)"
"$PEWTER" --session "$WORK/s.pewter" -c 'task sort; model tiny; prompt sort 3 1 2; eval; train 20; eval; mark here; prompt sort 5 4; train 20; eval' \
    >out 2>&1 || fail "$(cat out)"
mkdir names && touch names/first.pewter

# With a lab: every pane, the list of keys, completion, and each kind of command.
shell 100x30
workbench "$WORK/s.pewter"
wait_for '40 '
stick
for pane in 1 2 3 4 5 7 8; do
    keys "$pane"
    wait_for "┏━ $pane "
done
keys '?'
wait_for 'Keys and commands'
keys Escape # alone: with the next key it would be another one
wait_gone 'Keys and commands'
echoes
for begin in 'pe rope2 ' 'pe ro' 'present he' 'source names/' 'open ' 'export figure names/'; do
    keys :
    literal "$begin"
    wait_for "^:$begin"
    keys Tab x # Tab waits for the disk; the next key does not
    wait_for "^:${begin}x"
    keys C-c
done
echoes
typed 'config save saved.pewterrc'
typed 'export figure other.svg pane=curves sessions=other.pewter'
typed 'screenshot now.txt'
typed 'copy now.tsv'
typed 'study list'
typed 'config load saved.pewterrc'
typed 'present'
keys S-Left
echoes
unstick
until_true "the picture of another session" test -s other.svg
until_true "the screenshot" test -s now.txt
until_true "the copy" test -s now.tsv
wait_for '← past'
keys L
wait_gone '← past'
keys :
literal 'source names/'
stick
keys Tab
unstick
wait_for '^:source names/first.pewter' # Tab completes when the folder was read
keys C-c

# The past: the place moves at once, and the panes follow when the disk answers.
keys S-Left S-Left S-Left
wait_for '← past'
command_line 'goto mark'
wait_for 'viewing step 20 '
screen >before
keys S-Left S-Left
wait_gone 'viewing step 20 '
stick
command_line 'goto 30'
wait_for 'viewing step 30 '
echoes
wait_for '· reading'
command_line 'goto 20'
wait_for 'viewing step 20 '
typed 'screenshot then.txt'
[ ! -e then.txt ] || fail "a picture without its rows"
unstick
until_true "the picture of the past" test -s then.txt
wait_gone '· reading'
stick
command_line 'present head' # from the past: the present counts
echoes
unstick
wait_for 'Reading a head'
keys Q
wait_for '^status=0$'
assert_terminal_is_back

# A recording without a lab.
workbench replay "$WORK/s.pewter"
wait_for 'replay s'
stick
keys '('
wait_for '← past'
typed 'goto 20'
typed 'help pe'
unstick
wait_for '━ help ━'
keys Escape
wait_gone '━ help ━'
keys Q
wait_for '^status=0$'
assert_terminal_is_back
