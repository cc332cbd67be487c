/* opt.h - option tables. One row describes one `key=value`; parsing, range checks, defaults, help, completion
 * and the canonical text of a session all use the row.
 *
 * A table is an array of struct pw_opt that ends with name == NULL. It describes the members of one plain
 * struct (the target) by offset. Tables are constant; any thread may call these functions. */
#ifndef PW_OPT_H
#define PW_OPT_H
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pw_str;

/* A range with both ends included; written A..B, or A for A..A. */
struct pw_range {
    int lo, hi;
};

/* A position, or a move relative to the current position. */
struct pw_move {
    int n;
    bool by; /* true: move by n, written +N or -N; false: move to n, written N */
};

/* Type of an option, and of the member that it sets. */
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
    PW_OPT_MOVE,   /* struct pw_move: N within min..max (min >= 0), or +N, -N with N <= max */
};

/* Marks a row that a later version added to a table. At its default it is left out of canonical texts and
 * files, which so stay as they were. */
enum { PW_OPT_LATER = 1 };

/* One row of an option table. */
struct pw_opt {
    const char *name;
    enum pw_opt_type type;
    size_t offset;   /* offsetof(struct target, member) */
    const char *def; /* default as text; NULL: no default, the member is not touched */
    double min, max; /* INT, COUNT, FLOAT, DOUBLE, RANGE, MOVE: allowed values, both included */
    /* Names of values, NULL-terminated; NULL: none. CHOICE: the values. INT: the first name stands for 0,
     * whatever min is. MOVE: names of 0, 1, ... TEXT: values with a special meaning, for help and
     * completion. */
    const char *const *choices;
    size_t size;      /* TEXT: sizeof the member; other types: 0 or PW_OPT_LATER */
    const char *help; /* one line, with the unit if there is one */
};

/* Append text with every renamed choice, such as text=appendix, under its old name (text=seed). Sessions on
 * disk have the old names in texts, and in values computed from texts. */
void pw_opt_old_names(struct pw_str *out, const char *text);

/* Find a row by name; NULL if there is none. */
const struct pw_opt *pw_opt_find(const struct pw_opt *table, const char *name);

/* Set every member that has a default to it. */
void pw_opt_defaults(const struct pw_opt *table, void *target);

/* Parse `value` into the member of `key`. On failure the code is PW_EUSER, *target is unchanged, and the
 * message reads "WHAT: KEY=VALUE: allowed are ..." or "WHAT: no option 'KEY'; did you mean 'NAME'?". */
enum pw_code pw_opt_set(const struct pw_opt *table, void *target, const char *what, const char *key,
                        const char *value, struct pw_err *err);

/* Append " key=value" for every member to out; with only_changed, only for members that differ from their
 * default. A member without a default always counts as changed. Rows marked PW_OPT_LATER are left out at
 * their default in any case.
 *
 * This is the canonical text: pw_opt_set reads it back to the same bits. A TEXT or CHOICE with spaces or
 * other special characters is quoted as in the command language, whose lexer removes the quotes. */
void pw_opt_print(const struct pw_opt *table, const void *target, bool only_changed, struct pw_str *out);

/* Returns true if the row is marked PW_OPT_LATER and its member has its default. */
bool pw_opt_left_out(const struct pw_opt *opt, const void *target);

/* Append the value of one row without quotes, as pw_opt_set reads it. */
void pw_opt_value(const struct pw_opt *opt, const void *target, struct pw_str *out);

/* Return the index where move m ends, from index `now` of 0..n-1. A relative move wraps around. */
int pw_move_round(struct pw_move m, int now, int n);

/* Append the allowed values of one row as text: "1..512", "on|off", "rmsnorm|layernorm|none". */
void pw_opt_allowed(const struct pw_opt *opt, struct pw_str *out);

#endif
