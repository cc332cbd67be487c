#!/usr/bin/env bash
# install.sh - the installed program finds its files wherever it is moved, its manual pages are clean, and its completion
# loads in the shells that are there.
PEWTER=$(realpath "$1")
WORK=$(mktemp -d /tmp/pewter-install-XXXXXX)
trap 'rm -rf "$WORK"' EXIT
export XDG_STATE_HOME=$WORK/state XDG_CONFIG_HOME=$WORK/config
cd "$WORK" || exit 1

fail() {
    echo "FAILED: $*"
    exit 1
}

DESTDIR=$WORK/root cmake --install "$(dirname "$PEWTER")" --prefix /usr --component Unspecified >out 2>&1 ||
    fail "install: $(tail -n 5 out)"
mkdir elsewhere
mv root/usr "elsewhere/a place"
cd "elsewhere/a place" || exit 1
for file in bin/pewter share/man/man1/pewter.1 share/man/man7/pewter-commands.7 share/man/man7/pewter-formulas.7 \
    share/bash-completion/completions/pewter share/zsh/site-functions/_pewter share/fish/vendor_completions.d/pewter.fish \
    share/doc/pewter/LICENSE share/doc/pewter/CHANGELOG.md share/applications/pewter.desktop \
    share/icons/hicolor/scalable/apps/pewter.svg; do
    [ -s "$file" ] || fail "not installed: $file"
done

bin/pewter -c 'pe kerple_log; task text' >"$WORK/out" 2>&1 || fail "encodings or texts are not found: $(tail -n 2 "$WORK/out")"
bin/pewter run share/pewter/lessons/encodings.pewter >"$WORK/lesson" 2>&1 & # its first line is enough, in a file that is new
lesson=$!
for _ in $(seq 600); do
    [ ! -s "$WORK/lesson" ] || break
    sleep 0.1
done
kill "$lesson" 2>/dev/null
wait 2>/dev/null
[ -s "$WORK/lesson" ] || fail "no lesson"

# ---- manual pages
if command -v mandoc >/dev/null; then
    for page in share/man/man?/*; do
        found=$(mandoc -Tlint "$page" 2>&1 | grep -v 'STYLE: referenced manual not found')
        [ -z "$found" ] || fail "$page: $(head -n 3 <<<"$found")"
    done
fi
for word in position embed angle gain scale bias score mask bucket slopes learn option uniform sample mlp; do
    grep -q "$word" share/man/man7/pewter-formulas.7 || fail "the page of formulas lacks $word"
done

grep -q 'LC_ALL, LC_CTYPE, LANG' share/man/man1/pewter.1 || fail "the page lacks the locale's variables"

# ---- completion: every option of --help, and the names of sessions
for shell in bash zsh fish; do
    bin/pewter --completion=$shell >"$WORK/script" || fail "completion: $shell"
    for option in $(bin/pewter --help | grep -oE -- '--[a-z-]+' | sort -u); do
        case $shell in fish) grep -q -- "-l ${option#--} " "$WORK/script" ;; *) grep -q -- "$option" "$WORK/script" ;; esac ||
            fail "$shell: no $option"
    done
done
bin/pewter --completion=ksh >"$WORK/out" 2>&1 && fail 'another shell'
grep -q 'allowed are bash, zsh, fish' "$WORK/out" || fail "another shell: $(cat "$WORK/out")"
mkdir -p "$XDG_STATE_HOME/pewter/sessions/mine.pewter" "$XDG_STATE_HOME/pewter/studies/order"

complete_bash() { # WORD...: prints the candidates for the last word
    bash --norc -c '. share/bash-completion/completions/pewter; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pewter
        printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}
offers() { # CANDIDATE WORD...
    complete_bash "${@:2}" | grep -qx -- "$1" || fail "bash offers no $1 for '${*:2}': $(complete_bash "${@:2}")"
}
offers mine pewter m
offers replay pewter re
offers --no-session pewter --no
offers mine pewter --session ''
offers pack pewter session p
offers mine pewter session pack ''
offers weights pewter study we
offers order pewter study report ''
offers cuda pewter --backend c
offers prune pewter sessions p
offers by=size pewter sessions b
offers size pewter sessions by = s # as bash splits by=s
offers use pewter sessions by =
offers bin pewter sessions b
offers older=30d pewter sessions prune o
offers none pewter sessions prune keep =
if command -v zsh >/dev/null; then
    found=$(zsh -f -c 'autoload -Uz compinit; compinit -D -u; source share/zsh/site-functions/_pewter && print ${_comps[pewter]}' 2>&1)
    [ "$found" = _pewter ] || fail "zsh: $found"
    for line in 'sessions ' 'sessions prune '; do # with stand-ins for zsh's own functions, which need a terminal
        # shellcheck disable=SC2016 # for zsh
        zsh -f -c 'compdef() { :; }; _files() { :; }; compadd() { print -l -- "$@"; }; source share/zsh/site-functions/_pewter
            words=(${=1} ""); CURRENT=$#words; _pewter_rest' zsh "$line"
    done >"$WORK/out" 2>&1
    [ "$(tr '\n' ' ' <"$WORK/out")" = 'prune by=use by=size older=7d older=30d keep=named keep=none ' ] || fail "zsh: $(cat "$WORK/out")"
fi
if command -v fish >/dev/null; then
    found=$(HOME=$WORK fish --no-config -c 'source share/fish/vendor_completions.d/pewter.fish; complete -C "pewter --no-"' 2>&1)
    grep -q '^--no-session' <<<"$found" || fail "fish: $found"
    found=$(HOME=$WORK fish --no-config -c 'source share/fish/vendor_completions.d/pewter.fish; complete -C "pewter replay "' 2>&1)
    grep -q '^mine' <<<"$found" || fail "fish: $found"
    found=$(HOME=$WORK fish --no-config -c 'source share/fish/vendor_completions.d/pewter.fish; complete -C "pewter sessions by="; complete -C "pewter sessions prune k"' 2>&1)
    for word in by=use by=size keep=named keep=none; do
        grep -qx -- "$word" <<<"$found" || fail "fish offers no $word: $found"
    done
fi
echo 'installed, moved, documented, completed'
