/* opt.c - parse, check and print options by a table. Each function works on one of four steps: text to value,
 * value to member, member to value, value to text. Defaults are compared as values, not as text, so "0.50" is
 * not a change from "0.5". */
#include "base/opt.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

union value {
    int i; /* INT, CHOICE */
    int64_t n;
    float f;
    double d;
    uint64_t u;
    bool b;
    struct pw_range r;
    struct pw_move m;
    const char *s; /* TEXT: borrowed */
};

static const char *const switch_names[] = {"off", "on", NULL};

/* ---- text to value */

static bool parse_choice(const char *const *names, const char *text, int *out)
{
    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], text) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

/* Old names of options and of choices, which older scripts and sessions contain and which are still read. */
struct renamed {
    const char *was, *is;
};
static const struct renamed renamed[] = {{"replicate", "replica"}};
static const struct renamed renamed_choices[] = {{"text=seed", "text=appendix"},
                                                 {"sampling=seed", "sampling=appendix"}};

static bool parse_named_choice(const struct pw_opt *opt, const char *text, int *out)
{
    char written[64];
    snprintf(written, sizeof written, "%s=%s", opt->name, text);
    for (size_t i = 0; i < sizeof renamed_choices / sizeof *renamed_choices; i++)
        if (strcmp(renamed_choices[i].was, written) == 0 &&
            parse_choice(opt->choices, strchr(renamed_choices[i].is, '=') + 1, out))
            return true;
    return parse_choice(opt->choices, text, out);
}

static bool parse_int(const struct pw_opt *opt, const char *text, int *out)
{
    long v;

    assert(opt->min >= INT_MIN && opt->max <= INT_MAX);
    if (opt->type == PW_OPT_INT && opt->choices != NULL && strcmp(text, opt->choices[0]) == 0) {
        *out = 0;
        return true;
    }
    if (!pw_text_int(text, (long)opt->min, (long)opt->max, &v))
        return false;
    *out = (int)v;
    return true;
}

/* Compare the bounds as floats. 0.1f is slightly larger than 0.1, so otherwise a maximum of 0.1 would be
 * rejected after it was printed and read. */
static bool parse_float(const struct pw_opt *opt, const char *text, float *out)
{
    double v;

    if (!pw_text_double(text, &v))
        return false;
    float f = (float)v;
    if (!isfinite(f) || f < (float)opt->min || f > (float)opt->max)
        return false;
    *out = f;
    return true;
}

static bool parse_count(const struct pw_opt *opt, const char *text, int64_t *out)
{
    long v;

    if (!pw_text_int(text, (long)opt->min, (long)opt->max, &v))
        return false;
    *out = v;
    return true;
}

static bool parse_double(const struct pw_opt *opt, const char *text, double *out)
{
    return pw_text_double(text, out) && *out >= opt->min && *out <= opt->max;
}

static bool parse_seed(const char *text, uint64_t *out)
{
    uint64_t v = 0;

    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9')
            return false;
        uint64_t digit = (uint64_t)(*text - '0');
        if (v > (UINT64_MAX - digit) / 10)
            return false;
        v = 10 * v + digit;
    }
    *out = v;
    return true;
}

static bool parse_range(const struct pw_opt *opt, const char *text, struct pw_range *out)
{
    char first[16]; /* an int has at most 11 characters */
    const char *dots = strstr(text, "..");
    struct pw_range r;

    if (dots == NULL) {
        if (!parse_int(opt, text, &r.lo))
            return false;
        r.hi = r.lo;
    } else {
        size_t n = (size_t)(dots - text);
        if (n >= sizeof first)
            return false;
        memcpy(first, text, n);
        first[n] = '\0';
        if (!parse_int(opt, first, &r.lo) || !parse_int(opt, dots + 2, &r.hi) || r.lo > r.hi)
            return false;
    }
    *out = r;
    return true;
}

static bool parse_move(const struct pw_opt *opt, const char *text, struct pw_move *out)
{
    bool back = *text == '-', by = back || *text == '+';
    long v;

    if (!by && opt->choices != NULL) {
        *out = (struct pw_move){0, false};
        return parse_choice(opt->choices, text, &out->n);
    }
    if (!pw_text_int(text + by, by ? 0 : (long)opt->min, (long)opt->max, &v))
        return false;
    *out = (struct pw_move){back ? -(int)v : (int)v, by};
    return true;
}

/* A text must be readable again from a session, and must not move a terminal's cursor. */
static bool parse_text(const struct pw_opt *opt, const char *text, const char **out)
{
    size_t n = strlen(text);

    if (n >= opt->size || !pw_utf8_valid(text, n))
        return false;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return false;
    *out = text;
    return true;
}

