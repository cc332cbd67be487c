/* options.h - the program's command line as plain values.
 *
 * Main thread. Texts point into argv. */
#ifndef PW_OPTIONS_H
#define PW_OPTIONS_H
#include "base/err.h"
#include <stdbool.h>
#include <stdint.h>

/* The action that the command line asks for. */
enum pw_verb {
    PW_VERB_LAB, /* the workbench; with commands or a file, a run without a screen */
    PW_VERB_REPLAY,
    PW_VERB_VERIFY,
    PW_VERB_PACK,
    PW_VERB_UNPACK,
    PW_VERB_DELETE,
    PW_VERB_PRUNE,
    PW_VERB_DOCTOR,
    PW_VERB_STUDY,
    PW_VERB_HELP,
    PW_VERB_VERSION,
    PW_VERB_MANUAL,
    PW_VERB_REFERENCE,
    PW_VERB_COMPLETION,
};

/* The parsed command line. A text is NULL if it was not given. */
struct pw_options {
    enum pw_verb verb;
    const char *commands, *file; /* a script to run without a screen: the text of -c, or the file of `run` */
    bool list;                   /* `sessions`: list the recorded sessions */
    const char *folder;          /* folder that `sessions` lists; NULL: the folder of the user's sessions */
    const char *by;              /* order of this list, "use" or "size" */
    bool yes;                    /* --yes: delete without a question */
    const char *session;         /* the session to record, replay, pack or delete; `unpack`: the file */
    bool must_exist;             /* fail if the session does not exist */
    bool named; /* set by `pewter NAME`: a missing session is created, unless NAME seems to be a mistake */
    bool fresh; /* main found that the named session is missing, and creates it */
    const char *output; /* file or session name of -o, for `session pack` and `unpack` */
    char **words;       /* of `study` and `sessions prune`, [n_words] without the verb itself */
    int n_words;
    const char *page;             /* --manual: commands or formulas; NULL: the program */
    const char *shell;            /* --completion: bash, zsh or fish */
    const char *demo;             /* --demo: "sort" or the given name; the demo to start with */
    int64_t from;                 /* replay: step to take over from, or to verify from. -1: not given */
    bool unrecorded, json, plain; /* --no-session, --json, --plain */
    const char *backend;          /* argument of the command `backend` */
    int threads;                  /* of the cpu backend; 0: all processors */
};

/* The values of an option or a verb, for completion by a shell. */
enum pw_usage_value {
    PW_VALUE_NONE,
    PW_VALUE_OTHER, /* any text */
    PW_VALUE_FILE,
    PW_VALUE_FOLDER,
    PW_VALUE_SESSION,
    PW_VALUE_WORDS, /* those of `words` */
    PW_VALUE_STUDY, /* a verb of `study`, then the name of a study */
    PW_VALUE_LIST,  /* a folder or one of `words`; those of `after` follow the first of `words` */
};

/* An option, or a verb. */
struct pw_usage_word {
    const char *name; /* without the dashes; an option of one letter is short */
    enum pw_usage_value value;
    const char *words; /* PW_VALUE_WORDS, PW_VALUE_LIST: separated by blanks */
    const char *after; /* PW_VALUE_LIST: likewise */
    bool optional;     /* the value of an option, then written --demo=NAME */
    const char *help;
};
extern const struct pw_usage_word pw_option_words[], pw_verb_words[]; /* end with a NULL name */

extern const char pw_usage[]; /* the text of --help */

/* Parses argv into *o. Fails with PW_EUSER; the message says which argument is wrong. */
enum pw_code pw_options_read(struct pw_options *o, int argc, char **argv, struct pw_err *err);

#endif
