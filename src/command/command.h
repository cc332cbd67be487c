/* command.h - the command language: its grammar, the table of commands, parsing, completion and help. It does
 * not know what any command means.
 *
 *   line     = command { (";" | newline) command }
 *   command  = name { word | key=value }      '#' at the start of a word begins a comment, but not before a
 *                                            digit: #17 is a token
 *   word     = anything without blanks, or "quoted" with \" and \\ inside
 *
 * A formula takes the rest of the line, too, as the word after `expr`: pe expr bias = -d. Single quotes
 * around it protect ';' as double quotes do. Behind its closing quote other words may follow.
 *
 * A raw command (prompt, say, mark) takes the rest of the line unchanged, up to an unquoted ';'. Only one
 * enclosing pair of quotes is removed. key=value splits at the first '='; a quoted word is never split.
 * Parentheses keep a word together: t5(buckets=8,distance=16).
 *
 * Tables are constant. Any thread may call these functions; one struct pw_args belongs to one thread at a
 * time. */
#ifndef PW_COMMAND_H
#define PW_COMMAND_H
#include "base/err.h"
#include "base/opt.h"
#include "base/text.h"
#include <stdbool.h>
#include <stddef.h>

#define PW_MAX_WORDS 32

/* One argument of a command. */
struct pw_word {
    char *key;   /* NULL for a plain word */
    char *value; /* the word, or the text after '=' */
};

/* One parsed command. It owns its memory; pw_args_fini frees it. */
struct pw_args {
    char *text; /* the command as typed, trimmed, without comment */
    char *name; /* name of the command, also if an alias was typed */
    /* For raw commands: everything after the name, trimmed, one enclosing pair of quotes removed. */
    char *rest;
    int n;
    struct pw_word words[PW_MAX_WORDS];
};

/* The module that runs a command: the lab, or the workbench. */
enum pw_where { PW_AT_LAB, PW_AT_UI };

/* State that completion may read, indexed by enum pw_where: the lab's snapshot for commands of the lab, the
 * workbench's state for those of the workbench. NULL: not available. */
struct pw_seen {
    const void *by[2];
};

/* The word being completed, as a command's complete function sees it. */
struct pw_completion {
    const struct pw_args *so_far; /* the words between the name and this one; also for a raw command */
    int at;                       /* number of plain words in so_far: 0 is the first after the name */
    const char *key;              /* key whose value is typed; NULL: a plain word */
    const void *seen;             /* the struct pw_seen member of the command's `where` */
    /* For pw_complete_offer: the typed beginning, unquoted; whether it began with a quote; the callback that
     * receives candidates. */
    const char *prefix;
    bool quoted;
    void (*add)(void *arg, const char *candidate);
    void *arg;
};

/* One command: its help, its option tables, completion and its run function. Constant. */
struct pw_command {
    const char *name;
    const char *usage;   /* "pe NAME [key=value]" */
    const char *example; /* a line for its reference page, which a test runs */
    const char *summary; /* one line */
    const char *detail;  /* more lines for `help NAME`, or NULL */
    enum pw_where where;
    const char *const *aliases; /* other names (vi's "q!"), NULL-terminated, or NULL */
    const char *search;         /* words that a user may search for: "rewind history"; or NULL */
    bool raw;                   /* takes the rest of the line unchanged */
    bool formula;               /* `expr` among its words is followed by a formula, one word */
    /* Runs while an answer is being decoded. Such a command neither needs the answer nor changes its
     * inputs. */
    bool beside;
    /* Does the command, with these arguments, choose another model to answer the pinned prompt? Typed by a
     * user who watches, it drops an answer that is still being decoded instead of waiting for it. NULL: no.
     */
    bool (*passes_over)(const struct pw_args *args);
    /* Continues in the background. In a typed line, the commands after it wait until it has ended. */
    bool lasts;
    const struct pw_opt *opts; /* its own table of key=value, for help and completion; or NULL */
    const struct pw_opt *also; /* second table, valid beside any other: arm=K; or NULL */
    /* Returns the table to use instead of opts if the keys depend on the words given so far (pe: on the
     * encoding). NULL, or NULL returned: use opts. */
    const struct pw_opt *(*opts_for)(const struct pw_args *so_far);
    /* Appends help on a word that may follow the name (an encoding, a probe, a study), for `help NAME WORD`.
     * Returns false if the word is unknown. NULL: there is no such help. */
    bool (*about)(const char *word, struct pw_str *out);
    /* Appends what `help NAME` says below `detail` and depends on files, beginning with a line break. NULL:
     * nothing. */
    void (*more)(struct pw_str *out);
    int file_at;    /* the N-th word after the name, from 1, may be a file name; 0: none */
    int command_at; /* the N-th word may be a command name; 0: none */
    /* Offers the words that may come here with pw_complete_offer; options are offered by the caller. NULL:
     * nothing to offer. */
    void (*complete)(struct pw_completion *c);
    /* Offers values of c->key, in addition to those of the option table. NULL: nothing to offer. */
    void (*values)(struct pw_completion *c);
    /* Does the command, with these arguments, act outside the lab? Examples: it writes a file, or it chooses
     * between machines that give the same bits. Such a command is skipped when a session is re-run. NULL:
     * no. */
    bool (*outside)(const struct pw_args *args);
    /* Runs the command. ctx is the lab or the UI, by `where`; the function runs on its thread. Fails with one
     * line in err, and then the state is as before. */
    enum pw_code (*run)(void *ctx, const struct pw_args *args, struct pw_err *err);
};

