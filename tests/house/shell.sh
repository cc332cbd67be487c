#!/usr/bin/env bash
# No script of ours has a finding of shellcheck. Those without a first line that names a shell are run by bash.
# shellcheck source=tests/house/lib.sh
. "$(dirname "$0")/lib.sh"

if ! command -v shellcheck >/dev/null; then
    echo "skipped: there is no shellcheck here"
    exit 77
fi

while IFS= read -r file; do
    shell=()
    head -n 1 "$file" | grep -q '^#!' || shell=(--shell=bash)
    # SC2119, SC2120: a function that can do without arguments may be called without.
    shellcheck --external-sources --source-path=SCRIPTDIR --exclude=SC2119,SC2120 ${shell[@]+"${shell[@]}"} "$file" ||
        fail "$file: see above"
done < <(files dev run '*.sh')
finish
