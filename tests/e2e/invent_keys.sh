# invent_keys.sh - the page of the guide on inventing an encoding, key by key. The numbers that its text has are on the
# screen, and the screen that it shows is the editor's. It trains nine models. SIZE=120x36 in the environment selects
# another size of the terminal.
# shellcheck disable=SC2016 # the backquotes belong to the text
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_page.sh"
PAGE=$(realpath "$(dirname "$0")/../../docs/guide/invent.md")
TEXT=$(tr '\n' ' ' <"$PAGE")

claim() { # whether the page has this text
    [[ $TEXT == *"$1"* ]] || fail "the page lacks: $1"
}
block() { # block PATTERN: the code block of the page with a line that has it
    page_block "$PAGE" "$1"
}
on_screen() { # whether all lines of a text are on the screen
    ! screen | grep -qvxFf - <(printf '%s\n' "$1")
}
typed() { # the commands of the page that begin with a text, without the colon
    grep -m 1 -- "^:$1" "$PAGE" | cut -c2-
}

size=${SIZE:-80x24}
shell "$size"
line "cd $WORK; rm -rf $WORK/home/.config/pewter $WORK/home/.local/state/pewter"
workbench
command_line "$(typed 'seed 101')"
claim '`1 t5 8/16 of 3`'
wait_for '1 t5 8/16 of 3'

claim 'Press `>`, `5`, `5`, `d`, `>`.'
keys '>'
wait_for '2 alibi of 3'
keys 5
wait_for '┏━ 5 Encoding'
keys 5
wait_gone '2 Lengths'
keys d
wait_for 'arm 2 is the reference'
keys '>'
wait_for '3 alibi of 3'
claim 'has the difference `+0`'
wait_for 'head 7 .* \+0 '

claim 'Press `e`.'
keys e
wait_for '^:pe expr "'
formula=$(block 'slopes()[h] * lo')
literal "$formula"
error=$(block "nothing has the name 'lo'")
until_true "the error of the page: $error" on_screen "$error"
keys Tab
claim '`log(`, `log1p(`, `log2(`'
wait_for '^ log\( +log1p\( +log2\('
literal '1p(d)'
wait_for 'bias \(initial values\), head 0: line the formula'
[ "$size" != 80x24 ] || until_true 'the screen of the page' on_screen "$(block 'formula for arm 3')"
keys Enter
claim '`arm 3: formula: bias by distance; 8 learned parameters`'
wait_for 'arm 3: formula: bias by distance; 8 learned parameters'
claim '(head 0: 1.386 at distance 1, ALiBi 0.5)'
wait_for 'head 0 +arm 3 -1\.386 +arm 2 -0\.500'

command_line "$(typed 'pe save logslope')"
wait_for 'written: .*logslope.pe'
keys Space
PATIENCE=900 wait_for 'idle 1000'
keys 2 e
claim '39 % (28 to 49), the formula 77 % (73 to 88), T5 89 % (82 to 94)'
wait_for '>8 ┊ +89% 82\.\.94 .* 39% 28\.\.49 .* 77% 73\.\.88 '
keys v v
claim 'ahead of ALiBi in all three, T5 is ahead of the formula in two of three. No arm is called best'
wait_for 'no arm is called best: p < 0.05 needs 6 seeds'
wait_for '1 t5 8/16 > .3 logslope .* 2:1 '
wait_for '2 alibi < .3 logslope .* 0:3 '
claim 'Press `5`, then `v`.'
keys 5 v
claim 'head 0 has -1.454, and head 7 has -0.0063'
wait_for 'distance 1  head 0 -1\.454'
wait_for 'head 7 .* -0\.0063 '
claim '`trained 0..17`'
wait_for 'trained 0\.\.17'
claim '`v` again shows the parameter itself, on the page `params`'
keys v
wait_for 'params 2/'
wait_for 'a +h0 +0\.04744 '

command_line "$(typed 'export figure')"
claim '`wrote lengths.svg`'
wait_for 'wrote lengths.svg'
command_line "$(typed 'export formula logslope.py')"
wait_for 'wrote logslope.py'
learned=$(block 'torch.tensor')
! grep -qvxFf "$WORK/logslope.py" <<<"$learned" || fail "the learned values of the page: $learned"
keys Q
wait_exit
assert_terminal_is_back
