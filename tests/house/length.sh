#!/usr/bin/env bash
# length.sh - checks that source files are short enough to be read in one go: more than 800 lines fail, more
# than 500 lines print a note.
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
