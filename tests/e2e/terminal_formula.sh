# terminal_formula.sh - a formula typed at the prompt: its curve, its errors, Enter and Esc.
. "$(dirname "$0")/lib.sh"

for size in 80x24 120x36 200x60; do
    shell $size
    workbench
    command_line "race none,alibi"
    wait_for "of 2  idle"
    command_line "pe expr" # opens the editor
    wait_for "^:pe expr \""
    wait_for "a formula: its curve appears here"
    literal "m = slopes()[h]; bias = -m * lo"
    wait_for "nothing has the name 'lo'"
    keys Tab
    wait_for "log\( +log1p\( +log2\("
    literal "1p(d)"
    wait_for "bias, head 0: line the formula"
    wait_for "Enter swaps it in, Esc cancels"
    literal " + +"
    wait_for "bias, head 0: line the last valid formula"
    keys Enter # the error stays, and so does the text
    literal " 3 +"
    wait_for "log1p\(d\) \+ \+ 3 \+"
    wait_for "the expression is not complete"
    keys Escape # everything is as it was
    wait_gone "the last valid formula"
    screen_has "1 none" || fail "Esc has changed the encoding"
    wait_gone "^:pe expr"
    command_line "pe expr"
    wait_for "^:pe expr \""
    literal "m = slopes()[h]; bias = -m * log1p(d)"
    keys Enter # the quote at the end is added
    wait_for "arm 1: formula: bias by distance; no learned parameters"
    command_line "pe expr" # with the present formula
    wait_for "bias = -m \* log1p\(d\)"
    keys C-c
    command_line "focus encoding"
    wait_for "┏━ 5 Encoding"
    keys e
    wait_for "^:pe expr \"m = slopes"
    keys C-c
    command_line "pe longrope" # a formula longer than a line of the screen is edited whole
    wait_for "● 1 longrope"
    keys e
    wait_for "log\(trained\)\) : 1"
    wait_for "mean cosine of the turns, head 0: line the formula"
    keys C-c
    command_line "quit"
    wait_exit
    assert_terminal_is_back
done
