# lib_page.sh - for scripts that compare a page of the guide with the program.
#
# usage:  . "$(dirname "$0")/lib_page.sh", and for script_draws and page_shows lib_files.sh before it

# page_block PAGE PATTERN: prints the page's first code block with a line that has the text.
page_block() {
    awk -v pattern="$2" '/^```/ { if (inside && found) { printf "%s", text; exit }; inside = !inside; text = ""; found = 0; next }
        inside { text = text $0 "\n"; if (index($0, pattern)) found = 1 }' "$1"
}

# script_draws SCRIPT: checks that it runs, and draws the same pictures with any number of threads.
script_draws() {
    local threads status
    for threads in 1 3; do
        mkdir -p docs/pictures
        timeout 600 "$PEWTER" --threads $threads run "$1" >out 2>err </dev/null
        status=$?
        check "$1 with $threads threads: $(tail -n 1 err)" test $status = 0
        mv docs "docs$threads"
    done
    check 'the same pictures' diff -r docs1 docs3
}

# page_shows TEXT SCRIPT: checks that a page's text shows the pictures that a script of docs draws, each of them there.
page_shows() {
    local picture
    grep -o 'pictures/[a-z]*\.svg' "$1" | sed 's:^:docs/:' | sort -u >shown
    grep -o 'docs/pictures/[a-z]*\.svg' "$2" | sort -u >drawn
    check 'the page shows what the script draws' diff shown drawn
    while read -r picture; do
        check "$picture is there and below 100 kB" test "$(stat -c %s "$ROOT/$picture" || echo 999999)" -lt 100000
    done <drawn
}
