#!/usr/bin/env bash
# dev.sh - tests `./dev` under other conditions: in a path with blanks; in a folder that was moved, is owned
# by another user, or has no PyTorch. It also tests the output for scripts, and that flags don't depend on the
# verb. The real cmake configures a copy of the checkout; the build itself is skipped.
# shellcheck source=tests/house/lib.sh
. "$(dirname "$0")/lib.sh"

command -v ninja >/dev/null || {
    echo "skipped: there is no ninja here"
    exit 77
}
real=$(command -v cmake)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CI PEWTER_WERROR

mkdir -p "$work/a checkout" "$work/bin"
files '*' | tar --verbatim-files-from -T - -c | tar -C "$work/a checkout" -x
cd "$work/a checkout" || exit 1

# A fake cmake. With --build it prints a line, like ninja, and installs a program that prints JSON.
cat >"$work/bin/cmake" <<EOF
#!/bin/sh
if [ "\$1" = --build ]; then
    echo "[1/1] Linking"
    printf '#!/bin/sh\necho "{\\\\"args\\\\": \$#}"\n' >build/release/pewter
    chmod +x build/release/pewter
else
    exec "$real" "\$@" -DPEWTER_CUDA=OFF
fi
EOF
# A fake dpkg-query: all packages are installed.
cat >"$work/bin/all-there" <<'EOF'
#!/bin/sh
for package in "$@"; do echo "installed $package"; done
EOF
printf '#!/bin/sh\necho "a test installs nothing"\nexit 1\n' >"$work/bin/apt-get"
cp "$work/bin/apt-get" "$work/bin/sudo"
chmod +x "$work/bin/cmake" "$work/bin/all-there" "$work/bin/apt-get" "$work/bin/sudo"
cp "$work/bin/all-there" "$work/bin/dpkg-query"
export PATH=$work/bin:$PATH

# one_line TEXT PATTERN: succeeds if TEXT is one line that matches PATTERN.
one_line() {
    [ "$(wc -l <<<"$1")" -eq 1 ] && grep -q -- "$2" <<<"$1"
}

# flags: prints the command line of each source of the program, without those of tests.
flags() {
    grep '"command"' build/release/compile_commands.json | grep -v '/tests/' | sort
}

out=$(./dev run --json -c 'x y' 2>"$work/err") || fail "run: status $?: $(cat "$work/err")"
[ "$out" = '{"args": 3}' ] || fail "run: standard output has more than the program's: $out"
lean=$(flags)
[ "$(wc -l <<<"$lean")" -gt 300 ] || fail "run: the list of files to compile is incomplete"
grep -q -- -Werror <<<"$lean" && fail "run: warnings are errors by default"

./dev build release >"$work/out" 2>&1 || fail "build: $(tail -n 5 "$work/out")"
[ "$(flags)" = "$lean" ] || fail "build after run: other flags, so all would be compiled again"
grep -q '/tests/unit/' build/release/compile_commands.json || fail "build: without tests"
CI=true ./dev build release >"$work/out" 2>&1 || fail "build in CI: $(tail -n 5 "$work/out")"
flags | grep -qv -- -Werror && fail "CI: warnings are not errors"

# The folder was moved, with all build outputs.
cd "$work" && mv 'a checkout' 'another one' && cd 'another one' || exit 1
out=$(./dev run 2>"$work/err") || fail "moved: status $?: $(cat "$work/err")"
[ "$out" = '{"args": 1}' ] || fail "moved: not the program: $out"
grep -q '^dev: build/release belongs to another folder, .*/a checkout; it is configured again$' "$work/err" ||
    fail "moved: no message:  $(cat "$work/err")"
grep -q 'CMake Error' "$work/err" && fail "moved: CMake's own words: $(cat "$work/err")"
./dev run >/dev/null 2>"$work/err"
grep -q 'another folder' "$work/err" && fail "moved: configured again every time"

# The folder belongs to another user. root can write anywhere, so the test drops root's rights.
chmod a-w build/release
run=()
[ "$(id -u)" -ne 0 ] || run=(setpriv --reuid=65534 --regid=65534 --clear-groups)
chmod -R go+rX "$work"
out=$("${run[@]}" ./dev run 2>&1) && fail "not writable: status 0"
one_line "$out" "build/release belongs to $(id -un) and can't be written by " ||
    fail "not writable: not one clear line: $out"
chmod u+w build/release

# PyTorch from a virtual environment; without one, and without a package, one line explains the installation.
printf '#!/bin/sh\n' >"$work/bin/apt-cache" # has no packages
printf '#!/bin/sh\nexit 1\n' >"$work/bin/dpkg-query"
chmod +x "$work/bin/apt-cache"
out=$(./dev bench 2>&1) && fail "bench: status 0 without PyTorch"
one_line "$out" 'build/torch/bin/pip install torch.*--no-torch' ||
    fail "bench: not one clear line: $out"
cp "$work/bin/all-there" "$work/bin/dpkg-query"
mkdir -p build/torch/bin
printf '#!/bin/sh\necho "own torch: %s"\n' "\$1" >build/torch/bin/python3
chmod +x build/torch/bin/python3
out=$(./dev bench 2>/dev/null) || fail "bench: status $? with a virtual environment"
[ "$out" = "own torch: $PWD/bench/bench.py" ] || fail "bench: not that of build/torch: $out"

finish
