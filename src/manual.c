/* manual.c - the manual page, made from the usage text, the help of the commands, and examples. */
#include "manual.h"

#include <stdio.h>
#include <string.h>

#include "options.h"

enum { WIDTH = 79 }; /* bytes of a line */

/* Shell commands, one or more lines each; a test runs them in order in an empty folder. */
static const struct example {
    const char *what, *shell;
} examples[] = {
    {"The workbench with a race of five encodings; q leaves it:", "pewter --demo"},
    {"A session of your own: created the first time, continued from then on:", "pewter mine"},
    {"Train two encodings on the same batches, evaluate them beyond the trained\nlengths, draw a figure:",
     "pewter -c 'seed 1; race nope,rope; train 200; eval samples=64\n"
     "  export figure lengths.svg pane=lengths'"},
    {"The buckets of T5's bias that were seen in training:",
     "pewter -c 'pe t5; train 100\n"
     "  export figure buckets.pdf pane=encoding page=buckets'"},
    {"Train on lines of your own, each a prompt, a TAB and its answer:",
     "printf '%s\\t%s\\n' '1 2' '2 1' '3 4' '4 3' '5 6 7' '7 6 5' > own.tsv\n"
     "pewter -c 'task file path=own.tsv; train 50; prompt 3 4'"},
    {"Losses for other programs, one JSON object per line:",
     "pewter --json -c 'train 20' | grep '\"kind\":\"step\"' > steps.jsonl"},
    {"A script:", "printf 'pe alibi\\ntrain 100\\ndigest\\n' > alibi.pewter\npewter run alibi.pewter"},
    {"Record without a screen, show an earlier step, verify every bit:",
     "pewter --session rope -c 'seed 1; pe rope; train 120'\n"
     "pewter replay rope -c 'goto 60; show curves'\n"
     "pewter replay rope --verify"},
    {"Continue from an earlier step with another encoding, as a new session:",
     "pewter replay rope --from 60 -c 'pe alibi; train 60; save alibi'"},
    {"Pack a session into one file, and clean up:", "pewter session pack rope -o rope.pwt\n"
                                                    "pewter replay rope.pwt --plain > rope.txt\n"
                                                    "pewter session delete rope\n"
                                                    "pewter sessions"},
    {"Look up a command, an option, a word:", "pewter -c 'help train; help pe t5; help heatmap'"},
};

/* Appends a character of a shell command, escaped for troff. */
static void put_shell(struct pw_str *s, char c)
{
    if (c == '\\')
        pw_str_add(s, "\\e");
    else if (c == '-')
        pw_str_add(s, "\\-");
    else if (c == '\'')
        pw_str_add(s, "\\(aq");
    else
        pw_str_put(s, &c, 1);
}

static void put_examples(struct pw_str *s)
{
    pw_str_add(s, ".SH EXAMPLES\n");
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        pw_str_add(s, ".PP\n");
        pw_manual_detail(NULL, examples[i].what, s);
        pw_str_add(s, ".PP\n.RS 4\n.EX\n");
        for (const char *c = examples[i].shell; *c != '\0'; c++)
            put_shell(s, *c);
        pw_str_add(s, "\n.EE\n.RE\n");
    }
}

/* Prints a line of text in parts of at most WIDTH bytes, broken at blanks. */
static void print_parts(const char *line, size_t n)
{
    while (n > WIDTH) {
        size_t at = WIDTH;
        while (at > 0 && line[at] != ' ')
            at--;
        if (at == 0)
            break;
        printf("%.*s\n", (int)at, line);
        line += at + 1;
        n -= at + 1;
        if (n > 0 && (line[0] == '.' || line[0] == '\''))
            fputs("\\&", stdout); /* it would be a macro there */
    }
    printf("%.*s\n", (int)n, line);
}

