/* verbs_int.h - private to the verbs of `study`: a verb is one file, and one line in verbs.c. */
#ifndef PW_STUDY_VERBS_INT_H
#define PW_STUDY_VERBS_INT_H
#include <stdio.h>

#include "base/opt.h"
#include "study/reading.h"

/* The words behind a verb. Everything is borrowed. */
struct pw_study_call {
    const char *name;   /* of the study; NULL: the verb takes none */
    const char *folder; /* its folder */
    int n;              /* words behind the name that are no options of the verb */
    char **words;       /* [n] */
    const void *opts;   /* the verb's struct, filled in from its table */
    FILE *out;
};

/* Rows of option tables. struct options is the verb's own. */
#define PW_STUDY_AUTO(member, most, text)                                                                    \
    {                                                                                                        \
        .name = #member, .type = PW_OPT_INT, .offset = offsetof(struct options, member), .def = "auto",      \
        .min = 1, .max = (most), .choices = pw_study_automatic, .help = (text)                               \
    }
#define PW_STUDY_TEXT(member, text)                                                                          \
    {                                                                                                        \
        .name = #member, .type = PW_OPT_TEXT, .offset = offsetof(struct options, member), .def = "",         \
        .size = sizeof((struct options *)0)->member, .help = (text)                                          \
    }
#define PW_STUDY_THREADS 1024                  /* most threads of a cell */
extern const char *const pw_study_automatic[]; /* "auto" is 0 */

struct pw_study_verb {
    const char *name;
    const char *words; /* words behind the name of the study, for messages: "TEXT or FILE"; NULL: none */
    bool nameless;     /* takes no name */
    bool hidden;       /* for scripts; not in messages that list the verbs */
    const struct pw_opt *opts; /* its options KEY=VALUE; NULL: none */
    size_t opts_size;          /* sizeof their struct */
    /* Fails for options that do not go together, before run; NULL: any do. */
    enum pw_code (*check)(const struct pw_study_call *call, struct pw_err *err);
    enum pw_code (*run)(const struct pw_study_call *call, struct pw_err *err);
};

#endif
