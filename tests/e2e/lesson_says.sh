#!/usr/bin/env bash
# lesson_says.sh - the text of each lesson agrees with the screen, at 80x24 and at 100x30. The cursor must be on the
# query and the token that the text describes, and every number read from a head must be shown.
. "$(dirname "$0")/lib_files.sh"

# Makes screenshots of a lesson's steps up to `last`, and files with the text of each step.
pictures() {
    local lesson=$1 last=$2
    awk -v last="$last" -v name="$lesson" '
        /^wait key/ {
            n++
            printf "screenshot %s-%d-80x24.txt size=80x24\nscreenshot %s-%d-100x30.txt size=100x30\n", name, n, name, n
        }
        { print }
        /^wait key/ && n == last { exit }' "$PEWTER_SOURCE_DIR/lessons/$lesson.pewter" >"$lesson.pewter"
    timeout 900 "$PEWTER" -c "present ./$lesson.pewter" >out 2>err </dev/null
    check "$lesson: $(tail -n 1 err)" test $? = 0
    awk -v name="$lesson" '/^say /  { said = said " " substr($0, 5) }
                           /^show / { shown = $0 }
                           /^wait key/ { n++; print said > (name "-" n ".said"); print shown > (name "-" n ".show"); said = "" }' \
        "$lesson.pewter"
}

# The screen without the lesson's text: the rows above its line.
above() {
    awk -v n="$2" 'index($0, " " n "/") && /q leaves/ { exit } { print }' "$1"
}

# Whether the screen has a number that equals this one when rounded to as many digits.
# shellcheck disable=SC2317 # check calls it
has_number() {
    grep -oE '[+-]?[0-9]*\.[0-9]+' screen | awk -v want="$1" '
        BEGIN { digits = length(want) - index(want, "."); sub(/^[+]/, "", want) }
        { v = sprintf("%." digits "f", $1 < 0 && want >= 0 ? -$1 : $1)
          if (v == sprintf("%." digits "f", want)) found = 1 }
        END { exit !found }'
}

checked=0
for lesson in head nope; do
    last=99
    [ $lesson = head ] || last=9 # after step 9 nope trains other arms, and reads no head
    pictures $lesson $last
    for said in "$lesson"-*.said; do
        step=${said%.said} n=${said%.said}
        n=${n##*-}
        grep -qE 'query=|distance=' "$step.show" || [ $lesson = head ] || continue # the step reads no head
        for size in 80x24 100x30; do
            above "$step-$size.txt" "$n" >screen
            check "$step at $size: the lesson's own rows" test "$(wc -l <screen)" -lt "$(wc -l <"$step-$size.txt")"
            for query in $(grep -oE 'query [0-9]+' "$said" | tr -dc '0-9\n'); do
                check "$step at $size: query $query is under the cursor" grep -qE "q=$query \"" screen
                checked=$((checked + 1))
            done
            while read -r number; do
                check "$step at $size: $number is on the screen" has_number "$number"
                checked=$((checked + 1))
            done < <(grep -oE '[+-]?[0-9]\.[0-9]+' "$said")
            token=$(grep -oE '0\.[0-9]+ (on|to) the (sign )?[0-9>]' "$said" | head -n 1 | grep -oE '.$')
            [ -z "$token" ] || check "$step at $size: the token $token is under the cursor" grep -qE "k=[0-9]+ \"$token\"" screen
        done
    done
done
check "$checked things were looked up" test $checked -ge 30
exit $failed
