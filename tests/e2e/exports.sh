#!/usr/bin/env bash
# exports.sh - checks exported files against the documentation: from the files alone, PyTorch must compute the same
# numbers. Skipped if Python has no PyTorch. PEWTER_PYTHON names another Python than the distribution's.
PEWTER=$(realpath "$1")
WORK=$(mktemp -d /tmp/pewter-exports-XXXXXX)
trap 'rm -rf "$WORK"' EXIT
python=${PEWTER_PYTHON:-/usr/bin/python3}
[ -x "$python" ] || exit 77
"$python" "$(dirname "$0")/../golden/check_exports.py" "$PEWTER" "$WORK"
