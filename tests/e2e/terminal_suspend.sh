# terminal_suspend.sh - Ctrl-Z gives the terminal to the shell; fg restores the workbench, in the terminal's current
# size.
. "$(dirname "$0")/lib.sh"

shell 100x30
workbench
for way in key signal prompt; do
    case $way in
    key) keys C-z ;;
    signal) kill -TSTP "$APP_PID" ;;
    prompt)
        keys :
        literal "train"
        wait_for "^:train"
        keys C-z
        ;;
    esac
    wait_for "Stopped"
    until_true "the main screen" flag_is alternate_on 0
    flag_is mouse_any_flag 0 || fail "the mouse is still reported"
    flag_is cursor_flag 1 || fail "the cursor is hidden"
    line "clear; echo the shell wo''rks"
    wait_for "^the shell works"
    resize 80x24
    line fg
    wait_for "1 Curves"
    wait_gone "the shell works"
    until_true "hints in their row" hints_in_their_row
    flag_is mouse_any_flag 1 || fail "the mouse is not asked for again"
    [ $way = prompt ] && wait_for "^:train"
    resize 100x30
done
until_true "hints in their row" hints_in_their_row
wait_for "^:train" # and it is not only hidden while the screen is drawn in its new size
keys Escape
wait_gone "^:train"
keys Tab
wait_for "┏━ 3 Attention"
keys q
wait_exit
wait_for "^$PROMPT"
line 'echo status=$?'
wait_for "^status=0$"
