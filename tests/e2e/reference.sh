#!/usr/bin/env bash
# reference.sh - each command and each encoding has a reference page, the examples of commands and of options of
# encodings work, and the site of the documentation is built without dead links (where there is pandoc).
PEWTER=$(realpath "$1")
site=$(realpath "$PEWTER_SOURCE_DIR/docs/site")
WORK=$(mktemp -d /tmp/pewter-reference-XXXXXX)
trap 'rm -rf "$WORK"' EXIT
cd "$WORK" || exit 1

fail() {
    echo "FAILED: $*"
    exit 1
}

"$PEWTER" --reference >all || fail "status $?"
awk '/^<!-- page / { page = $3; next } { gsub("\\\\", "") } /^\|/ { print page " " $0 }' all >rows
grep '^<!-- page ' all | awk '{ print $3 }' | sort >pages
[ -z "$(uniq -d pages)" ] || fail "pages that are there twice: $(uniq -d pages)"
"$PEWTER" --no-session -c help | awk '{ print "reference/commands/" $1 ".md" }' | sort >commands
[ "$(wc -l <commands)" -gt 50 ] || fail "too few commands: $(cat commands)"
[ -z "$(comm -23 commands pages)" ] || fail "no page: $(comm -23 commands pages)"

# Encodings: the examples of all options of an encoding together, and each with the bare name.
grep '^reference/encodings/' pages | while IFS= read -r page; do
    name=$(basename "$page" .md)
    echo "pe $name"
    awk -F '`' -v page="$page" -v name="$name" '$1 ~ "^" page " " && NF > 3 { print "pe " name " " $(NF - 1) }' rows
done >encodings.pewter
[ "$(grep -c = encodings.pewter)" -ge 15 ] || fail "too few examples: $(cat encodings.pewter)"
"$PEWTER" --no-session run encodings.pewter >out 2>&1 || fail "an example of an encoding: $(tail -n 2 out)"

# Each option has a type, what is allowed, a meaning and an example.
awk -F ' \\| ' '/ \| `[a-z._]+` \| / || / \| `[a-z._]+`/ { if (NF < 6 || $2 == "" || $3 == "" || $(NF - 1) == "") print }' rows |
    grep -v '^reference/index' >bad
[ ! -s bad ] || fail "rows with an empty cell:  $(head -n 3 bad)"

# Commands in the documentation: each `:NAME ...` is a command, and the page of a command has each option that is used.
awk '/^<!-- page / { page = $3; next } { print page " " $0 }' all | sed 's/\\//g' >lines
words() { # of the pages that match $1: "key" for each "key=" and for each row of options
    # shellcheck disable=SC2016 # the backquotes belong to the text
    grep -E "^reference/$1\.md " lines | grep -oE '[a-z0-9_.]+=|\| `[a-z0-9_.]+` \|' | tr -d '=|` '
}
used=0
# shellcheck disable=SC2016,SC2001 # the backquotes belong to the text
while IFS= read -r command; do
    name=${command%% *} asked=${command#:}
    asked=${asked%% *}
    if ! grep -qxF "reference/commands/$asked.md" commands; then
        [ "$name" = "$asked" ] || fail "docs: no command: $command"
        continue
    fi
    # The text of other programs and of raw commands is no option.
    for key in $(sed 's/"[^"]*"//g' <<<"$command" | grep -oE '[ (,][a-z][a-z_]*=' | tr -d ' (,='); do
        case $asked in
        pe | race | fork | tune | check) words "(commands/$asked|commands/race|encodings/.*)" ;;
        *) words "commands/$asked" ;;
        esac | grep -qxF -- "$key" || fail "docs: no option $key: $command"
        used=$((used + 1))
    done
done < <(grep -ohE '`:?[a-z][^`]*`' "$PEWTER_SOURCE_DIR"/docs/guide/*.md "$PEWTER_SOURCE_DIR/README.md" | tr -d '`' |
    tr ';' '\n' | sed 's/^ *//' | sort -u)
[ $used -ge 30 ] || fail "too few options in the documentation: $used"

# Each command has an example, and the examples work: in a lab with two trained arms, a prompt and a saved session.
# shellcheck disable=SC2016 # the backquotes belong to the text
sed -n 's/^Example: `\(.*\)`$/\1/p' all >examples
[ -z "$(cut -d ' ' -f 1 examples | sed 's:.*:reference/commands/&.md:' | sort -u | comm -13 - commands)" ] ||
    fail "commands without an example: $(cut -d ' ' -f 1 examples | sed 's:.*:reference/commands/&.md:' | sort -u | comm -13 - commands)"
export XDG_STATE_HOME=$WORK/state XDG_CONFIG_HOME=$WORK/config
lab='model tiny width=16 layers=2 heads=2; optim batch=4; race t5,t5 seeds=2; train 30; eval samples=4
prompt sort 3 1 4 1 5'
echo 'train 1' >script.pewter
"$PEWTER" --session base -c "$lab; export attention sort.npz; save monday" >out 2>&1 || fail "the lab: $(tail -n 1 out)"
n=0
while IFS= read -r example; do
    n=$((n + 1)) limit=600
    [ "${example%% *}" != demo ] || limit=5 # its training takes a minute
    timeout --signal=INT --kill-after=60 $limit "$PEWTER" --session "s$n" -c "$lab; $example" >out 2>err </dev/null
    status=$?
    [ $status != 0 ] || continue
    case ${example%% *} in
    demo) [ $status != 124 ] || continue ;;
    # These need a screen, a training that runs, or a command before them.
    focus | zoom | goto | play | find | filter | copy | pause | resume | judge | unbind | undo | redo)
        grep -qE "usage|no option|no command|too many|allowed" err || continue
        ;;
    esac
    fail "the example $example: $(tail -n 1 err)"
done <examples

# The check of links can fail: on a file, on an anchor, and on a site without links.
mkdir -p try/sub
page() {
    printf '<h1 id="here">page</h1>%s\n' "$1" >"try/$2"
}
page '<a href="sub/b.html#here">b</a> <a href="#here">here</a> <a href="https://example.org/x">x</a>' a.html
page '<a href="../a.html">a</a>' sub/b.html
bash "$site/check.sh" try || fail "good links are refused"
for link in c.html sub/b.html#there '#there' ../a.html sub/../b.html; do
    page "<a href=\"$link\">link</a>" a.html
    bash "$site/check.sh" try >out && fail "not refused: $link"
    grep -qF "a.html: $link: there is no such" out || fail "the message for $link: $(cat out)"
done

command -v pandoc >/dev/null || {
    echo "the reference is right; pandoc is not installed, so the site was not built"
    exit 0
}
mkdir site
bash "$site/build.sh" "$PEWTER_SOURCE_DIR" "$PEWTER" "$WORK/site" >out 2>&1 || fail "the site: $(cat out)"
for page in index docs/glossary docs/guide/python reference/index reference/commands/train reference/encodings/t5; do
    [ -s "site/$page.html" ] || fail "the site has no $page.html"
done
[ "$(find site/reference -name '*.html' | wc -l)" = "$(wc -l <pages)" ] || fail "not every page of the reference is there"
exit 0
