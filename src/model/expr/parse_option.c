/* parse_option.c - options of a formula: constants with a range, which the user of the formula can set.
 * The program has their values as numbers, so they are allowed where a number is required: in learn(0,
 * buckets). */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "model/expr/parse_int.h"

/* Keys of commands, of settings that every encoding has (tune.c), and of weight files (metadata.c). */
static const char *const taken[] = {"offset",  "stretch", "temperature", "logn", "as",
                                    "restart", "replace", "title",       "arm",  "replica",
                                    "name",    "formula", "rule",        NULL};

/* Reads a number; *whole becomes false unless it is written as a whole number. */
static double read_number(struct pw_parser *p, const char *what, bool *whole)
{
    int at = p->t.at, k = pw_parse_expression(p);
    if (p->failed)
        return 0;
    const struct pw_node *node = &p->x->node[k];
    if (node->op != PW_NODE_NUMBER || !isfinite(node->value)) {
        pw_parse_fail(p, at, "option(default, low..high): %s is a number", what);
        return 0;
    }
    size_t n = (size_t)(p->t.at - at);
    if (memchr(p->x->text + at, '.', n) != NULL || node->value != floor(node->value) ||
        fabs(node->value) > 1e9)
        *whole = false;
    return node->value;
}

/* Copies the comment that follows the option on its line. */
static void read_help(const struct pw_parser *p, int at, struct pw_expr_option *o)
{
    const char *s = p->x->text + at;
    s += strspn(s, " \t\r");
    if (*s != '#')
        return;
    s += strspn(s, "# \t");
    size_t n = strcspn(s, "\r\n");
    char line[sizeof o->help];
    if (n >= sizeof line)
        n = sizeof line - 1;
    memcpy(line, s, n);
    line[n] = '\0';
    pw_text_copy(o->help, sizeof o->help, line);
}

static void set_value(struct pw_parser *p, struct pw_expr_option *o, int at)
{
    o->value = p->x->n_options < p->n_values ? p->values[p->x->n_options] : o->def;
    if (!(o->lo <= o->hi))
        pw_parse_fail(p, at, "option '%s': the range %g..%g is empty", o->name, o->lo, o->hi);
    else if (!(o->value >= o->lo && o->value <= o->hi))
        pw_parse_fail(p, at, "option '%s': %g is not in %g..%g", o->name, o->value, o->lo, o->hi);
    else if (o->whole && o->value != floor(o->value))
        pw_parse_fail(p, at, "option '%s': %g is not a whole number", o->name, o->value);
}

void pw_parse_option(struct pw_parser *p, struct pw_parse_name *name)
{
    struct pw_expr *x = p->x;
    struct pw_expr_option o = {.whole = true};
    if (x->n_options == PW_EXPR_OPTIONS) {
        pw_parse_fail(p, name->at, "too many options: at most %d", PW_EXPR_OPTIONS);
        return;
    }
    if (name->length >= (int)sizeof o.name) {
        pw_parse_fail(p, name->at, "a name has at most %d characters", (int)sizeof o.name - 1);
        return;
    }
    memcpy(o.name, x->text + name->at, (size_t)name->length);
    if (pw_parse_find(taken, o.name, name->length) >= 0) {
        pw_parse_fail(p, name->at, "option '%s': this key has another meaning; choose another name", o.name);
        return;
    }
    pw_parse_expect(p, "(", "after option");
    o.at = p->t.at;
    o.def = read_number(p, "the default", &o.whole);
    const char *end = x->text + p->t.at;
    while (end > x->text + o.at && strchr(" \t\r", end[-1]) != NULL)
        end--;
    o.def_end = (int)(end - x->text);
    pw_parse_expect(p, ",", "after the default");
    o.lo = read_number(p, "the lowest value", &o.whole);
    pw_parse_expect(p, "..", "between the lowest and the highest value");
    o.hi = read_number(p, "the highest value", &o.whole);
    int close = p->t.at + p->t.length;
    pw_parse_expect(p, ")", "after the range");
    if (!p->failed)
        set_value(p, &o, o.at);
    if (p->failed)
        return;
    read_help(p, close, &o);
    struct pw_node value = {.op = PW_NODE_NUMBER, .arg = {-1, -1, -1}, .value = o.value};
    name->node = pw_expr_node(x, value);
    name->option = true;
    if (name->node < 0)
        pw_parse_fail(p, name->at, "the formula is too long: at most %d operations", PW_EXPR_NODES);
    x->option[x->n_options++] = o;
}
