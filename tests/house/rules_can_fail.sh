#!/usr/bin/env bash
# rules_can_fail.sh - tests the house tests: each must fail in a folder with one violation, and pass in a
# clean folder.
# usage: rules_can_fail.sh ROOT
set -u
rules=$(cd "$1/tests/house" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export GIT_CEILING_DIRECTORIES=$folder # no repository around the temporary folder counts
failures=0

# expect STATUS RULE [ARGUMENT]: runs a rule on the folder. A rule that exits with 77 (tool missing) is skipped.
expect() {
    local out status
    out=$(bash "$rules/$2.sh" "$folder" "${@:3}" 2>&1)
    status=$?
    if [ "$status" -ne 77 ] && [ "$status" -ne "$1" ]; then
        printf '%s.sh: status %d instead of %d: %s\n' "$2" "$status" "$1" "$out"
        failures=$((failures + 1))
    fi
}

# break_rule RULE FILE: writes standard input to FILE, expects the rule to fail, and removes FILE.
break_rule() {
    mkdir -p "$folder/$(dirname "$2")"
    cat >"$folder/$2"
    expect 1 "$1"
    rm "$folder/$2"
}

printf 'int x;\n' >"$folder/fine.c"
cp "$1/.clang-format" "$folder/"
cat >"$folder/fine.md" <<'END'
`nobody` is a word, and `steps under
way` are code.
```
nobody
```
END
for rule in format shell clean length names words links sentences; do expect 0 "$rule"; done

break_rule format src/deep/bad.c <<<'int   x ;'
break_rule shell bad.sh <<<"if [ \$x = 1 ]; then echo \$y; fi"
break_rule clean notes.md <<<"see /ho""me/somebody/notes"
break_rule clean notes.md <<<"get it from https://py""pi.org/project"
break_rule clean big.bin < <(head -c 1100000 /dev/zero)
break_rule links deep/notes.md <<<"see [the guide](guide/none.md#top)"
break_rule links README.md < <(yes '' | head -n 61)
break_rule names src/draw.c <<<$'static void draw(int x)\n{\n}'
break_rule names src/twice.h <<<$'struct pw_twice {\n};\nstruct pw_twice {\n};'
break_rule words src/say.c <<<'puts("the encoding is made anew");'
break_rule words src/wrapped.c <<<$'/* The pairs that training\n * met are counted. */'
break_rule words src/joined.c <<<$'puts("steps under "\n     "way");'
break_rule words src/headless.c <<<'int n; /* What is known of the prompt. */'
break_rule words some.sh <<<'# Nobody waits for it.'
break_rule words notes.md <<<$'- The steps that are under\n  way are counted.'
break_rule words notes.md <<<$'```\nnobody\n```\nNobody waits.'
break_rule words notes.md <<<$'`train\n10` and nobody, `eval`.'
break_rule words lessons/some.pewter <<<'say none is told nothing'
long_sentence=$(printf 'word %.0s' {1..41})
break_rule sentences src/long.h <<<"/* Short. ${long_sentence% }. */"
break_rule sentences notes.md <<<"- An item: ${long_sentence% }."
break_rule sentences notes.md <<<"| a cell | ${long_sentence% } |"
break_rule length long.c < <(yes '' | head -n 801)

# A build of two files: one function is used by the other file, one only by its own.
mkdir "$folder/build" "$folder/bench"
: >"$folder/bench/none.c"
printf 'int used(const int *p);\nint used(const int *p) { return p == 0; }\n' >"$folder/one.c"
printf 'int used(const int *p);\nint main(void) { return used(0); }\n' >"$folder/two.c"
build_both() {
    local name comma=
    for name in one two; do
        "${CC:-cc}" -c "$folder/$name.c" -o "$folder/build/$name.o" || return
        printf '%s{\n  "directory": "%s/build",\n' "${comma:-[}" "$folder"
        printf '  "command": "cc -o %s.o -c %s/%s.c",\n' "$name" "$folder" "$name"
        printf '  "file": "%s/%s.c"\n}' "$folder" "$name"
        comma=,
    done >"$folder/build/compile_commands.json"
    echo ']' >>"$folder/build/compile_commands.json"
}
if build_both; then
    expect 0 externals "$folder/build"
    expect 0 nulls "$folder/build"
    printf 'int unused(void);\nint unused(void) { return 2; }\n' >>"$folder/one.c"
    build_both
    expect 1 externals "$folder/build"
    sed -i 's/p == 0/!p/' "$folder/one.c"
    expect 1 nulls "$folder/build"
fi
exit "$((failures > 0))"
