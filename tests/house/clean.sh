#!/usr/bin/env bash
# Nothing in the repository that ties it to one machine or weighs it down: no file above 1 MB, no path into
# somebody's home, no package registry's host. (The patterns are written so that they don't match themselves.)
# shellcheck source=tests/house/lib.sh
. "$(dirname "$0")/lib.sh"

paths='(^|[^A-Za-z0-9_.}~*-])/(home|Users|root|work)/[A-Za-z0-9_]'
hosts='pypi[.]org|pythonhosted[.]org|npmjs[.](org|com)|(static|index)[.]crates[.]io|rubygems[.]org|conda[.]anaconda[.]org'
hosts="$hosts|proxy[.]golang[.]org|(deb|security)[.]debian[.]org|(archive|ports)[.]ubuntu[.]com|docker[.]io"

while IFS= read -r file; do
    size=$(stat -c %s -- "$file")
    [ "$size" -le 1048576 ] || fail "$file: $size bytes, more than 1 MB"
    found=$(grep -nIE -m 3 -e "$paths" -- "$file") && fail "$file: a path of one machine: $found"
    found=$(grep -nIEi -m 3 -e "$hosts" -- "$file") && fail "$file: a package registry's host: $found"
done < <(files '*')
finish
