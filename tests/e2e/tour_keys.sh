# tour_keys.sh - the tour of the guide, key by key as its text names them. The claims of the text are read from the
# text. A key with another effect fails, and so does a number that isn't on the screen. It trains eighteen models.
. "$(dirname "$0")/lib.sh"
TOUR=$(realpath "$(dirname "$0")/../../docs/guide/tour.md")

# The text between pieces of code; those are keys, commands, names of files and of a row.
# shellcheck disable=SC2016 # the backquotes belong to the text
section=$(sed -n '1,/^The pictures are/p' "$TOUR" | grep -v -e '^!\[' -e '^# ' -e '^The pictures' | tr '\n' ' ' |
    sed 's/``` *\([^`]*[^` ]\) *```/`\1`/')
IFS='`' read -ra parts <<<"$section"
[ ${#parts[@]} -gt 60 ] || fail "the tour has ${#parts[@]} parts only"

evaluated() { # evaluated N LENGTH: whether there are N samples of each length up to LENGTH, of 18 models
    rm -f "$WORK/l.csv"
    command_line "export lengths $WORK/l.csv"
    until_true "the sheet of lengths" test -s "$WORK/l.csv"
    grep -q "^1,.*,$2,$1," "$WORK/l.csv" || grep -qE "(^|,)$2,.*(^|,)$1(,|$)" "$WORK/l.csv"
}
row_beyond() { # TEXT: whether the row of the lengths beyond training has it
    screen | grep -aE '>8 ┊' | grep -aqE "$1"
}
first_wrong() { # the token at which most answers of the cursor's length are first wrong
    local most=-1 best=0 n=1
    for ((n = 1; n <= 6; n++)); do
        wait_for "length 16, token $n: [0-9]+ of"
        local wrong
        wrong=$(screen | grep -aoE "token $n: [0-9]+" | grep -oE '[0-9]+$')
        [ "$wrong" -le "$most" ] || most=$wrong best=$n
        keys l
    done
    keys h h h h h h
    wait_for "token 1: "
    echo $best
}
percent() { # COLUMN of the row of a length
    screen | grep -aE "^.. *$2 ┊" | grep -oE '[0-9]+%' | sed -n "$1s/%//p"
}

# says TEXT: checks all claims of a text. A checked claim is removed, and no number may be left.
says() {
    local rest=$1 m
    claim() { # PATTERN: whether the text claims it. Its groups are in m.
        [[ $rest =~ $1 ]] || return 1
        m=("${BASH_REMATCH[@]}")
        rest=${rest/"${m[0]}"/}
    }
    claim ' tests them on ([0-9]+) lines of each length up to ([0-9]+)' &&
        until_true "${m[1]} samples of length ${m[2]}" evaluated "${m[1]}" "${m[2]}"
    claim 'sort ([0-9]+) to ([0-9]+) digits' && wait_for "sort ${m[1]}\.\.${m[2]} "
    claim 'in about 90 seconds on two cores'
    claim 'NoPE ([0-9]+) % \(([0-9]+) to ([0-9]+)\), T5 ([0-9]+) % \(([0-9]+) to ([0-9]+)\), ALiBi ([0-9]+) % \(([0-9]+) to ([0-9]+)\)' &&
        until_true "${m[0]}" row_beyond " ${m[1]}% ${m[2]}\.\.${m[3]} .* ${m[4]}% ${m[5]}\.\.${m[6]} .* ${m[7]}% ${m[8]}\.\.${m[9]} "
    claim 'arms compared over their seeds' && wait_for 'best: 1 none, better than each other arm over 6 seeds'
    claim 'needs six seeds of each for p < 0.05'
    claim 'six seeds of ALiBi together have ([0-9]+) % of the lines of 9 digits right, ([0-9]+) % of 11, and none of 16' && {
        wait_for 'errors 2/4'
        wait_for 'alibi of 3'
        until_true "${m[0]}" eval "[ \"\$(percent 1 9)\" = ${m[1]} ] && [ \"\$(percent 1 11)\" = ${m[2]} ] && [ \"\$(percent 1 16)\" = 0 ]"
    }
    claim 'the first wrong token is most often the third' &&
        { [ "$(first_wrong)" = 3 ] || fail 'the position of the first wrong token'; }
    claim 'rarely stops early; it decodes a wrong token' &&
        { { [ "$(percent 3 16)" -lt 15 ] && [ "$(percent 5 16)" -gt 80 ]; } || fail 'the shares of early stops and wrong tokens'; }
    claim 'lists failing examples' && wait_for 'length 16: [0-9]+ of 256 failed'
    claim 'decoded to its first wrong token' && wait_for 'pinned sample [0-9]+ of sort, length 16'
    claim 'shows the curve again' && wait_for 'curve 1/4'
    claim 'is the line of the demo again' && wait_for 'given sort 9 2 6 5 3 >'
    claim 'chooses T5' && wait_for '▲ 2 t5'
    claim 'goes to attention' && wait_for '┏━ 3 Attention'
    claim '(L[0-9]+H[0-9]+) has the largest share, (L[0-9]+H[0-9]+) two thirds as much' && {
        wait_for "gold pointers.* most ${m[1]} [0-9.]+"
        wait_for "^.${m[2]}  gold pointers [0-9.]+"
        screen | awk -v most="most ${m[1]} " -v other="${m[2]}  gold pointers " '
            index($0, most) { a = substr($0, index($0, most) + length(most)) + 0 }
            index($0, other) { b = substr($0, index($0, other) + length(other)) + 0 }
            END { exit !(b / a > 0.6 && b / a < 0.73) }' || fail "${m[0]}"
    }
    claim 'switches off the head under the cursor, (L[0-9]+H[0-9]+)' && wait_for "head off ${m[1]}"
    claim 'answer to the prompt now repeats a ([0-9])' && wait_for "model .* ${m[1]} +${m[1]} "
    claim 'has fallen from ([0-9]+) % to about ([0-9]+) %' && {
        local about="($((m[2] - 1))|${m[2]}|$((m[2] + 1)))"
        claim 'different work in each seed: ([0-9]+) to ([0-9]+) %' || fail 'the range of seeds'
        until_true "${m[0]}" row_beyond " $about% ${m[1]}\.\.${m[2]} "
    }
    claim 'switch the head on again' && wait_gone 'head off'
    claim 'Without (L[0-9]+H[0-9]+) the prompt is still sorted' && {
        command_line "ablate ${m[1]}"
        wait_for "head off ${m[1]}"
        wait_for 'exact match'
        command_line "restore ${m[1]}"
        wait_gone 'head off'
    }
    claim 'each measure with the value of chance and of the strongest head' && wait_for 'head chance  most'
    claim 'T5.s bias makes ([0-9]+) % of the differences' && wait_for "position's part +0\.0${m[1]} "
    claim 'shows the map again' && wait_for 'L0H0 probs'
    claim 'its parts: scores' && wait_for 'L0H0 score'
    claim 'goes to the encoding' && wait_for '┏━ 5 Encoding'
    claim 'to the buckets: ([0-9]+) to ([0-9]+), that is distances from ([0-9]+) on' && {
        wait_for "never trained: buckets ${m[1]}.${m[2]}"
        for ((i_bucket = 0; i_bucket < m[1]; i_bucket++)); do keys j; done
        wait_for "bucket ${m[1]}: distances? ${m[3]}"
    }
    rest=$(sed -E 's/L[0-9]+H[0-9]+|T5//g' <<<"$rest")
    [[ ! $rest =~ [0-9] ]] || fail "no check for this number of the tour: $rest"
}

press() {
    case $1 in
    ./* | docs/* | '>8' | ablate*) ;; # not keys
    :) ;;                            # opens the line of the block
    seed*)
        keys :
        line "$1"
        wait_for '1 none of 3'
        ;;
    :*) command_line "${1#:}" ;;
    '?')
        keys '?'
        wait_for 'type a command'
        keys Escape
        wait_gone 'type a command'
        ;;
    Space)
        keys Space
        PATIENCE=900 wait_for 'idle 1000'
        ;;
    Enter | ?) keys "$1" ;;
    *) fail "'$1' in the tour is neither a key nor a command" ;;
    esac
}

shell 100x30
workbench
pressed=0
for ((i = 0; i < ${#parts[@]}; i += 2)); do
    says "${parts[i]}"
    [ $((i + 1)) -lt ${#parts[@]} ] || break
    press "${parts[i + 1]}"
    pressed=$((pressed + 1))
done
echo "$pressed pieces of code"
keys Q
wait_exit
assert_terminal_is_back