/* The table of all commands; main joins it from several arrays. */
struct pw_commands {
    const struct pw_command *const *list; /* NULL-terminated */
};

/* Append the commands of `more` (NULL-terminated) to the n of list, and end list with NULL. A command whose
 * name is in list already replaces it: the workbench's `set` passes unknown keys on to the lab's. Returns the
 * new number; the caller provides the room. */
int pw_commands_join(const struct pw_command **list, int n, const struct pw_command *const *more);

/* Find a command by name or alias; NULL if there is none. */
const struct pw_command *pw_command_find(const struct pw_commands *t, const char *name);
/* Fill err with "no command 'trian'; did you mean 'train'?", or suggest commands that have the name as a
 * search word. Returns PW_EUSER. */
enum pw_code pw_command_unknown(const struct pw_commands *t, const char *name, struct pw_err *err);

/* How well a command matches a word. IT: the name, an alias, the summary or a search word matches. MENTIONS:
 * the help text contains it. */
enum pw_about { PW_ABOUT_NOT, PW_ABOUT_MENTIONS, PW_ABOUT_IT };
enum pw_about pw_command_about(const struct pw_command *cmd, const char *word);
/* Find up to `most` commands that match a word; if there is none, the commands whose help mentions it.
 * Returns how many were written to out. */
int pw_commands_about(const struct pw_commands *t, const char *word, const struct pw_command **out, int most);

/* Split text into commands. Calls each(arg, text of one command, its line from 1) in order, and stops with
 * its code if that is not PW_OK. Skips comments and empty commands. An unterminated quote fails with PW_EUSER
 * before any call. */
enum pw_code pw_commands_split(const char *text,
                               enum pw_code (*each)(void *arg, const char *command, int line), void *arg,
                               struct pw_err *err);

/* First character of a queue entry that is not a command but a place: the source of the commands after it,
 * such as "s.pewter:5" (file and line). Messages name the place. Typed lines and scripts cannot contain this
 * character, because the lexer rejects it. */
#define PW_PLACE '\001'

/* The commands of a text, in order. The caller frees the members with pw_parsed_fini. */
struct pw_parsed {
    struct pw_parsed_command {
        const struct pw_command *cmd;
        struct pw_args args;
    } * command;
    int n;
};
/* Parse all commands of text. On failure *p is empty, and the message gives the place of the error in text.
 */
enum pw_code pw_commands_parse(const struct pw_commands *t, const char *text, struct pw_parsed *p,
                               struct pw_err *err);
void pw_parsed_fini(struct pw_parsed *p);
/* Check that all commands of text can be parsed. The message gives the place of the error in text. */
enum pw_code pw_commands_check(const struct pw_commands *t, const char *text, struct pw_err *err);

/* Parse one command. On failure *args is empty and *cmd NULL; for an unknown name the message suggests the
 * nearest one. A raw command has no words, only rest. The caller frees *args with pw_args_fini. */
