/* opt.h - option tables: one row per `key=value`, and from it come parsing, range checks, defaults,
 * help, completion and the canonical text that is recorded.
 *
 * A table is an array of struct pw_opt that ends with name == NULL and describes the members of one
 * plain struct (the target) by offset. */
#ifndef PW_OPT_H
#define PW_OPT_H
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pw_str;

struct pw_range {
    int lo, hi; /* both included; written A..B, or A alone for A..A */
};

struct pw_move {
    int n;
    bool by; /* on from where one is, written +N or -N; else to n, written N */
};

enum pw_opt_type {
    PW_OPT_INT,    /* int */
    PW_OPT_COUNT,  /* int64_t */
    PW_OPT_FLOAT,  /* float */
    PW_OPT_DOUBLE, /* double */
    PW_OPT_SEED,   /* uint64_t */
    PW_OPT_SWITCH, /* bool, on|off */
    PW_OPT_CHOICE, /* int, index into choices */
    PW_OPT_TEXT,   /* char[size] */
    PW_OPT_RANGE,  /* struct pw_range, lo <= hi, both within min..max */
    PW_OPT_MOVE,   /* struct pw_move: N within min..max, min >= 0, or N of at most max on or back */
};

struct pw_opt {
    const char *name;
    enum pw_opt_type type;
    size_t offset;   /* offsetof(struct target, member) */
    const char *def; /* default as text; NULL: no default, the member keeps what it has */
    double min, max; /* INT, COUNT, FLOAT, DOUBLE, RANGE, MOVE: allowed values, both included */
    const char *const
        *choices;     /* CHOICE: NULL-terminated. INT: the first is what 0 is written as, whatever
                         min is; MOVE: names of 0, 1, ...; TEXT: values with a meaning of their own. NULL: none */
    size_t size;      /* TEXT: sizeof the member */
    const char *help; /* one line, with the unit if there is one */
};

const struct pw_opt *pw_opt_find(const struct pw_opt *table, const char *name);

/* Sets every member that has a default. */
void pw_opt_defaults(const struct pw_opt *table, void *target);

/* Parses value into the member of key. On failure *target is unchanged and the message reads
 * "WHAT: KEY=VALUE: allowed are ..." or "WHAT: no option 'KEY'; did you mean 'NAME'?". */
enum pw_code pw_opt_set(const struct pw_opt *table, void *target, const char *what, const char *key,
                        const char *value, struct pw_err *err);

/* Appends " key=value" for every member, or with only_changed for those that differ from their
 * default: the canonical text, which pw_opt_set reads back to the same bits (a TEXT or CHOICE with spaces or
 * other special characters stands in quotes, as in the command language, which removes them). A member
 * without a default always counts as changed. */
void pw_opt_print(const struct pw_opt *table, const void *target, bool only_changed, struct pw_str *out);

/* Appends the value of one row as pw_opt_set reads it back. */
void pw_opt_value(const struct pw_opt *opt, const void *target, struct pw_str *out);

/* Where a move from `now` ends among 0..n-1, which follow each other round the end. */
int pw_move_round(struct pw_move m, int now, int n);

/* Appends the allowed values of one row as text: "1..512", "on|off", "rmsnorm|layernorm|none". */
void pw_opt_allowed(const struct pw_opt *opt, struct pw_str *out);

#endif
