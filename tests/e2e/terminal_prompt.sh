# terminal_prompt.sh - the command line: editing, completion, history, pastes, and the effects of Ctrl-C and Escape.
. "$(dirname "$0")/lib.sh"

shell 100x30
workbench

# A command of the screen, one of the lab, and a mistake, which is reported at once.
command_line "focus log"
wait_for "┏━ 7 Log"
command_line "focus nowhere"
wait_for "no pane 'nowhere'"
command_line "trian 5"
wait_for "^! .*trian.*train" # with a suggestion
command_line "zoom on; trian 5" # no command of a line with a mistake runs
wait_for "^! .*trian"
screen_has "1 Curves|2 Length" || fail "zoom ran although the line has an error"

# Tab completes and shows the choices, and the list disappears.
keys :
literal "foc"
keys Tab
wait_for "^:focus "
literal "l"
keys Tab
wait_for "lengths +log"
literal "o"
wait_gone "lengths +log"
keys Tab Escape
wait_gone "^:focus"

# History, in this session and the next.
keys :
keys Up
wait_for "^:zoom on; trian 5"
keys Up Up
wait_for "^:focus nowhere"
keys C-c
wait_gone "^:focus nowhere"
[ "$(stat -c %a "$WORK/home/.local/state/pewter/history")" = 600 ] || fail "others can read the history"

# A paste of two lines becomes one line to review, and doesn't run.
keys :
wait_for "^:"
paste "$(printf 'focus attention\nzoom on')"
wait_for "^:focus attention; zoom on"
screen_has "┏━ 7 Log" || fail "the paste was run"
keys C-c
wait_gone "^:focus attention"
paste "$(printf 'focus io\n')" # also without a command line: it opens one
wait_for "^:focus io"
keys Enter
wait_gone "^:focus io"

# A terminal without bracketed paste sends a paste as keys. Each is a key, each is cheap, and later keys still work.
cpu_ticks() { cut -d ' ' -f 14 "/proc/$APP_PID/stat"; } # hundredths of a second, without the kernel's
command_line "focus log"
wait_for "┏━ 7 Log"
before=$(cpu_ticks)
printf 'j%.0s' $(seq 60000) | t load-buffer -
t paste-buffer
command_line "mark all was read"
wait_for "mark all was read"
[ $(($(cpu_ticks) - before)) -lt 60 ] || fail "60000 keys took $(($(cpu_ticks) - before)) hundredths of a second"

# UTF-8 and columns.
keys :
literal "mark 漢字é"
wait_for "^:mark 漢字é"
until_true "the cursor behind wide characters" flag_is cursor_x 11
keys Escape
wait_gone "^:mark"

# A long line scrolls, and is complete.
keys :
literal "mark $(printf 'x%.0s' $(seq 200))yz"
wait_for "^<x.*yz"
keys Home
wait_for "^:mark xxx.*>"
keys Escape
wait_gone "^:mark"

# One Ctrl-C interrupts the lab, a second one offers to quit; the program never dies of it.
keys C-c
wait_for "again offers to quit"
sleep 1.1 # until the first no longer counts: the next two must arrive within a second, however late a key is
keys C-c C-c
wait_for "^:quit"
keys Escape
wait_gone "^:quit"
kill -INT "$APP_PID"
wait_for "again offers to quit"

command_line "quit"
wait_exit
assert_terminal_is_back
workbench
keys :
keys Up
wait_for "^:quit"
keys Up Up
wait_for "^:trian 5|^:focus|^:zoom"
keys C-c
keys q
wait_exit
assert_terminal_is_back

# Text is UTF-8 in every locale; characters that can't be drawn are kept.
shell 80x24 LANG=C
workbench
keys :
literal "mark hé日"
keys Enter
wait_for "mark: h"
keys q
wait_exit
sessions=("$WORK"/home/.local/state/pewter/sessions/*)
"$PEWTER" replay "${sessions[-1]}" --json | grep -q '"text":"hé日"' || fail "the text is not as it was typed"
