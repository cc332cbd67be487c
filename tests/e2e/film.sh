#!/usr/bin/env bash
# film.sh - tests `film`. The film of the README, made with less training, has the same bytes with any number of threads.
# It is well-formed XML without scripts, its times are those of the script, and the layers that are visible at some
# moment show the screen of that moment. Mistakes are reported in one line and leave no file.
ROOT=$(realpath "$(dirname "$0")/../..")
. "$(dirname "$0")/lib_files.sh"

complains() { # complains MESSAGE COMMANDS: status 1, one line with the message, and no file
    "$PEWTER" --no-session -c "$2" >out 2>err && check "$2 is refused" false
    check "$2: $1" grep -qF -- "$1" err
    check "$2: one line" test "$(wc -l <err)" = 1
    check "$2: no file" test ! -e x.svg
}

# ---- the film of the README
sed 's/"train 40/"train 2/; s/"train 30/"train 2/; s/step=1000/step=40/; s/^eval$/eval samples=4/; s/samples=32/samples=4/' \
    "$ROOT/docs/demo.pewter" >demo.pewter
for threads in 1 3; do
    mkdir -p docs/pictures
    timeout 600 "$PEWTER" --no-session --threads $threads run demo.pewter >out 2>err </dev/null
    check "the film with $threads threads: $(tail -n 1 err)" test $? = 0
    mv docs "docs$threads"
done
check 'the same film' cmp docs1/pictures/demo.svg docs3/pictures/demo.svg
check 'the film of the README is below 400 kB' test "$(stat -c %s "$ROOT/docs/pictures/demo.svg")" -lt 400000
check 'it takes 20 seconds' grep -q '^\.f{animation:20000ms ' "$ROOT/docs/pictures/demo.svg"

# ---- what a film shows: screenshots of the same moments, with the frame's time in their name
cat >short.pewter <<'END'
task sort
model tiny width=16 layers=1 heads=2
film begin short.svg width=90 height=26
film shot 0.5
screenshot 0.3.txt size=90x26 machine=off
film shot 0.25 times=3 before="train 3"
screenshot 1.2.txt size=90x26 machine=off
prompt sort 3 1 2
show attention zoom=on
film shot 1
screenshot 2.0.txt size=90x26 machine=off
film shot 0.25 times=2 before="press l"
screenshot 2.7.txt size=90x26 machine=off
show attention zoom=off
film shot 1
film shot 1
screenshot 4.5.txt size=90x26 machine=off
film end
END
"$PEWTER" --no-session run short.pewter >out 2>err </dev/null
check 'a short film' grep -q '^wrote short.svg: 4.8 s' out
python=/usr/bin/python3
[ -x $python ] || python=: # bare systems have none; the bytes are compared there, too
$python - short.svg [0-9].[0-9].txt <<'END'
import re, sys
import xml.etree.ElementTree as xml

NS = "{http://www.w3.org/2000/svg}"
root = xml.parse(sys.argv[1]).getroot()
tags = {e.tag.removeprefix(NS) for e in root.iter()}
assert tags <= {"svg", "style", "rect", "g", "path", "text"}, tags
style = root.find(NS + "style").text
total = int(re.search(r"animation:(\d+)ms", style).group(1)) / 1000
layers = [g for g in root.iter(NS + "g") if g.get("class") == "f"]
assert len(layers) >= 7, len(layers)  # the last two frames are equal, and so are one layer


def is_visible(name, t):
    frames = re.search(r"@keyframes k%s\{(.*)\}\n" % name[1:], style)
    visible = True
    for percent, value in re.findall(r"([\d.]+)%\{visibility:(\w+)\}", frames.group(1) if frames else ""):
        if float(percent) <= t / total * 100:
            visible = value == "visible"
    return visible


def paint(grid, group):
    """Covered cells become blank, then text is written."""
    for path in group.iter(NS + "path"):
        x = y = 0
        for move, dx, dy, w, h in re.findall(r"([Mm])(-?\d+) ?(-?\d+)h(\d+)v(\d+)", path.get("d")):
            x, y = (int(dx), int(dy)) if move == "M" else (x + int(dx), y + int(dy))
            if x % 8 == y % 8 == int(w) % 8 == int(h) % 8 == 0:
                for row in range(y // 8, (y + int(h)) // 8):
                    grid[row][x // 8 : (x + int(w)) // 8] = " " * (int(w) // 8)
    for text in group.iter(NS + "text"):
        x, row = round(float(text.get("x")) / 8.4), int(text.get("y")) // 16
        grid[row][x : x + len(text.text)] = text.text


def is_text(c):
    return c == " " or not ("\u2580" <= c <= "\u2590" or "\u2800" <= c <= "\u28ff")


for name in sys.argv[2:]:
    grid = [[" "] * 90 for _ in range(26)]
    shown = [g for g in layers if is_visible(g.get("id"), float(name[:3]))]
    for group in shown:
        paint(grid, group)
    want = [line.rstrip("\n").ljust(90) for line in open(name, encoding="utf-8")]
    want += [" " * 90] * (26 - len(want))
    for row, line in enumerate(want):
        for column, c in enumerate(line):
            assert not is_text(c) or grid[row][column] == c, (name, row, "".join(grid[row]), line)
    print(name, len(shown), "layers")
END
check 'the layers show the screen of each moment' test $? = 0

# ---- a recording is filmed by its steps, however long they took
"$PEWTER" --session "$WORK/rec" -c 'model tiny width=16 layers=1 heads=2; train 20' >out 2>err </dev/null
"$PEWTER" replay "$WORK/rec.pewter" -c 'film begin r.svg width=80 height=24; goto 5
    film shot 0.2 times=3 before="goto +5"; film end' >out 2>err </dev/null
check 'a film of a recording' grep -q '^wrote r.svg: 0.6 s' out
check 'it has three different frames' test "$(grep -c '^<g id="f' r.svg)" = 3

# ---- mistakes
complains "name one file that ends in .svg" 'film begin x.gif'
complains "width=1000: allowed are 20..500" 'film begin x.svg width=1000'
complains "no film; 'film begin FILE.svg' starts one" 'film shot 1'
complains "no option 'width'" 'film begin x.svg; film shot 1; film end width=3'
complains "no frame yet" 'film begin x.svg; film end'
complains "duration in seconds, 0.01 to 60" 'film begin x.svg; film shot 0; film end'
complains "x.svg is not finished" 'film begin x.svg; film begin x.svg'
complains "the script has no 'film end'" 'film begin x.svg; film shot 1'
complains "no command 'trane'" 'film begin x.svg; film shot 1 times=2 before="trane 3"; film end'
exit $failed
