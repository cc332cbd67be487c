/* options.h - the command line as plain values. */
#ifndef PW_OPTIONS_H
#define PW_OPTIONS_H
#include "base/err.h"
#include <stdbool.h>
#include <stdint.h>

enum pw_verb {
    PW_VERB_LAB, /* the workbench or, with a script, none */
    PW_VERB_REPLAY,
    PW_VERB_VERIFY,
    PW_VERB_PACK,
    PW_VERB_UNPACK,
    PW_VERB_DELETE,
    PW_VERB_HELP,
    PW_VERB_VERSION,
    PW_VERB_MANUAL,
};

/* Texts are argv's; NULL: not given. */
struct pw_options {
    enum pw_verb verb;
    const char *commands, *file; /* to run without a screen: -c, run FILE */
    bool list;                   /* the same: `sessions`, of folder, */
    const char *folder;          /* or of the user's */
    const char *session;         /* to record in, to look at, to pack; the file to unpack */
    bool must_exist;             /* it is not made */
    bool named;                  /* `pewter NAME`: made where it is not there, unless it looks like a slip */
    bool fresh;                  /* it is one of these, and not there yet */
    const char *output;          /* -o */
    const char *demo;
    int64_t from; /* the step of the session to begin at; -1: its end, of a verification its beginning */
    bool unrecorded, json, plain;
    const char *backend; /* what the command `backend` takes */
    int threads;
};

extern const char pw_usage[];

/* PW_EUSER: what is wrong, in one line. */
enum pw_code pw_options_read(struct pw_options *o, int argc, char **argv, struct pw_err *err);

#endif
