#!/usr/bin/env bash
# externals.sh - checks that every external function and variable is used by another source file. Otherwise it should be
# static, or deleted. The objects of a complete build say who uses what. Not checked: CUDA and its emulator, whose
# functions are found by name, and tests that replace functions of a library.
# usage: externals.sh ROOT BUILD
# shellcheck source=tests/house/lib.sh
. "$(dirname "$0")/lib.sh"
build=${2:?usage: $0 ROOT BUILD}

command -v nm >/dev/null || {
    echo "skipped: there is no nm here"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Lines "OBJECT SOURCE" of everything in the default build. The text of benchmarks is read instead of their objects.
sed -n 's/^ *"command": ".* -o \([^ ]*\) -c \([^"]*\)",*$/\1 \2/p' "$build/compile_commands.json" |
    sed "s| $PWD/| |" | grep -v -e ' bench/' -e '^tests/cuda/CMakeFiles/device_' >"$work/objects"
[ -s "$work/objects" ] || fail "$build/compile_commands.json names no objects"
while read -r object _; do
    [ -f "$build/$object" ] || {
        echo "skipped: $object isn't built"
        exit 77
    }
done <"$work/objects"
cat bench/*.c >"$work/bench"

(cd "$build" && cut -d ' ' -f 1 "$work/objects" | xargs nm -A) | awk -v objects="$work/objects" '
    BEGIN { while ((getline line <objects) > 0) { split(line, part, " "); source[part[1]] = part[2] } }
    {
        split($1, part, ":")
        from = source[part[1]]
        name = $NF
        sub(/_(scalar|avx2|avx512|amx)$/, "", name) # the same source, compiled for several processors
        if ($(NF - 1) == "U") { if (!((name, from) in seen)) { seen[name, from] = 1; users[name] = users[name] " " from } }
        else if ($(NF - 1) ~ /^[TDBRC]$/ && name !~ /^__odr_asan/) defined[name] = from
    }
    END {
        for (name in defined) {
            from = defined[name]
            if (from ~ /^(kernels\/cuda|tests\/(cuda|emulator|fuzz|faults))\// || name ~ /^__wrap_/ || name == "main") continue
            n = split(users[name], user, " ")
            others = 0
            for (i = 1; i <= n; i++) others += user[i] != from
            if (others == 0) print from, name
        }
    }' | sort >"$work/found"
while read -r source name; do
    grep -qw "$name" "$work/bench" || fail "$source: $name is used in no other file: make it static, or delete it"
done <"$work/found"
finish