static bool begins(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

/* Which kind of space a line makes; "": none. */
static const char *space_of(const char *line)
{
    static const char *const macros[] = {".PP", ".IP", ".br"};
    if (line[0] == '\n')
        return ".br";
    for (int i = 0; i < 3; i++)
        if (begins(line, macros[i]) && line[3] == '\n')
            return macros[i];
    return "";
}

/* Prints a page as mandoc's lint wants it: short lines, and one macro where several make space. Examples,
 * macros and the line of a term (behind .TP) stay as they are. */
static void print_page(const char *text)
{
    bool example = false, term = false, title = false, blank = false;
    const char *space = "";
    for (const char *end; *text != '\0'; text = *end != '\0' ? end + 1 : end) {
        size_t n = strcspn(text, "\n");
        end = text + n;
        const char *more = example ? "" : space_of(text);
        if (more[0] != '\0') {
            space = space[0] == '\0' || strcmp(space, ".br") == 0 ? more : space;
            continue;
        }
        if (space[0] != '\0' && !title && !begins(text, ".RS") && !begins(text, ".TP") &&
            !begins(text, ".SH"))
            puts(space);
        else if (blank && begins(text, ".RS"))
            puts(".sp");
        space = "";
        blank = false;
        if (begins(text, ".EX") || begins(text, ".EE"))
            example = text[2] == 'X';
        if (example || term || text[0] == '.')
            printf("%.*s\n", (int)n, text);
        else
            print_parts(text, n);
        term = begins(text, ".TP");
        title = begins(text, ".SH");
    }
}

static void add_head(struct pw_str *out, const char *page, int section, const char *summary)
{
    pw_str_add(out,
               ".TH %s %d \"" PEWTER_DATE "\" \"pewter " PEWTER_VERSION
               "\"\n.nr HY 0\n.nh\n.ad l\n.SH NAME\n%s\n",
               page, section, summary);
}

static void add_program(struct pw_str *out)
{
    struct pw_str s = {0}, usage = {0};
    pw_str_add(&usage, "       %s", pw_usage + strlen("usage: "));
    pw_manual_detail(NULL, usage.s, &s);
    put_examples(&s);
    add_head(out, "PEWTER", 1, "pewter \\- a terminal workbench for positional encodings");
    pw_str_add(
        out,
        ".SH SYNOPSIS\n%s"
        ".SH FILES\n.TP\n$XDG_CONFIG_HOME/pewter/pewterrc or ~/.config/pewter/pewterrc\n"
        "commands of the workbench, run when it starts; `config save` writes it\n"
        ".TP\n$XDG_CONFIG_HOME/pewter/encodings/NAME.pe or ~/.config/pewter/encodings/NAME.pe\n"
        "formulas of encodings, which pe NAME finds; pe save writes one\n"
        ".TP\n$XDG_STATE_HOME/pewter/sessions or ~/.local/state/pewter/sessions\n"
        "the recorded sessions\n"
        ".TP\n$XDG_STATE_HOME/pewter/studies or ~/.local/state/pewter/studies\n"
        "the studies\n"
        ".TP\n$XDG_STATE_HOME/pewter/history or ~/.local/state/pewter/history\n"
        "the typed lines\n"
        ".SH KEYS\n? in the workbench lists keys and commands; typing narrows the list.\n"
        ".SH ENVIRONMENT\n.TP\nPEWTER_ISA\nscalar, avx2 or avx512: the most that the cpu backend may "
        "use; the bits don't depend on it\n"
        ".TP\nPEWTER_BACKEND_DIR\nthe folder of libpewter_cuda.so, else beside the program and in its "
        "library folder\n"
        ".TP\nLC_ALL, LC_CTYPE, LANG\nthe locale, by the first of them that is set. A UTF-8 locale that is "
        "not "
        "installed is replaced by C.UTF-8; without UTF-8 the screen is ASCII\n"
        ".TP\nXDG_CONFIG_HOME, XDG_STATE_HOME, HOME\nthe folders of the files above\n"
        ".TP\nNO_COLOR, COLORTERM, COLORFGBG, TERM\nthe colours of the terminal; set color and set "
        "theme override them\n"
        ".SH EXIT STATUS\n0 success, 1 a command failed or something was not recorded, 2 wrong usage, 3 a "
        "verified "
        "session has different bits; 128 plus the number of a signal that ended it.\n"
        ".SH SEE ALSO\n.BR pewter\\-commands (7),\n.BR pewter\\-formulas (7)\n",
        pw_str_text(&s));
    pw_str_fini(&s);
    pw_str_fini(&usage);
}

void pw_manual_print(const struct pw_commands *all, const char *page)
{
    struct pw_str s = {0};
    if (page == NULL) {
        add_program(&s);
    } else if (strcmp(page, "commands") == 0) {
        add_head(&s, "PEWTER\\-COMMANDS", 7,
                 "pewter\\-commands \\- the commands of pewter's workbench and scripts");
        pw_command_manual(all, &s);
    } else {
        add_head(&s, "PEWTER\\-FORMULAS", 7,
                 "pewter\\-formulas \\- the language of positional encodings in pewter");
        pw_manual_formulas(&s);
    }
    if (page != NULL)
        pw_str_add(&s, ".SH SEE ALSO\n.BR pewter (1)\n");
    print_page(s.s);
    pw_str_fini(&s);
}
