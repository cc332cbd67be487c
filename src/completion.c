/* completion.c - prints a shell's completion of the command line.
 *
 * Names of options, verbs and values are written into the script. Names of sessions and studies are looked up
 * in their folders when the user presses the key. */
#include "completion.h"

#include <stdio.h>
#include <string.h>

#include "options.h"
#include "study/verbs/verbs.h"

#define STATE "${XDG_STATE_HOME:-$HOME/.local/state}/pewter"

static const char *dashes(const struct pw_usage_word *w)
{
    return strlen(w->name) == 1 ? "-" : "--";
}

static void print_study_verbs(void)
{
    for (int i = 0; pw_study_verb_name(i) != NULL; i++)
        printf("%s%s", i > 0 ? " " : "", pw_study_verb_name(i));
}

/* The bytes of the first of a word's `words`. */
static int first_bytes(const struct pw_usage_word *w)
{
    return (int)strcspn(w->words, " ");
}

/* ---- bash */

/* The command that lists the values of a kind. */
static void print_bash_values(const struct pw_usage_word *w)
{
    switch (w->value) {
    case PW_VALUE_FILE: printf("_pewter_files"); break;
    case PW_VALUE_FOLDER: printf("_pewter_folders"); break;
    case PW_VALUE_SESSION: printf("_pewter_sessions"); break;
    case PW_VALUE_WORDS: printf("_pewter_words '%s'", w->words); break; /* of an option */
    case PW_VALUE_STUDY: printf("_pewter_study"); break;
    case PW_VALUE_LIST:
        printf("_pewter_list %.*s '%s' '%s'", first_bytes(w), w->words, w->words, w->after);
        break;
    case PW_VALUE_NONE:
    case PW_VALUE_OTHER: printf(":"); break;
    }
}

static void print_bash(void)
{
    printf("# bash completion for pewter, printed by pewter --completion bash\n"
           "_pewter_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\"); }\n"
           "_pewter_files() { mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); }\n"
           "_pewter_folders() { mapfile -t COMPREPLY < <(compgen -d -- \"$cur\"); }\n"
           "_pewter_names() { # FOLDER ENDING: the names of its entries\n"
           "    local f names=\n"
           "    for f in \"" STATE "/$1\"/*\"$2\"; do\n"
           "        [ ! -e \"$f\" ] || { f=${f##*/}; names+=\"${f%%\"$2\"} \"; }\n"
           "    done\n"
           "    _pewter_words \"$names\"\n"
           "}\n"
           "_pewter_sessions() { _pewter_names sessions .pewter; }\n"
           "_pewter_pairs() { # WORDS: KEY=VALUE and others; bash makes '=' a word of its own\n"
           "    local key= w values=\n"
           "    if [ \"$cur\" = '=' ]; then\n"
           "        key=$last cur=\n"
           "    elif [ \"$last\" = '=' ]; then\n"
           "        key=${COMP_WORDS[COMP_CWORD - 2]}\n"
           "    fi\n"
           "    for w in $1; do\n"
           "        [[ -n $key && $w != \"$key=\"* ]] || values+=\"${w#\"$key=\"} \"\n"
           "    done\n"
           "    _pewter_words \"$values\"\n"
           "}\n"
           "_pewter_list() { # FIRST WORDS AFTER\n"
           "    if [ \"$COMP_CWORD\" -gt 2 ] && [ \"${COMP_WORDS[2]}\" = \"$1\" ]; then\n"
           "        _pewter_pairs \"$3\"\n"
           "    else\n"
           "        _pewter_pairs \"$2\"\n"
           "        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- \"$cur\")\n"
           "    fi\n"
           "}\n"
           "_pewter_study() {\n"
           "    if [ \"$COMP_CWORD\" -eq 2 ]; then\n"
           "        _pewter_words '");
    print_study_verbs();
    printf("'\n"
           "    else\n"
           "        _pewter_names studies ''\n"
           "    fi\n"
           "}\n"
           "_pewter() {\n"
           "    local cur=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD - 1]}\n"
           "    COMPREPLY=()\n"
           "    case $last in\n");
    for (const struct pw_usage_word *w = pw_option_words; w->name != NULL; w++) {
        if (w->value == PW_VALUE_NONE || w->optional)
            continue;
        printf("    %s%s) ", dashes(w), w->name);
        print_bash_values(w);
        printf("; return ;;\n");
    }
    printf("    esac\n"
           "    if [[ $cur == -* ]]; then\n"
           "        _pewter_words '");
    for (const struct pw_usage_word *w = pw_option_words; w->name != NULL; w++)
        printf("%s%s%s", w == pw_option_words ? "" : " ", dashes(w), w->name);
    printf("'\n"
           "        return\n"
           "    fi\n"
           "    case ${COMP_WORDS[1]} in\n");
    for (const struct pw_usage_word *w = pw_verb_words; w->name != NULL; w++) {
        printf("    %s) [ \"$COMP_CWORD\" -eq 1 ] || { ", w->name);
        if (w->value == PW_VALUE_WORDS)
            printf("[ \"$COMP_CWORD\" -eq 2 ] && _pewter_words '%s' || _pewter_sessions", w->words);
        else
            print_bash_values(w);
        printf("; return; } ;;\n");
    }
    printf("    esac\n"
           "    _pewter_sessions\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
           "        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W '");
    for (const struct pw_usage_word *w = pw_verb_words; w->name != NULL; w++)
        printf("%s%s", w == pw_verb_words ? "" : " ", w->name);
    printf("' -- \"$cur\")\n"
           "    fi\n"
           "}\n"
           "complete -F _pewter pewter\n");
}

