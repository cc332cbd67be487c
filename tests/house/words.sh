#!/usr/bin/env bash
# words.sh - checks strings and comments for constructions that are not plain technical English. The table
# below has each with what to write instead; CONTRIBUTING.md has the rules.
# shellcheck source=tests/house/lib.sh
. "$(dirname "$0")/lib.sh"

# Folders and files that are not checked yet, as one extended regular expression.
later='^$'

# KIND<TAB>PATTERN<TAB>REASON. KIND is any, comment or string. PATTERN is an extended regular expression of
# awk on lower-case text, and matches whole words. "^" in front: only at the start of a sentence.
banned() {
    cat <<'EOF'
any	anew	again, or name the action: rebuilt, drawn again
any	under way	in flight, or running
any	whoever|whomever|whosoever	name the caller, the reader, the thread
any	somebody|anybody|nobody|someone|anyone|no one	name the user, the caller, the thread; or: no code, not
any	(for|by|from|to|of|as|with|and|or|then) who	name the person or the function
comment	^(what|who|whose) [^.?]*([.]|$)	begin with a noun: "The rows that ...", "Returns ..."
any	(is|are|was|were|be|been|not|it) told|told (of|to|that)	is emitted, recorded, shown, passed
any	tells (it|them|of|whether|that|which|nothing|what)	emits, reports, shows
any	(can't|cannot|can not) be told	is unknown, cannot be computed
any	(is|are|was) no more	was dropped, no longer exists
any	by turns	round-robin, alternately
any	g(i|a)ves? back|giv(en|ing) back	returns, releases, frees
any	the documents?	name the paper
any	seed 00[0-9]	name the paper
any	(this|that|another) one's|of theirs	repeat the noun
any	of its (is|are|was|has|had|can|may)|of its[.,;:]	repeat the noun
string	replicates? (of|are|is|has|have|in|%)|(the|all|some|each|every|first|other|in) replicates?	replica
any	(never|not|has|had|have|training|pairs|rows) met|met (in|by|distances|up)	seen in training
any	knows	has, supports, stores, contains
any	^(may|might|must) (the|a|this|it|one)	"Can ...?", or "Returns whether ..."
any	^the same of	repeat the noun
any	(is|are) (another|other) ones?	repeat the noun
any	(do|does|did|done|doing) again	re-run, repeat
any	(stand|stands|stood) (there|here|behind|beside)|(lie|lies|lay) behind	is, comes after
any	every so many|so many of	every N
any	goes on (with|where|as|from)	continues
any	go(es|ne)? about (it|this)|gone about	is done, is computed
any	come(s)? to be|as ever|in vain|of old|the least of which	say it in today's words
any	shall|thereby|whereby|thereof|whereof|herein|hereby|ere|lest|nought	say it in today's words
any	land(s|ed)?	complete, drain
EOF
}

# FILE<TAB>WORDS: texts that may have a banned pattern. WORDS is a fixed part of the text, in lower case.
allowed() {
    cat <<'EOF'
tests/unit/test_record_media.c	user nobody
EOF
}

# Writes the findings, one a line. A record is a string with the literals that follow it, or a comment over all
# its lines; of scripts, lessons and formula files, a comment or any other line; of Markdown, a paragraph, an item
# or a row, without code.
list_findings() {
    BANNED=$(banned) ALLOWED=$(allowed) awk '
function check(    i, t, found) {
    t = text
    text = ""
    if (place ~ /\.md:/) gsub(/`[^`]*`/, "CODE", t)
    gsub(/\\[nt"\\]/, " ", t)
    gsub(/[ \t]+/, " ", t)
    sub(/^ /, "", t)
    t = tolower(t)
    if (t !~ some) return
    for (i = 1; i <= n; i++)
        if ((kinds[i] == "any" || kinds[i] == kind) && t ~ patterns[i] && !is_allowed(t)) {
            match(t, patterns[i])
            found = substr(t, RSTART, RLENGTH)
            gsub(/^[^a-z0-9]+|[^a-z0-9]+$/, "", found)
            print place ": \"" found "\": " reasons[i]
        }
}
function is_allowed(t,    i) {
    for (i = 1; i <= n_allowed; i++)
        if (index(place, files[i] ":") == 1 && index(t, words[i])) return 1
    return 0
}
function add(k, s, more) {
    if (text != "" && more && k == kind) text = text (k == "comment" ? " " : "") s
    else {
        if (text != "") check()
        place = FILENAME ":" FNR
        kind = k
        text = s
    }
    last = FNR
}
function add_comment(s) {
    sub(/^[ \t]*\*?[ \t]*/, "", s)
    add("comment", s == "" ? "." : s, FNR == last + 1)
}
BEGIN {
    n = split(ENVIRON["BANNED"], rows, "\n")
    for (i = 1; i <= n; i++) {
        split(rows[i], row, "\t")
        kinds[i] = row[1]
        front = sub(/^\^/, "", row[2]) ? "(^|[.?] |\\.(c|cu|h|sh|py) - )" : "(^|[^a-z_.])"
        patterns[i] = front "(" row[2] ")([^a-z_]|$)"
        reasons[i] = row[3]
        some = some (i > 1 ? "|" : "") patterns[i]
    }
    n_allowed = split(ENVIRON["ALLOWED"], rows, "\n")
    for (i = 1; i <= n_allowed; i++) {
        split(rows[i], row, "\t")
        files[i] = row[1]
        words[i] = row[2]
    }
}
FNR == 1 {
    if (text != "") check()
    block = 0
    last = -1
    is_c = FILENAME ~ /\.(c|h|cu)$/
    is_md = FILENAME ~ /\.md$/
    fence = 0
}
is_md {
    begins = after_heading || /^[ \t]*([-*+] |[0-9]+\. |#|\||$)/
    after_heading = /^#/
    if (/^[ \t]*```/) fence = !fence
    else if (!fence) add("string", " " $0, !begins)
    next
}
!is_c {
    if (match($0, /^[ \t]*# ?/)) add_comment(substr($0, RLENGTH + 1))
    else add("string", $0, 0)
    next
}
/^[ \t]*#[ \t]*include/ { next }
{
    rest = $0
    if (block) {
        if (!(i = index(rest, "*/"))) {
            add_comment(rest)
            next
        }
        add_comment(substr(rest, 1, i - 1))
        rest = substr(rest, i + 2)
        block = 0
    }
    while (match(rest, /"|\/\/|\/\*|\047/)) {
        sign = substr(rest, RSTART, RLENGTH)
        before = substr(rest, 1, RSTART - 1)
        rest = substr(rest, RSTART + RLENGTH)
        if (sign == "\047") {
            if (match(rest, /^(\\.[^\047]*|[^\047\\])\047/)) rest = substr(rest, RLENGTH + 1)
        } else if (sign == "//") {
            add_comment(rest)
            break
        } else if (sign == "\"") {
            match(rest, /^([^"\\]|\\.)*"/)
            add("string", substr(rest, 1, RLENGTH - 1), before ~ /^[ \t]*$/)
            rest = substr(rest, RLENGTH + 1)
        } else if ((i = index(rest, "*/"))) {
            add_comment(substr(rest, 1, i - 1))
            rest = substr(rest, i + 2)
        } else {
            add_comment(rest)
            block = 1
            break
        }
    }
}
END { if (text != "") check() }' "$@"
}

mapfile -t names < <(files '*.c' '*.h' '*.cu' '*.sh' '*.py' '*.pe' '*.pewter' '*.md' dev | grep -vE "$later|^tests/house/(words|rules_can_fail)\.sh$")
[ "${#names[@]}" -gt 0 ] || finish
while IFS= read -r finding; do
    fail "$finding"
done < <(list_findings "${names[@]}")
finish
