# terminal_colors.sh - every kind of terminal gets the colours and glyphs that it supports.
. "$(dirname "$0")/lib.sh"

ESC=$(printf '\033')

# Whether the screen, with its escape sequences, contains a pattern, and whether it doesn't.
colors_have() {
    screen_colors | grep -aqE -- "$1"
}
colors_lack() {
    ! colors_have "$1"
}
# draw NAME=VALUE...: opens a workbench and trains a little, so that there are colours.
draw() {
    shell 100x30 "$@"
    workbench
    command_line "train 5"
    wait_for "idle 5"
}

draw COLORTERM=truecolor
until_true "RGB" colors_have "$ESC\[[0-9;]*38;2;[0-9]+;[0-9]+;[0-9]+"
command_line "set color 256"
until_true "256 colours" colors_have "$ESC\[[0-9;]*38;5;[0-9]+"
until_true "no RGB any more" colors_lack "38;2;"
command_line "set color mono"
until_true "no colours" colors_lack "$ESC\[[0-9;]*(3[0-7]|38)[;m]"
command_line "set color true"
until_true "RGB again" colors_have "38;2;"
command_line "set color=purple"
wait_for "auto\|mono\|16\|256\|true"
command_line "set mouse off"
until_true "the mouse is let go" flag_is mouse_any_flag 0
command_line "set colour 16"
wait_for "did you mean 'color'"

draw COLORTERM=
until_true "256 colours" colors_have "$ESC\[[0-9;]*38;5;[0-9]+"
colors_lack "38;2;" || fail "RGB without COLORTERM"

draw COLORTERM=truecolor NO_COLOR=1
colors_lack "$ESC\[[0-9;]*(3[0-7]|38|4[0-7]|48)[;m]" || fail "colours in spite of NO_COLOR"

draw TERM=xterm COLORTERM=
colors_lack "38;" || fail "more than 8 colours on a terminal that has 8"

draw LANG=C LC_ALL=C
screen | LC_ALL=C grep -aq '[^ -~]' && fail "more than ASCII in an ASCII locale"

# An unsuitable terminal: lines instead, and no escape sequences.
shell 100x30 TERM=dumb
pewter
wait_for "^>$"
screen_colors | grep -q "$ESC" && fail "escape sequences on a dumb terminal"
line "focus log"
wait_for "no panes in plain mode"
line "quit"
wait_exit
wait_for "status=0"

shell 100x30 TERM=no-such-terminal COLORTERM=
pewter
wait_for "no-such-terminal"
wait_exit
