#!/usr/bin/env bash
# exports_weights.sh - transformers loads what `export weights FOLDER/` writes, and computes pewter's logits. Skipped if
# Python has no transformers. PEWTER_PYTHON names another Python than the distribution's.
PEWTER=$(realpath "$1")
python=${PEWTER_PYTHON:-/usr/bin/python3}
[ -x "$python" ] || exit 77
"$python" "$(dirname "$0")/../golden/check_weights.py" "$PEWTER"