/* ---- zsh */

static const char *zsh_values(const struct pw_usage_word *w)
{
    switch (w->value) {
    case PW_VALUE_FILE: return "file:_files";
    case PW_VALUE_FOLDER: return "folder:_files -/";
    case PW_VALUE_SESSION: return "session:_pewter_sessions";
    case PW_VALUE_STUDY: return "verb:_pewter_study";
    case PW_VALUE_NONE:
    case PW_VALUE_OTHER:
    case PW_VALUE_LIST:
    case PW_VALUE_WORDS: break;
    }
    return "value: ";
}

static void print_zsh(void)
{
    printf("#compdef pewter\n"
           "# zsh completion for pewter, printed by pewter --completion zsh\n"
           "_pewter_sessions() {\n"
           "    local -a names=(" STATE "/sessions/"
           "*.pewter(N:t:r))\n"
           "    compadd -a names\n"
           "}\n"
           "_pewter_study() {\n"
           "    local -a names=(" STATE "/studies/"
           "*(N:t))\n"
           "    if (( CURRENT == 2 )); then compadd ");
    print_study_verbs();
    printf("; else compadd -a names; fi\n"
           "}\n"
           "_pewter_verbs() {\n"
           "    local -a verbs=(\n");
    for (const struct pw_usage_word *w = pw_verb_words; w->name != NULL; w++)
        printf("        '%s:%s'\n", w->name, w->help);
    printf("    )\n"
           "    _describe verb verbs\n"
           "    _pewter_sessions\n"
           "}\n"
           "_pewter_rest() {\n"
           "    case $words[1] in\n");
    for (const struct pw_usage_word *w = pw_verb_words; w->name != NULL; w++) {
        if (w->value == PW_VALUE_WORDS)
            printf("    %s) if (( CURRENT == 2 )); then compadd %s; else _pewter_sessions; fi ;;\n", w->name,
                   w->words);
        else if (w->value == PW_VALUE_LIST)
            printf("    %s) if [[ $words[2] = %.*s && $CURRENT -gt 2 ]]; then compadd %s; "
                   "else compadd %s; _files -/; fi ;;\n",
                   w->name, first_bytes(w), w->words, w->after, w->words);
        else if (w->value != PW_VALUE_NONE)
            printf("    %s) %s ;;\n", w->name, strchr(zsh_values(w), ':') + 1);
    }
    printf("    esac\n"
           "}\n"
           "_pewter() {\n"
           "    _arguments \\\n");
    for (const struct pw_usage_word *w = pw_option_words; w->name != NULL; w++) {
        printf("        '%s%s%s[%s]", dashes(w), w->name,
               w->value == PW_VALUE_NONE ? ""
               : w->optional             ? "=-"
               : strlen(w->name) == 1    ? ""
                                         : "=",
               w->help);
        if (w->value == PW_VALUE_WORDS)
            printf(":%svalue:(%s)", w->optional ? ":" : "", w->words);
        else if (w->value != PW_VALUE_NONE)
            printf(":%s", zsh_values(w));
        printf("' \\\n");
    }
    printf("        '1:verb or session:_pewter_verbs' \\\n"
           "        '*::rest:_pewter_rest'\n"
           "}\n"
           "if [ \"$funcstack[1]\" = _pewter ]; then _pewter \"$@\"; else compdef _pewter pewter; fi\n");
}

