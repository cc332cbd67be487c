# terminal_typing.sh - text typed in the prompt's pane, without a colon: it becomes a prompt, and does nothing else.
. "$(dirname "$0")/lib.sh"

shell 100x30
workbench
for typed in 'sort 9 2 6 5 3' '9 2 6 5 3'; do
    command_line "focus prompt"
    wait_for "┏━ 6 Prompt"
    literal "$typed"
    wait_for "^:prompt sort 9 2 6 5 3"
    screen_has "┏━ 6 Prompt" || fail "the focus has moved"
    screen_has " idle " || fail "a blank has begun to train"
    keys Enter
    wait_for "given sort 9 2 6 5 3 >"
done
keys p
wait_for "^:prompt sort +:prompt sort 3 1 4 1 5" # with an example after it
keys C-c Tab p
wait_for "^:prompt sort "
keys C-c
wait_gone "^:prompt"


# Where letters aren't text they are the workbench's keys, and F10 is a key everywhere.
command_line "focus prompt"
wait_for "┏━ 6 Prompt"
keys q
wait_for "^:prompt q"
keys C-c
wait_gone "^:prompt"
keys F10
wait_exit
assert_terminal_is_back
