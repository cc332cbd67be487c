#!/usr/bin/env bash
# check.sh SITE - every link within the HTML pages of SITE leads to a file of SITE, and every anchor to an element with
# that id. Links to other hosts are not followed.
set -eu
export LC_ALL=C
cd "$1"
find . -name '*.html' -printf '%P\n' | sort | xargs -d '\n' grep -oE '(id|href|src)="[^"]*"' /dev/null | awk -v list="$(find . -type f -printf '%P\n')" '
    # Resolves "." and ".." of a path.
    function plain(path,    part, n, i, kept, out) {
        n = split(path, part, "/")
        kept = 0
        for (i = 1; i <= n; i++) {
            if (part[i] == "" || part[i] == ".") continue
            if (part[i] == "..") { if (kept-- == 0) return "outside of the site"; continue }
            out[++kept] = part[i]
        }
        path = out[1]
        for (i = 2; i <= kept; i++) path = path "/" out[i]
        return path
    }
    BEGIN {
        n = split(list, names, "\n")
        for (i = 1; i <= n; i++) file[names[i]]
    }
    {
        at = index($0, ":")
        page = substr($0, 1, at - 1)
        text = substr($0, at + 1)
        value = text
        sub(/^[a-z]*="/, "", value)
        sub(/"$/, "", value)
        if (text ~ /^id=/) id[page "#" value]
        else if (value !~ /^[a-z]+:/) { from[++links] = page; link[links] = value }
    }
    END {
        for (i = 1; i <= links; i++) {
            name = link[i]
            anchor = ""
            if ((at = index(name, "#")) > 0) {
                anchor = substr(name, at)
                name = substr(name, 1, at - 1)
            }
            folder = from[i]
            if (!sub("/[^/]*$", "/", folder)) folder = ""
            target = name == "" ? from[i] : plain(folder name)
            if (!(target in file)) { print from[i] ": " link[i] ": there is no such file"; dead++ }
            else if (anchor != "" && !((target anchor) in id)) { print from[i] ": " link[i] ": there is no such heading"; dead++ }
        }
        if (links == 0) { print "no page has a link"; dead++ }
        exit dead > 0
    }'
