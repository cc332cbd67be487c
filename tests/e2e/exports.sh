#!/usr/bin/env bash
# exports.sh - what is exported means what the documents say: PyTorch, given the files alone, computes the same numbers.
# Skipped where the distribution's Python has no PyTorch.
PEWTER=$(realpath "$1")
WORK=$(mktemp -d /tmp/pewter-exports-XXXXXX)
trap 'rm -rf "$WORK"' EXIT
[ -x /usr/bin/python3 ] || exit 77
/usr/bin/python3 "$(dirname "$0")/../golden/check_exports.py" "$PEWTER" "$WORK"
