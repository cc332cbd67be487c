# terminal_view.sh - the workbench's own features: the user's file, the list of keys, time, borders, search, undo, copy.
. "$(dirname "$0")/lib.sh"

state=$WORK/home/.local/state/pewter
rc=$WORK/home/.config/pewter/pewterrc

# click Y X, drag Y X, release Y X: sends a terminal's reports for the left button; from 1.
click() {
    literal "$(printf '\033[<0;%d;%dM' "$2" "$1")"
}
drag() {
    literal "$(printf '\033[<32;%d;%dM' "$2" "$1")"
}
release() {
    literal "$(printf '\033[<0;%d;%dm' "$2" "$1")"
}
# The column where the second pane of the screen's second row begins.
second_pane() {
    screen | sed -n 2p | grep -abo '┌' | head -n 1 | cut -d: -f1
}
border_moved() {
    [ "$(second_pane)" != "$1" ]
}
border_is_back() {
    [ "$(second_pane)" = "$1" ]
}

# The user's file: its valid lines run, and each mistake is reported with its line.
mkdir -p "$(dirname "$rc")"
printf '%s\n' '# mine' 'focus log' 'set fsp=3' 'bind F5 "mark five"' 'train 100' >"$rc"
shell 160x48
workbench
wait_for '┏━ 7 Log'
wait_for '^! .*pewterrc:3: set: no option .fsp.*1 more'
command_line 'config load'
wait_for 'pewterrc:5: train: only commands of the workbench'
keys Escape
wait_gone 'pewterrc:5'
keys F5 F5
wait_for 'mark: five'

# The list: typing narrows it, Enter runs the chosen entry.
keys '?'
wait_for 'Keys and commands'
literal 'optimiser step'
wait_for 'find: optimiser step_'
wait_gone 'Everywhere.*z  '
keys Enter
wait_gone 'Keys and commands'
wait_for 'idle 1'
keys '?'
literal 'goto'
wait_for '▸ goto'
keys Enter
wait_for '^:goto '
keys Escape
wait_gone '^:goto'

# Time: back by command, by key and by mouse; live again.
command_line 'train 99' # there has been one step
wait_for 'idle 100'
command_line 'train 51' # its end is evaluated, as the end before was
wait_for '▸ live ├.*151'
wait_for 'idle 151'
command_line 'goto 80'
wait_for 'viewing step 80 of 151'
wait_for '← past .*80 of 151'
keys S-Right
wait_for 'viewing step 100 of 151' # an evaluation
keys L
wait_gone 'viewing'
wait_for '▸ live'
click 46 60
wait_for 'viewing step [0-9]+ of 151'
drag 30 159
wait_gone 'viewing'
release 30 159
command_line 'goto 152'
wait_for '^! goto: step 152: arm 1 had 0..151'

# A border is dragged; undo and redo; saved in the file below the user's lines.
command_line 'focus curves' # the first pane's corner is heavy
wait_for '┏━ 1 Curves'
before=$(second_pane)
click 10 58
drag 10 80
release 10 80
until_true 'the border moves' border_moved "$before"
keys u
until_true 'undo' border_is_back "$before"
wait_for 'no longer: set split.dash.left='
keys C-r
until_true 'redo' border_moved "$before"
command_line 'config save'
wait_for 'config: saved in'
grep -q '^set split.dash.left=0.5' "$rc" || fail 'the border is not in the file'
grep -q '^# mine$' "$rc" || fail "the user's lines are gone"
grep -q '^bind "F5" "mark five"$' "$rc" || fail 'the binding is not in the file'
keys 0
until_true 'the borders are reset' border_is_back "$before"
command_line 'undo'
wait_for 'undone'

# Search: in the log, beyond the visible part.
keys 7
command_line 'help'
wait_for '^ quit +leave pewter' # its last line
keys /
wait_for '^:find '
literal 'mark: fiv'
wait_for 'mark: five *┃' # during typing
keys Escape
wait_for 'quit +leave'
keys /
literal 'mark: five'
keys Enter
wait_for "'mark: five': 1 of 2"
wait_for 'mark: five *┃'
keys n
wait_for "'mark: five': 2 of 2"
keys Escape
wait_gone "'mark: five'"
keys '&'
literal 'five'
keys Enter
wait_for "only 'five'"
command_line 'filter'
wait_gone "only 'five'"

# Copy: a file, and the terminal's own clipboard, which here is tmux's buffer.
t set-option -s set-clipboard on
command_line 'copy'
wait_for 'Log copied: [0-9]+ bytes in .*copy.tsv, and to the terminal'
grep -q "$(printf '\t')mark: five" "$state/copy.tsv" || fail 'the line is not in the copy'
buffer_is_copy() {
    t show-buffer 2>/dev/null | cmp -s - "$state/copy.tsv"
}
until_true 'the copy in the clipboard' buffer_is_copy

# Screen modes, then quit at once.
keys +
wait_gone '1 Curves.*3 Attention'
keys + +
wait_for '1 Curves'
keys Q
wait_exit
assert_terminal_is_back

# The next session begins with the saved settings.
workbench
command_line 'focus curves'
until_true 'the border as it was kept' border_moved "$before"
keys q
wait_exit
assert_terminal_is_back
echo 'view: all as expected'