/* ---- fish */

static void print_fish_values(const struct pw_usage_word *w)
{
    switch (w->value) {
    case PW_VALUE_FILE: printf(" -F"); break;
    case PW_VALUE_FOLDER: printf(" -a '(__fish_complete_directories)'"); break;
    case PW_VALUE_SESSION: printf(" -a '(__pewter_names sessions .pewter)'"); break;
    case PW_VALUE_WORDS: printf(" -a '%s'", w->words); break;
    case PW_VALUE_STUDY: printf(" -a '(__pewter_names studies \"\")'"); break;
    case PW_VALUE_LIST: printf(" -a '%s (__fish_complete_directories)'", w->words); break;
    case PW_VALUE_NONE:
    case PW_VALUE_OTHER: break;
    }
}

static void print_fish(void)
{
    printf("# fish completion for pewter, printed by pewter --completion fish\n"
           "function __pewter_names # FOLDER ENDING\n"
           "    set -l state $XDG_STATE_HOME\n"
           "    test -n \"$state\"; or set state $HOME/.local/state\n"
           "    for f in $state/pewter/$argv[1]/*$argv[2]\n"
           "        string replace -r -- '\\.pewter$' '' (basename $f)\n"
           "    end\n"
           "end\n"
           "complete -c pewter -f\n");
    for (const struct pw_usage_word *w = pw_option_words; w->name != NULL; w++) {
        bool brief = strlen(w->name) == 1;
        printf("complete -c pewter %s %s -d '%s'", brief ? "-s" : "-l", w->name, w->help);
        if (w->value != PW_VALUE_NONE && !w->optional)
            printf(" -r");
        print_fish_values(w);
        printf("\n");
    }
    printf("complete -c pewter -n __fish_use_subcommand -a '(__pewter_names sessions .pewter)'\n");
    for (const struct pw_usage_word *w = pw_verb_words; w->name != NULL; w++) {
        printf("complete -c pewter -n __fish_use_subcommand -a %s -d '%s'\n", w->name, w->help);
        if (w->value == PW_VALUE_NONE)
            continue;
        printf("complete -c pewter -n '__fish_seen_subcommand_from %s'", w->name);
        print_fish_values(w);
        if (w->value == PW_VALUE_STUDY) {
            printf(" -a '");
            print_study_verbs();
            printf("'");
        }
        printf("\n");
        if (w->value == PW_VALUE_LIST)
            printf("complete -c pewter -n '__fish_seen_subcommand_from %s; and __fish_seen_subcommand_from "
                   "%.*s' "
                   "-a '%s'\n",
                   w->name, first_bytes(w), w->words, w->after);
    }
}

void pw_completion_print(const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        print_bash();
    else if (strcmp(shell, "zsh") == 0)
        print_zsh();
    else
        print_fish();
}
