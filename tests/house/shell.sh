#!/usr/bin/env bash
# No script of ours has a finding of shellcheck.
# shellcheck source=tests/house/lib.sh
. "$(dirname "$0")/lib.sh"

if ! command -v shellcheck >/dev/null; then
    echo "skipped: there is no shellcheck here"
    exit 77
fi

while IFS= read -r file; do
    shellcheck --external-sources --source-path=SCRIPTDIR --source-path="$root" "$file" || fail "$file: see above"
done < <(files dev run '*.sh')
finish
