# terminal_screen.sh - the workbench starts, follows every size, and restores the terminal.
. "$(dirname "$0")/lib.sh"

shell 200x60
workbench
flag_is mouse_any_flag 1 || fail "the mouse is not asked for"
flag_is cursor_flag 0 || fail "the cursor is shown without a prompt"
for pane in 1 2 3 4 5 6; do
    wait_for "[┏┌][━─] $pane [A-Z]" # a dashboard shows all of them
done

resize 80x24
wait_for "1 Curves"
wait_gone "5 Encoding"
resize 200x60
wait_for "5 Encoding"

# Many changes of size, also unusable ones; the last one counts.
for size in 40x10 20x5 3x2 1x1 2x1 300x100 61x17 60x16 139x40 140x40 80x24; do
    resize $size
done
wait_for "1 Curves"
until_true "hints in their row" hints_in_their_row

# While the user types: text and cursor stay.
keys :
literal "train 1"
wait_for "^:train 1"
resize 100x30
wait_for "^:train 1"
until_true "the cursor behind the text" flag_is cursor_x 8
until_true "the cursor in the last row" flag_is cursor_y 29
keys Escape
wait_gone "^:train 1"

keys '?'
wait_for "Everywhere"
keys Escape
wait_gone "Everywhere"
keys 3
wait_for "┏━ 3 Attention"
keys z
wait_gone "1 Curves"
keys z q
wait_exit
wait_for "status=0"
assert_terminal_is_back
