#!/usr/bin/env bash
# exports_formula.sh - checks formulas that are exported as Python: from the files alone, PyTorch and its FlexAttention
# must compute the same numbers. Skipped if Python has no PyTorch. PEWTER_PYTHON names another Python than the
# distribution's.
PEWTER=$(realpath "$1")
WORK=$(mktemp -d /tmp/pewter-formula-XXXXXX)
trap 'rm -rf "$WORK"' EXIT
python=${PEWTER_PYTHON:-/usr/bin/python3}
[ -x "$python" ] || exit 77
"$python" "$(dirname "$0")/../golden/check_formula.py" "$PEWTER" "$WORK"
