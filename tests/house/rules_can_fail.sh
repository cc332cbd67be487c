#!/usr/bin/env bash
# The house tests see what they are there for: in a folder with one violation each, all of them fail; in a clean one,
# all pass.
# usage: rules_can_fail.sh ROOT
set -u
rules=$(cd "$1/tests/house" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export GIT_CEILING_DIRECTORIES=$folder # whatever holds the temporary folder, it is no repository of ours
failures=0

# expect STATUS RULE: runs it over the folder. A rule whose tool is missing says 77 and is left out.
expect() {
    local out status
    out=$(bash "$rules/$2.sh" "$folder" 2>&1)
    status=$?
    if [ "$status" -ne 77 ] && [ "$status" -ne "$1" ]; then
        printf '%s.sh: status %d instead of %d: %s\n' "$2" "$status" "$1" "$out"
        failures=$((failures + 1))
    fi
}

# break RULE FILE: puts standard input there, expects the rule to see it, and takes it away again.
break_rule() {
    mkdir -p "$folder/$(dirname "$2")"
    cat >"$folder/$2"
    expect 1 "$1"
    rm "$folder/$2"
}

printf 'int x;\n' >"$folder/fine.c"
cp "$1/.clang-format" "$folder/"
for rule in format shell clean length; do expect 0 "$rule"; done

break_rule format src/deep/bad.c <<<'int   x ;'
break_rule shell bad.sh <<<"if [ \$x = 1 ]; then echo \$y; fi"
break_rule clean notes.md <<<"see /ho""me/somebody/notes"
break_rule clean notes.md <<<"get it from https://py""pi.org/project"
break_rule clean big.bin < <(head -c 1100000 /dev/zero)
break_rule length long.c < <(yes '' | head -n 801)
exit "$((failures > 0))"
