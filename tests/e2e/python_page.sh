#!/usr/bin/env bash
# python_page.sh - the code of docs/guide/python.md runs as printed, and with each other encoding of its model. Code that needs NumPy, PyTorch or TransformerLens is
# skipped where Python has none. PEWTER_PYTHON names another Python than the distribution's.
PEWTER=$(realpath "$1")
WORK=$(mktemp -d /tmp/pewter-page-XXXXXX)
trap 'rm -rf "$WORK"' EXIT
python=${PEWTER_PYTHON:-/usr/bin/python3}
[ -x "$python" ] || exit 77
mkdir "$WORK/bin" "$WORK/here"
ln -s "$PEWTER" "$WORK/bin/pewter"
export PATH=$WORK/bin:$PATH XDG_STATE_HOME=$WORK/state XDG_CONFIG_HOME=$WORK/config OMP_NUM_THREADS=1
cd "$WORK/here" || exit 1
page=$PEWTER_SOURCE_DIR/docs/guide/python.md
grep -q 'pe t5;' "$page" || exit 1
for pe in t5 none alibi rotary; do
    sed "s/pe t5;/pe $pe;/" "$page" >../page.md
    "$python" "$PEWTER_SOURCE_DIR/tests/golden/run_page.py" ../page.md >../out 2>&1
    status=$?
    grep -E '^skipped|blocks of python' ../out
    [ $status -eq 0 ] || {
        [ $status -eq 77 ] || tail -n 20 ../out
        exit $status
    }
done
