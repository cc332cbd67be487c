#!/usr/bin/env bash
# opening.sh - opens a session from a slow disk: the screen says at once what is read, q and Ctrl-C leave, what is typed
# ahead is kept, and a signal ends the program. The session stays as it is.
#
# usage: opening.sh PEWTER SHIM
. "$(dirname "$0")/../e2e/lib.sh"

cd "$WORK" || exit 1
ln -s "$(realpath "$2")" slow.so # LD_PRELOAD can't hold a path with a blank
"$PEWTER" --session "$WORK/s.pewter" -c 'model tiny; train 20; checkpoint; digest' >out 2>&1 || fail "$(cat out)"
before=$(grep -o 'digest .*' out)

slow() { # slow MILLISECONDS: the program reads so slowly from now on
    printf '#!/bin/sh\nexec env LD_PRELOAD="%s" PEWTER_SLOW_READ=%s "%s" "$@"\n' "$WORK/slow.so" "$1" "$PEWTER" >"$WORK/slow"
    chmod +x "$WORK/slow"
    PROGRAM=$(printf %q "$WORK/slow")
}
same() { # the session opens, and has the weights that it had
    "$PEWTER" --session "$WORK/s.pewter" -c digest >out 2>&1 || fail "$(cat out)"
    [ "$(grep -o 'digest .*' out)" = "$before" ] || fail "other weights: $(cat out)"
}

shell 100x30
slow 4000
for key in q C-c; do
    pewter "$WORK/s.pewter"
    wait_for '^ *opening .*s\.pewter: reading a checkpoint, 0 of 1 MB$'
    wait_for '^ *q or Ctrl-C leaves; the session stays as it is$'
    keys "$key"
    wait_for ': leaving$'
    wait_for '^status=0$'
    assert_terminal_is_back
    same
done

pewter "$WORK/s.pewter"
wait_for 'reading a checkpoint'
kill -TERM "$APP_PID"
wait_for '^status=143$'
assert_terminal_is_back
same

slow 1500
pewter "$WORK/s.pewter"
wait_for 'reading a checkpoint'
literal ':mark typed ahead'
keys Enter
wait_for 'q quit'
wait_for 'typed ahead'
keys q
wait_for '^status=0$'
assert_terminal_is_back
same
