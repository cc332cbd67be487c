/* options.h - the command line as plain values. */
#ifndef PW_OPTIONS_H
#define PW_OPTIONS_H
#include "base/err.h"
#include <stdbool.h>
#include <stdint.h>

enum pw_verb {
    PW_VERB_LAB, /* the workbench; with commands or a file, a run without a screen */
    PW_VERB_REPLAY,
    PW_VERB_VERIFY,
    PW_VERB_PACK,
    PW_VERB_UNPACK,
    PW_VERB_DELETE,
    PW_VERB_HELP,
    PW_VERB_VERSION,
    PW_VERB_MANUAL,
    PW_VERB_REFERENCE,
};

/* Texts point into argv; NULL: not given. */
struct pw_options {
    enum pw_verb verb;
    const char *commands, *file; /* run without a screen: -c, run FILE */
    bool list;                   /* run without a screen: `sessions` */
    const char *folder;          /* of `sessions`; NULL: the user's own */
    const char *session;         /* session to record, replay or pack; file to unpack */
    bool must_exist;             /* do not make the session */
    bool named;                  /* `pewter NAME`: a missing session is made, unless NAME seems a mistake */
    bool fresh;                  /* named and missing: it is made */
    const char *output;          /* -o */
    const char *demo;
    int64_t from; /* step to start from; -1: the session's end, for a verification its beginning */
    bool unrecorded, json, plain;
    const char *backend; /* argument of the command `backend` */
    int threads;
};

extern const char pw_usage[];

/* Parses argv into *o. PW_EUSER: one line says what is wrong. */
enum pw_code pw_options_read(struct pw_options *o, int argc, char **argv, struct pw_err *err);

#endif