static bool parse(const struct pw_opt *opt, const char *text, union value *v)
{
    int on;

    switch (opt->type) {
    case PW_OPT_INT: return parse_int(opt, text, &v->i);
    case PW_OPT_COUNT: return parse_count(opt, text, &v->n);
    case PW_OPT_FLOAT: return parse_float(opt, text, &v->f);
    case PW_OPT_DOUBLE: return parse_double(opt, text, &v->d);
    case PW_OPT_SEED: return parse_seed(text, &v->u);
    case PW_OPT_SWITCH:
        if (!parse_choice(switch_names, text, &on))
            return false;
        v->b = on == 1;
        return true;
    case PW_OPT_CHOICE: return parse_named_choice(opt, text, &v->i);
    case PW_OPT_TEXT: return parse_text(opt, text, &v->s);
    case PW_OPT_RANGE: return parse_range(opt, text, &v->r);
    case PW_OPT_MOVE: return parse_move(opt, text, &v->m);
    }
    assert(false && "an option type that exists");
    return false;
}

/* ---- value to and from the target */

static void store(const struct pw_opt *opt, void *target, union value v)
{
    char *member = (char *)target + opt->offset;

    switch (opt->type) {
    case PW_OPT_INT:
    case PW_OPT_CHOICE: memcpy(member, &v.i, sizeof v.i); break;
    case PW_OPT_COUNT: memcpy(member, &v.n, sizeof v.n); break;
    case PW_OPT_FLOAT: memcpy(member, &v.f, sizeof v.f); break;
    case PW_OPT_DOUBLE: memcpy(member, &v.d, sizeof v.d); break;
    case PW_OPT_SEED: memcpy(member, &v.u, sizeof v.u); break;
    case PW_OPT_SWITCH: memcpy(member, &v.b, sizeof v.b); break;
    case PW_OPT_TEXT: memmove(member, v.s, strlen(v.s) + 1); break; /* v.s may be the member itself */
    case PW_OPT_RANGE: memcpy(member, &v.r, sizeof v.r); break;
    case PW_OPT_MOVE: memcpy(member, &v.m, sizeof v.m); break;
    }
}

static union value load(const struct pw_opt *opt, const void *target)
{
    const char *member = (const char *)target + opt->offset;
    union value v = {0};

    switch (opt->type) {
    case PW_OPT_INT:
    case PW_OPT_CHOICE: memcpy(&v.i, member, sizeof v.i); break;
    case PW_OPT_COUNT: memcpy(&v.n, member, sizeof v.n); break;
    case PW_OPT_FLOAT: memcpy(&v.f, member, sizeof v.f); break;
    case PW_OPT_DOUBLE: memcpy(&v.d, member, sizeof v.d); break;
    case PW_OPT_SEED: memcpy(&v.u, member, sizeof v.u); break;
    case PW_OPT_SWITCH: memcpy(&v.b, member, sizeof v.b); break;
    case PW_OPT_TEXT: v.s = member; break;
    case PW_OPT_RANGE: memcpy(&v.r, member, sizeof v.r); break;
    case PW_OPT_MOVE: memcpy(&v.m, member, sizeof v.m); break;
    }
    return v;
}

static bool equal(const struct pw_opt *opt, union value a, union value b)
{
    switch (opt->type) {
    case PW_OPT_INT:
    case PW_OPT_CHOICE: return a.i == b.i;
    case PW_OPT_COUNT: return a.n == b.n;
    case PW_OPT_FLOAT: return memcmp(&a.f, &b.f, sizeof a.f) == 0; /* -0 is printed as -0 */
    case PW_OPT_DOUBLE: return memcmp(&a.d, &b.d, sizeof a.d) == 0;
    case PW_OPT_SEED: return a.u == b.u;
    case PW_OPT_SWITCH: return a.b == b.b;
    case PW_OPT_TEXT: return strcmp(a.s, b.s) == 0;
    case PW_OPT_RANGE: return a.r.lo == b.r.lo && a.r.hi == b.r.hi;
    case PW_OPT_MOVE: return a.m.n == b.m.n && a.m.by == b.m.by;
    }
    return false;
}

/* ---- value to text */

/* Print the shortest digits that read back to the same bits (nine are always enough), without an exponent for
 * common numbers: 10000, not 1e+04. */
