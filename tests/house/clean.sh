#!/usr/bin/env bash
# clean.sh - checks that nothing ties the repository to one machine or makes it large: no file above 1 MB, no
# path into a home folder, no host of a package registry. (The patterns are written so that they don't match
# themselves.)
# shellcheck source=tests/house/lib.sh
. "$(dirname "$0")/lib.sh"

paths='(^|[^A-Za-z0-9_.}~*-])/(home|Users|root|work)/[A-Za-z0-9_]'
hosts='pypi[.]org|pythonhosted[.]org|npmjs[.](org|com)|(static|index)[.]crates[.]io|rubygems[.]org|conda[.]anaconda[.]org'
hosts="$hosts|proxy[.]golang[.]org|(deb|security)[.]debian[.]org|(archive|ports)[.]ubuntu[.]com|docker[.]io"

while IFS= read -r finding; do fail "$finding"; done < <(
    files '*' | tr '\n' '\0' | xargs -0 -r stat -c '%s %n' -- | awk '$1 > 1048576 { print $0, "is more than 1 MB" }'
    files '*' | tr '\n' '\0' | xargs -0 -r grep -HnIE -e "$paths" -- | sed 's/^/a path of one machine: /'
    files '*' | tr '\n' '\0' | xargs -0 -r grep -HnIEi -e "$hosts" -- | sed "s/^/a package registry's host: /"
)
finish
