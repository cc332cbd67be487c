#!/usr/bin/env bash
# A source file is short enough to be read in one go: above 800 lines is a failure, above 500 is worth a look.
# shellcheck source=tests/house/lib.sh
. "$(dirname "$0")/lib.sh"

while IFS= read -r file; do
    lines=$(wc -l <"$file")
    if [ "$lines" -gt 800 ]; then
        fail "$file: $lines lines, more than 800"
    elif [ "$lines" -gt 500 ]; then
        echo "$file: $lines lines, rather long"
    fi
done < <(files '*.c' '*.h' '*.cu' '*.py' '*.sh' '*.cmake' CMakeLists.txt dev)
finish
