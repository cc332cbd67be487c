# terminal_theme.sh - the screen with a light theme, with other markers, and as files.
. "$(dirname "$0")/lib.sh"

ESC=$(printf '\033')
colors_have() {
    screen_colors | grep -aqE -- "$1"
}
colors_lack() {
    ! colors_have "$1"
}

shell 100x30 COLORTERM=truecolor
workbench
command_line "train 5"
wait_for "idle 5"
colors_lack "38;2;" || colors_lack "38;2;111;111;111" || fail "light colours without a request"
command_line "set theme light"
until_true "grey that can be read on white" colors_have "38;2;111;111;111"
until_true "the first arm's darker orange" colors_have "38;2;186;129;0"
command_line "set theme dark"
until_true "grey that can be read on black" colors_have "38;2;147;147;147"
until_true "Okabe and Ito's orange" colors_have "38;2;230;159;0"
command_line "set theme=blue"
wait_for "auto\|dark\|light"

# markers: braille, quarters of blocks, ASCII
keys 1
until_true "braille" screen_has "⠉|⣀|⠳|⢳|⠑"
command_line "set marker block"
until_true "quarters" screen_has "▖|▗|▘|▝|▚|▞|▙|▛|▜|▟"
wait_gone "⠉|⣀|⠳|⢳|⠑" # no braille is left
command_line "set marker ascii"
wait_for "#= 1 Curves"
ascii_alone() {
    ! screen | LC_ALL=C grep -aq '[^ -~]'
}
until_true "nothing but ASCII" ascii_alone
command_line "set marker auto"
wait_for "┏━ 1 Curves"

# the colour map of values
keys 3
command_line "prompt sort 3 1 2"
until_true "viridis" colors_have "48;2;44;20;84"
command_line "set colormap cividis"
until_true "cividis" colors_have "48;2;4;32;74"
until_true "no viridis any more" colors_lack "48;2;44;20;84"

# files
command_line "screenshot $WORK/a.txt"
wait_for "wrote $WORK/a.txt"
grep -q '^┏━ 3 Attention' "$WORK/a.txt" || fail "the text is not the screen"
[ "$(wc -l <"$WORK/a.txt")" = 30 ] || fail "not 30 rows"
command_line "screenshot $WORK/b.svg size=60x16 focus=log"
wait_for "wrote $WORK/b.svg"
grep -q '<svg .*width="504" height="256"' "$WORK/b.svg" || fail "not 60x16 cells"
grep -q '7 Log' "$WORK/b.svg" || fail "not the log"
command_line "screenshot $WORK/c.ans"
wait_for "wrote $WORK/c.ans"
grep -q "$ESC\[" "$WORK/c.ans" || fail "no colours in ANSI"
keys Y # the key for `screenshot`
command_line "screenshot"
wait_for "wrote .*/screenshots/attention-5"
for ending in txt ans svg; do
    ls "$WORK"/home/.local/state/pewter/screenshots/attention-5*."$ending" >/dev/null || fail "no $ending"
done
command_line "screenshot $WORK/d.png"
wait_for "^! screenshot: .*d.png: the extension must be .txt, .ans or .svg"
command_line "screenshot $WORK/d.svg size=80"
wait_for "^! screenshot: size=80: write columns x rows, such as 160x48"
command_line "screenshot $WORK/d.svg focus=heads"
wait_for "^! screenshot: no pane 'heads'; there are curves"
command_line "screenshot $WORK/no/such/d.svg"
wait_for "^! .*no/such"
[ ! -e "$WORK/d.svg" ] || fail "a file was written in spite of an error"
keys q
wait_exit
assert_terminal_is_back

# COLORFGBG, if the terminal doesn't answer
shell 80x24 COLORTERM=truecolor "COLORFGBG=0;15"
workbench
until_true "light, by COLORFGBG" colors_have "38;2;111;111;111"
keys q
wait_exit

# no colours at all, and everything is still shown
shell 80x24 COLORTERM=truecolor NO_COLOR=1
workbench
command_line "set theme light"
command_line "prompt sort 3 1 2"
keys 3
wait_for "┏━ 3 Attention"
wait_for "p=[01]"
colors_lack "$ESC\[[0-9;]*(3[0-7]|38|4[0-7]|48)[;m]" || fail "colours in spite of NO_COLOR"
keys q
wait_exit
assert_terminal_is_back