static void print_float(float f, struct pw_str *out)
{
    char text[32];

    for (int digits = 1; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, f);
        bool exponent = strchr(text, 'e') != NULL && fabsf(f) >= 1.0f && fabsf(f) < 1e9f;
        if ((float)strtod(text, NULL) == f && !exponent)
            break;
    }
    pw_str_add(out, "%s", text);
}

static void print_double(double d, struct pw_str *out)
{
    char text[32];

    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, d);
        if (strtod(text, NULL) == d)
            break;
    }
    pw_str_add(out, "%s", text);
}

/* Quote the text, with \" and \\ inside, if the command language would split or misread it. */
static void print_text(const char *s, struct pw_str *out)
{
    bool bare = *s != '\0' && s[strcspn(s, " \"\\;#(),=")] == '\0';

    if (bare)
        pw_str_add(out, "%s", s);
    else
        pw_str_quote(out, s);
}

static void print(const struct pw_opt *opt, union value v, struct pw_str *out)
{
    switch (opt->type) {
    case PW_OPT_INT:
        if (v.i == 0 && opt->choices != NULL)
            pw_str_add(out, "%s", opt->choices[0]);
        else
            pw_str_add(out, "%d", v.i);
        break;
    case PW_OPT_COUNT: pw_str_add(out, "%lld", (long long)v.n); break;
    case PW_OPT_FLOAT: print_float(v.f, out); break;
    case PW_OPT_DOUBLE: print_double(v.d, out); break;
    case PW_OPT_SEED: pw_str_add(out, "%llu", (unsigned long long)v.u); break;
    case PW_OPT_SWITCH: pw_str_add(out, "%s", switch_names[v.b]); break;
    case PW_OPT_CHOICE: pw_str_add(out, "%s", opt->choices[v.i]); break;
    case PW_OPT_TEXT: print_text(v.s, out); break;
    case PW_OPT_RANGE: pw_str_add(out, v.r.lo == v.r.hi ? "%d" : "%d..%d", v.r.lo, v.r.hi); break;
    case PW_OPT_MOVE:
        if (!v.m.by && opt->choices != NULL)
            pw_str_add(out, "%s", opt->choices[v.m.n]);
        else
            pw_str_add(out, v.m.by ? "%+d" : "%d", v.m.n);
        break;
    }
}

/* ---- interface */

int pw_move_round(struct pw_move m, int now, int n)
{
    return m.by ? (now + m.n % n + n) % n : m.n;
}

void pw_opt_old_names(struct pw_str *out, const char *text)
{
    while (*text != '\0') {
        const struct renamed *r = NULL;
        for (size_t i = 0; i < sizeof renamed_choices / sizeof *renamed_choices && r == NULL; i++)
            if (strncmp(text, renamed_choices[i].is, strlen(renamed_choices[i].is)) == 0)
                r = &renamed_choices[i];
        if (r == NULL)
            pw_str_add(out, "%c", *text);
        else
            pw_str_add(out, "%s", r->was);
        text += r != NULL ? strlen(r->is) : 1;
    }
}

const struct pw_opt *pw_opt_find(const struct pw_opt *table, const char *name)
{
    for (const struct pw_opt *opt = table; opt->name != NULL; opt++)
        if (strcmp(opt->name, name) == 0)
            return opt;
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (strcmp(renamed[i].was, name) == 0)
            return pw_opt_find(table, renamed[i].is);
    return NULL;
}

void pw_opt_defaults(const struct pw_opt *table, void *target)
{
    for (; table->name != NULL; table++) {
        union value v;
        if (table->def == NULL)
            continue;
        bool ok = parse(table, table->def, &v);
        assert(ok && "a default is an allowed value");
        if (ok)
            store(table, target, v);
    }
}

void pw_opt_allowed(const struct pw_opt *opt, struct pw_str *out)
{
    for (int i = 0; opt->type != PW_OPT_CHOICE && opt->choices != NULL && opt->choices[i] != NULL; i++)
        pw_str_add(out, "%s|", opt->choices[i]);
    switch (opt->type) {
    case PW_OPT_INT:
    case PW_OPT_COUNT: pw_str_add(out, "%.0f..%.0f", opt->min, opt->max); break;
    case PW_OPT_FLOAT:
    case PW_OPT_DOUBLE: pw_str_add(out, "%.15g..%.15g", opt->min, opt->max); break;
    case PW_OPT_SEED: pw_str_add(out, "0..%llu", (unsigned long long)UINT64_MAX); break;
    case PW_OPT_SWITCH: pw_str_add(out, "on|off"); break;
    case PW_OPT_CHOICE:
        for (int i = 0; opt->choices[i] != NULL; i++)
            pw_str_add(out, i > 0 ? "|%s" : "%s", opt->choices[i]);
        break;
    case PW_OPT_TEXT: pw_str_add(out, "text of at most %zu bytes", opt->size - 1); break;
    case PW_OPT_RANGE: pw_str_add(out, "A..B (A <= B) or A in %.0f..%.0f", opt->min, opt->max); break;
    case PW_OPT_MOVE:
        if (opt->choices == NULL)
            pw_str_add(out, "%.0f..%.0f|", opt->min, opt->max);
        pw_str_add(out, "+N|-N");
        break;
    }
}

