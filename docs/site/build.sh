#!/usr/bin/env bash
# build.sh ROOT PEWTER SITE - builds the static site of the documentation into the folder SITE, with pandoc.
#
# The pages are the Markdown files at the root, in docs and in docs/guide, and a reference page for each command and
# each encoding, which the program prints from its option tables. Fails if a link of a page leads nowhere. SITE is
# replaced only by a site without dead links.
set -eu
root=$1 pewter=$(realpath "$2") site=$3
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$site"
site=$(cd "$site" && pwd)
work=$(mktemp -d "$site.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$root"

mkdir -p "$work/pages" "$work/site"
cp --parents ./*.md docs/*.md docs/guide/*.md "$work/pages"
mv "$work/pages/README.md" "$work/pages/index.md"
cp --parents -r LICENSE docs/*.pewter docs/pictures bench/*.sh "$work/site"

# The program prints all reference pages as one text; a line of its own names the page that follows.
"$pewter" --reference | awk -v folder="$work/pages/" '
    /^<!-- page .* -->$/ {
        if (page != "") close(page)
        page = folder $3
        dir = page
        sub("/[^/]*$", "", dir)
        if (!(dir in made)) system("mkdir -p \"" dir "\"")
        made[dir]
        next
    }
    { print > page }'

convert() {
    local page=${1#./} up='' rest
    rest=${page//[!\/]/}
    up=${rest//\//../}
    mkdir -p "$(dirname "$work/site/$page")"
    pandoc --from gfm --to html5 --columns 10000 --no-highlight --standalone --template "$here/page.html" --lua-filter "$here/pages.lua" \
        --variable "root=$up" --metadata "pagetitle=$(sed -n '0,/^# /s/^# //p' "$work/pages/$page")" \
        --output "$work/site/${page%.md}.html" "$work/pages/$page"
}
export -f convert
export work here
# shellcheck disable=SC2016 # the inner shell expands $1
(cd "$work/pages" && find . -name '*.md' -print0) | xargs -0 -P "$(nproc)" -I '{}' bash -eu -c 'convert "$1"' _ '{}'

bash "$here/check.sh" "$work/site"
rm -rf "$site"
mv "$work/site" "$site"
chmod 755 "$site"
printf '%d pages in %s\n' "$(find "$site" -name '*.html' | wc -l)" "$site"
