#!/usr/bin/env bash
# configure.sh - tests plain `cmake -S . -B FOLDER` without a preset. It must configure with make and with a
# CUDA toolkit. Without cmocka it must leave the tests out, with a message.
# shellcheck source=tests/house/lib.sh
. "$(dirname "$0")/lib.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if command -v make >/dev/null; then
    cmake -S . -B "$work/make" -G 'Unix Makefiles' >"$work/out" 2>&1 || fail "with make: $(grep -A 2 -m 1 Error "$work/out")"
fi

cat >"$work/pkg-config" <<'EOF'
#!/bin/sh
case " $* " in *' cmocka '*) exit 1 ;; esac
exec pkg-config "$@"
EOF
chmod +x "$work/pkg-config"
cmake -S . -B "$work/lean" -DPEWTER_CUDA=OFF -DPKG_CONFIG_EXECUTABLE="$work/pkg-config" >"$work/out" 2>&1 ||
    fail "without cmocka: $(grep -A 2 -m 1 Error "$work/out")"
grep -q 'The tests are left out: they need cmocka' "$work/out" || fail "without cmocka: no message:  $(cat "$work/out")"
[ ! -d "$work/lean/tests" ] || fail "without cmocka: the tests are configured all the same"
finish