static enum pw_code fail_key(const struct pw_opt *table, const char *what, const char *key,
                             struct pw_err *err)
{
    const char *names[128];
    size_t n = 0;
    struct pw_str list = {0};
    char shown[64];

    for (; table[n].name != NULL; n++) {
        assert(n < sizeof names / sizeof *names - 1);
        names[n] = table[n].name;
        pw_str_add(&list, n > 0 ? " %s" : "%s", names[n]);
    }
    names[n] = NULL;
    pw_text_copy(shown, sizeof shown, key);
    const char *nearest = pw_text_nearest(key, names);
    if (nearest != NULL)
        pw_fail(err, PW_EUSER, "%s: no option '%s'; did you mean '%s'?", what, shown, nearest);
    else if (n == 0)
        pw_fail(err, PW_EUSER, "%s: no option '%s'; there are no options", what, shown);
    else
        pw_fail(err, PW_EUSER, "%s: no option '%s'; there are %s", what, shown, pw_str_text(&list));
    pw_str_fini(&list);
    return PW_EUSER;
}

/* Is the value a fraction although the option takes whole numbers? Then the message must say so, because the
 * limits alone would mislead. */
static bool is_fraction(const struct pw_opt *opt, const char *value)
{
    double v;

    return (opt->type == PW_OPT_INT || opt->type == PW_OPT_COUNT || opt->type == PW_OPT_SEED) &&
           pw_text_double(value, &v) && isfinite(v) && v != floor(v);
}

static enum pw_code fail_value(const struct pw_opt *opt, const char *what, const char *value,
                               struct pw_err *err)
{
    struct pw_str allowed = {0};
    char shown[64];
    const char *nearest = NULL;

    pw_text_copy(shown, sizeof shown, value);
    if (is_fraction(opt, value))
        pw_str_add(&allowed, "whole numbers ");
    pw_opt_allowed(opt, &allowed);
    if (opt->type == PW_OPT_CHOICE || (opt->type == PW_OPT_MOVE && opt->choices != NULL))
        nearest = pw_text_nearest(value, opt->choices);
    if (nearest != NULL)
        pw_fail(err, PW_EUSER, "%s: %s=%s: allowed are %s; did you mean '%s'?", what, opt->name, shown,
                pw_str_text(&allowed), nearest);
    else
        pw_fail(err, PW_EUSER, "%s: %s=%s: allowed are %s", what, opt->name, shown, pw_str_text(&allowed));
    pw_str_fini(&allowed);
    return PW_EUSER;
}

enum pw_code pw_opt_set(const struct pw_opt *table, void *target, const char *what, const char *key,
                        const char *value, struct pw_err *err)
{
    const struct pw_opt *opt = pw_opt_find(table, key);
    union value v;

    if (opt == NULL)
        return fail_key(table, what, key, err);
    if (!parse(opt, value, &v))
        return fail_value(opt, what, value, err);
    store(opt, target, v);
    return PW_OK;
}

bool pw_opt_left_out(const struct pw_opt *opt, const void *target)
{
    union value def;

    return opt->type != PW_OPT_TEXT && opt->size == PW_OPT_LATER && parse(opt, opt->def, &def) &&
           equal(opt, load(opt, target), def);
}

void pw_opt_print(const struct pw_opt *table, const void *target, bool only_changed, struct pw_str *out)
{
    for (; table->name != NULL; table++) {
        union value v = load(table, target), def;
        if (only_changed && table->def != NULL && parse(table, table->def, &def) && equal(table, v, def))
            continue;
        if (pw_opt_left_out(table, target))
            continue;
        pw_str_add(out, " %s=", table->name);
        if (table->type == PW_OPT_CHOICE)
            print_text(table->choices[v.i], out); /* "sort multi" has a blank */
        else
            print(table, v, out);
    }
}

void pw_opt_value(const struct pw_opt *opt, const void *target, struct pw_str *out)
{
    union value v = load(opt, target);

    if (opt->type == PW_OPT_TEXT)
        pw_str_add(out, "%s", v.s);
    else
        print(opt, v, out);
}
