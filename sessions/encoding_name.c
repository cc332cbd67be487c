/* encoding_name.c - the names of an encoding on a screen: a short one, used where a line has room for a name
 * only, and the text with all options, without a long formula.
 *
 * "t5" alone has 8 buckets in a small context and 32 in others, so its sizes are part of the name, as in the
 * papers. Options with the value that the bare name implies in every model are left out. All other options
 * are shown with their key, also those of a new encoding that has no line here.
 *
 * A formula's text holds the whole formula: expr 'a = option(1, 0 .. 9); bias = -a * d' a=2 as=kerple. It is
 * named by the formula file that it comes from, "kerple a=2", or else by the beginning of its first stage. */
#include "sessions/fold.h"

#include <string.h>

/* Options written as numbers without their keys, joined by a slash. */
static const char *const sizes[] = {"buckets", "distance"};

/* Values that the bare name implies: "rotary" rotates whole heads, in pairs (i, i+dims/2). */
static const char *const usual[] = {
    "base=10000", "dims=0",    "pairing=half", "layout=interleaved", "amplitude=1", "hidden=32",
    "open=0",     "gate=both", "omega=1",      "reach=32",           "mixes=4",     "alpha=0",
    "floor=64",   "rank=32",   "conv=3",       "gate_bias=8",        "planes=0"};
static const char *const stages[] = {"position", "embed", "angle", "gain", "bias", "scale",
                                     "score",    "mask",  "gate",  "mix",  "scan"};

enum { SHORT = 24, LONG = 100 }; /* most bytes of a formula in a name, and in a text */

#define COUNT(list) (sizeof(list) / sizeof *(list))

static bool is_among(const char *const *list, size_t n_list, const char *text, size_t n)
{
    for (size_t i = 0; i < n_list; i++)
        if (strlen(list[i]) == n && strncmp(list[i], text, n) == 0)
            return true;
    return false;
}

/* ---- formulas */

struct formula {
    const char *text, *options; /* options: behind the closing quote */
    size_t n;
    const char *name; /* of its file; NULL: it has none */
    size_t n_name;
};

static bool find_formula(const char *pe, struct formula *f)
{
    const char *end = strncmp(pe, "expr '", 6) == 0 ? strchr(pe + 6, '\'') : NULL;
    *f = (struct formula){.text = pe + 6};
    if (end == NULL)
        return false;
    f->n = (size_t)(end - f->text);
    f->options = end + 1;
    f->name = strstr(f->options, " as=");
    if (f->name != NULL) {
        f->name += 4;
        f->n_name = strcspn(f->name, " ");
    }
    return true;
}

/* Is key=value the default that the formula declares: "key = option(value,"? */
static bool is_default(const struct formula *f, const char *word, size_t n)
{
    static const char between[] = " = option(";
    size_t key = strcspn(word, "="), value = n - key - 1;
    for (const char *s = f->text; key < n && s + n + sizeof between < f->text + f->n; s++)
        if ((s == f->text || s[-1] == ' ') && strncmp(s, word, key) == 0 &&
            strncmp(s + key, between, sizeof between - 1) == 0) {
            const char *def = s + key + sizeof between - 1;
            return strncmp(def, word + key + 1, value) == 0 && def[value] == ',';
        }
    return false;
}

static void put_options(struct pw_str *out, const struct formula *f, bool all)
{
    size_t n;
    for (const char *word = f->options; *word == ' '; word += n) {
        n = strcspn(++word, " ");
        if (strncmp(word, "as=", 3) != 0 && (all || !is_default(f, word, n))) {
            pw_str_add(out, " ");
            pw_str_put(out, word, n);
        }
    }
}

/* Puts a cut text, without a part of a character. */
static void put_cut(struct pw_str *out, const char *s, size_t n, size_t most)
{
    size_t cut = n > most ? most : n;
    while (cut > 0 && cut < n && ((unsigned char)s[cut] & 0xc0) == 0x80)
        cut--;
    pw_str_put(out, s, cut);
    if (cut < n)
        pw_str_add(out, "…");
}

/* Puts the beginning of the first stage, with blanks only where they divide words: "bias = -m*d". */
static void put_stage(struct pw_str *out, const struct formula *f)
{
    const char *s = f->text, *end = f->text + f->n;
    struct pw_str tight = {0};
    while (s < end && !is_among(stages, COUNT(stages), s, strcspn(s, " '"))) {
        const char *next = memchr(s, ';', (size_t)(end - s));
        if (next == NULL)
            break;
        s = next + 1 + (next[1] == ' ');
    }
    if (s >= end)
        s = f->text;
    size_t n = strcspn(s, ";'");
    for (size_t i = 0; i < n; i++) {
        bool beside = (i > 0 && strchr("*/", s[i - 1]) != NULL) || strchr("*/", s[i + 1]) != NULL;
        if (s[i] != ' ' || !beside)
            pw_str_put(&tight, s + i, 1);
    }
    put_cut(out, pw_str_text(&tight), tight.len, SHORT);
    pw_str_fini(&tight);
}

const char *pw_encoding_text(struct pw_str *out, const char *pe)
{
    struct formula f;
    if (!find_formula(pe, &f)) {
        pw_str_add(out, "%s", pe);
        return pw_str_text(out);
    }
    if (f.name != NULL) {
        pw_str_put(out, f.name, f.n_name);
    } else {
        pw_str_add(out, "expr '");
        put_cut(out, f.text, f.n, LONG);
        pw_str_add(out, "'");
    }
    put_options(out, &f, true);
    return pw_str_text(out);
}

void pw_encoding_name(struct pw_str *out, const char *pe)
{
    char sep = ' ';
    size_t n = strcspn(pe, " ");
    struct formula f;
    if (find_formula(pe, &f)) {
        if (f.name != NULL) {
            pw_str_put(out, f.name, f.n_name);
        } else {
            pw_str_add(out, "expr ");
            put_stage(out, &f);
        }
        put_options(out, &f, false);
        return;
    }
    pw_str_put(out, pe, n);
    for (const char *word = pe + n; *word == ' '; word += n) {
        n = strcspn(++word, " ");
        size_t key = strcspn(word, "= ");
        if (is_among(sizes, COUNT(sizes), word, key) && key < n) {
            pw_str_add(out, "%c", sep);
            pw_str_put(out, word + key + 1, n - key - 1);
            sep = '/';
        } else if (!is_among(usual, COUNT(usual), word, n)) {
            pw_str_add(out, " ");
            pw_str_put(out, word, n);
        }
    }
}