enum pw_code pw_command_parse(const struct pw_commands *t, const char *text, struct pw_args *args,
                              const struct pw_command **cmd, struct pw_err *err);
void pw_args_fini(struct pw_args *a);

/* A value for struct pw_command's `outside`: always true. */
bool pw_command_outside(const struct pw_args *args);

/* ---- helpers for run functions; strings that they return belong to a */
/* Return plain word i, from 0, skipping key=value words; NULL past the end. pw_args_words counts them. */
const char *pw_args_word(const struct pw_args *a, int i);
int pw_args_words(const struct pw_args *a);
/* Return the value of key, or NULL. */
const char *pw_args_key(const struct pw_args *a, const char *key);
/* Set every key=value of a into target by table (NULL: the command has no options). An unknown key or a bad
 * value fails with PW_EUSER, and target may then be set in part: pass a copy. */
enum pw_code pw_args_opts(const struct pw_args *a, const struct pw_opt *table, void *target,
                          struct pw_err *err);
/* Fail unless there are min to max plain words ("NAME: too many words; usage: ..."), or if a command without
 * options has any. */
enum pw_code pw_args_limit(const struct pw_command *cmd, const struct pw_args *a, int min, int max,
                           struct pw_err *err);
/* Fail if the text of a raw command has more than `most` bytes, because its destination would cut it. */
enum pw_code pw_args_text(const struct pw_command *cmd, const struct pw_args *a, size_t most,
                          struct pw_err *err);
/* Like pw_args_limit, for a command with at most one word, a whole number from 1 to `most`. *n is unchanged
 * if there is no word. */
enum pw_code pw_args_number(const struct pw_command *cmd, const struct pw_args *a, long most, long *n,
                            struct pw_err *err);

/* Complete the word that ends at byte `point` of line (after a comma or '=', the part behind it). Calls
 * add(arg, candidate) with each text that may replace the bytes from the return value to point ("buckets=",
 * "rotary", "on"), quoted if necessary. Offers nothing inside parentheses and comments. `seen` may be
 * NULL. */
size_t pw_command_complete(const struct pw_commands *t, const struct pw_seen *seen, const char *line,
                           size_t point, void (*add)(void *arg, const char *candidate), void *arg);
/* Offer a candidate if it begins with the typed text. */
void pw_complete_offer(struct pw_completion *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Offer each name of a list that ends with NULL. */
void pw_complete_offer_all(struct pw_completion *c, const char *const *names);
/* Append a hint to show behind the cursor at the end of line: the rest of the usage ("NAME [key=value]"), or
 * after "key=" the allowed values. No leading blank. Appends nothing if there is no hint. */
void pw_command_hint(const struct pw_commands *t, const char *line, struct pw_str *out);

/* ---- help texts, made from the tables alone */
void pw_command_help_list(const struct pw_commands *t, struct pw_str *out); /* one line per command */
/* Append the help of a command, or with `word` (else NULL) the help of an argument. For a name that is no
 * command, lists the commands that match it. Fails with PW_EUSER if nothing matches. */
enum pw_code pw_command_help(const struct pw_commands *t, const char *name, const char *word,
                             struct pw_str *out, struct pw_err *err);
/* Append text for troff, with its special characters escaped. */
void pw_manual_text(struct pw_str *out, const char *text);
/* Append text as troff man macros. The text is written as `detail` is: tables, examples, sentences. t finds
 * the commands in examples; it may be NULL. */
void pw_manual_detail(const struct pw_commands *t, const char *text, struct pw_str *out);
/* Append the COMMANDS section of the manual page. */
void pw_command_manual(const struct pw_commands *t, struct pw_str *out);
/* Append Markdown: the list of commands; a page for each command; the options of one command as a table. A
 * line "<!-- page FILE -->" begins a page. The words of the command PW_REFERENCE_ENCODINGS have pages of
 * their own, which the caller adds. */
#define PW_REFERENCE_ENCODINGS "pe"
void pw_command_reference(const struct pw_commands *t, struct pw_str *out);
void pw_command_reference_pages(const struct pw_commands *t, struct pw_str *out);
void pw_reference_options(const struct pw_command *cmd, struct pw_str *out);

#endif
