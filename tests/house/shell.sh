#!/usr/bin/env bash
# shell.sh - checks that shellcheck reports nothing in the scripts. Scripts without a shebang line are checked
# as bash.
# shellcheck source=tests/house/lib.sh
. "$(dirname "$0")/lib.sh"

if ! command -v shellcheck >/dev/null; then
    echo "skipped: there is no shellcheck here"
    exit 77
fi

while IFS= read -r file; do
    shell=()
    head -n 1 "$file" | grep -q '^#!' || shell=(--shell=bash)
    # SC2119, SC2120: a function with optional arguments may be called without any.
    shellcheck --external-sources --source-path=SCRIPTDIR --exclude=SC2119,SC2120 ${shell[@]+"${shell[@]}"} "$file" ||
        fail "$file: see above"
done < <(files dev run release '*.sh')
finish
