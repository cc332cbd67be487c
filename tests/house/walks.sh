#!/usr/bin/env bash
# walks.sh ROOT - checks the walks of ARCHITECTURE.md (walks.py). Skipped where there is no Python.
python=/usr/bin/python3
[ -x $python ] || exit 77
exec $python "$1/tests/house/walks.py" "$1"
