/* command.h - the command language: what a line is, and what a command is. It knows the meaning of none.
 *
 *   line     = command { (";" | newline) command }
 *   command  = name { word | key=value }      '#' at the start of a word begins a comment
 *   word     = anything without blanks, or "quoted" with \" and \\ inside
 * A raw command (prompt, say, mark) takes the rest of the line up to an unquoted ';' as it stands, one
 * enclosing pair of quotes removed. key=value splits at the first '='; a quoted word is never split.
 * Parentheses keep a word together: t5(buckets=8,distance=16). */
#ifndef PW_COMMAND_H
#define PW_COMMAND_H
#include "base/err.h"
#include "base/opt.h"
#include "base/text.h"
#include <stdbool.h>
#include <stddef.h>

#define PW_MAX_WORDS 32

struct pw_word {
    char *key;   /* NULL for a plain word */
    char *value; /* the word, or what stands after '=' */
};

/* One parsed command; owns its memory. */
struct pw_args {
    char *text; /* the command as typed, trimmed, without comment */
    char *name; /* the command's, also where an alias was typed */
    char *rest; /* everything after the name, trimmed, one enclosing pair of quotes removed: raw commands */
    int n;
    struct pw_word words[PW_MAX_WORDS];
};

enum pw_where { PW_AT_LAB, PW_AT_UI };

/* What completion may look at, by enum pw_where: plain values which the commands there can read (the
 * laboratory's snapshot, the workbench's state). NULL: nothing is known. */
struct pw_seen {
    const void *by[2];
};

/* The word that is being completed, as a command sees it. */
struct pw_completion {
    const struct pw_args *so_far; /* the words between the name and this one, also of a raw command */
    int at;                       /* so many plain words among them: 0 is the first after the name */
    const char *key;              /* of the value that is typed; NULL: it is a plain word */
    const void *seen;             /* struct pw_seen's, of the command's place */
    /* for pw_complete_offer: what is typed of it, unquoted; did it begin with a quote; where offers go */
    const char *prefix;
    bool quoted;
    void (*add)(void *arg, const char *candidate);
    void *arg;
};

struct pw_command {
    const char *name;
    const char *usage;   /* "pe NAME [key=value]" */
    const char *summary; /* one line */
    const char *detail;  /* more lines for `help NAME`, or NULL */
    enum pw_where where;
    const char *const *aliases; /* other names that run it (vi's "q!"); NULL-terminated, or NULL */
    const char *search;         /* words by which a user may look for it, "rewind history"; or NULL */
    bool raw;                   /* takes the rest of the line as it stands */
    bool beside; /* doesn't wait for an answer that is being decoded: neither needs it nor changes
                    what it comes from */
    bool lasts;  /* goes on in the background: what stands behind it in a typed line waits for its end */
    const struct pw_opt *opts; /* its own key=value table, for help and completion; or NULL */
    const struct pw_opt *also; /* a second one that stands beside any other: arm=K; or NULL */
    /* The table instead of opts, where the keys depend on the words given so far (pe: the encoding's); NULL
     * from it: opts. */
    const struct pw_opt *(*opts_for)(const struct pw_args *so_far);
    /* Says more of a word that may stand behind the name (an encoding, a probe, a study), for `help NAME
     * WORD`; false: it is none. NULL: there is no more to say. */
    bool (*about)(const char *word, struct pw_str *out);
    int file_at;    /* the name of a file may be the N-th word after the name, from 1; 0: none */
    int command_at; /* and the name of a command; 0: none */
    /* Offers the words that may stand there, by pw_complete_offer; options are not among them. NULL: nothing
     * to offer. */
    void (*complete)(struct pw_completion *c);
    /* The same for the value of c->key, beside what its row in a table says. */
    void (*values)(struct pw_completion *c);
    /* Is it, with these arguments, about the world outside and not about the laboratory (it writes a file, it
     * chooses among machines that give the same bits)? Then it isn't done again where a recording is
     * followed. NULL: never. */
    bool (*outside)(const struct pw_args *args);
    /* ctx: the lab or the UI, by where. */
    enum pw_code (*run)(void *ctx, const struct pw_args *args, struct pw_err *err);
};

/* A table of commands: joined from several arrays by main. */
struct pw_commands {
    const struct pw_command *const *list; /* NULL-terminated */
};

/* Puts the commands of more (NULL-terminated) behind the n of list; one whose name is there already takes its
 * place: the workbench's half of `set` hands on to the lab's what it doesn't know. Returns how many list has
 * now, and ends it with NULL. */
int pw_commands_join(const struct pw_command **list, int n, const struct pw_command *const *more);

/* The command with this name or alias; NULL: there is none. */
const struct pw_command *pw_command_find(const struct pw_commands *t, const char *name);
/* Fails with "no command 'trian'; did you mean 'train'?", and suggests those that have it as a search word.
 * Returns PW_EUSER. */
enum pw_code pw_command_unknown(const struct pw_commands *t, const char *name, struct pw_err *err);

/* Is a command about a word: by its name, aliases, summary or search words, or does its help mention it? */
enum pw_about { PW_ABOUT_NOT, PW_ABOUT_MENTIONS, PW_ABOUT_IT };
enum pw_about pw_command_about(const struct pw_command *cmd, const char *word);
/* Up to `most` commands that are about a word, or where there are none, those whose help mentions it. Returns
 * how many. */
int pw_commands_about(const struct pw_commands *t, const char *word, const struct pw_command **out, int most);

/* Splits text into command texts: calls each(arg, text of one command, its line from 1 on) in order; stops
 * and returns its code when it is not PW_OK. An unterminated quote is an error before anything is called.
 * Comments and empty commands are skipped. */
enum pw_code pw_commands_split(const char *text,
                               enum pw_code (*each)(void *arg, const char *command, int line), void *arg,
                               struct pw_err *err);

/* In a queue of commands, a text that begins so is none: it says where those behind it stand, "s.pewter:5".
 * No line that is read can have this character. */
#define PW_PLACE '\001'

/* Can all commands of text be parsed? What is wrong is told with its place in text, which one command alone
 * can't.
 */
enum pw_code pw_commands_check(const struct pw_commands *t, const char *text, struct pw_err *err);

/* Parses one command; on failure *args is empty and *cmd NULL. Unknown names give the nearest one as a
 * suggestion. A raw command has no words, only rest. */
enum pw_code pw_command_parse(const struct pw_commands *t, const char *text, struct pw_args *args,
                              const struct pw_command **cmd, struct pw_err *err);
void pw_args_fini(struct pw_args *a);

bool pw_command_outside(const struct pw_args *args); /* struct pw_command's outside: always */

/* Helpers for run functions. */
/* The plain words only (keys skipped); i from 0; NULL past the end. */
const char *pw_args_word(const struct pw_args *a, int i);
int pw_args_words(const struct pw_args *a);
/* The value of key, or NULL. */
const char *pw_args_key(const struct pw_args *a, const char *key);
/* Sets every key=value of a by table into target (NULL: the command has no options); keys that are not in it
 * are an error, after which target may be set in part: give it a copy of what must stay as it was. */
enum pw_code pw_args_opts(const struct pw_args *a, const struct pw_opt *table, void *target,
                          struct pw_err *err);
/* Fails unless there are min to max plain words: "NAME: too many words; usage: ...", and at options of a
 * command that has none. */
enum pw_code pw_args_limit(const struct pw_command *cmd, const struct pw_args *a, int min, int max,
                           struct pw_err *err);
/* Fails where the text of a raw command has more than so many bytes: what keeps it would cut it. */
enum pw_code pw_args_text(const struct pw_command *cmd, const struct pw_args *a, size_t most,
                          struct pw_err *err);
/* The same as pw_args_limit for a command of one word at most, a whole number from 1 to most; n stays where
 * there is none. */
enum pw_code pw_args_number(const struct pw_command *cmd, const struct pw_args *a, long most, long *n,
                            struct pw_err *err);

/* Completion of the word that ends at byte `point` of line; after a comma or '=' of what follows it. Calls
 * add(arg, candidate) with what may stand from the returned byte to point ("buckets=", "rotary", "on"),
 * quoted where it must be. Nothing is offered inside parentheses and comments. seen NULL: nothing is known.
 */
size_t pw_command_complete(const struct pw_commands *t, const struct pw_seen *seen, const char *line,
                           size_t point, void (*add)(void *arg, const char *candidate), void *arg);
/* Offers a candidate, if what is typed is its beginning. */
void pw_complete_offer(struct pw_completion *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Each of a list that ends with NULL. */
void pw_complete_offer_all(struct pw_completion *c, const char *const *names);
/* What could come next, for the hint behind the cursor at the end of line: the rest of the usage, "NAME
 * [key=value]", or after "key=" the values allowed. Leaves out empty if nothing is known. No blank before it.
 */
void pw_command_hint(const struct pw_commands *t, const char *line, struct pw_str *out);

/* Help texts, from the tables alone. */
void pw_command_help_list(const struct pw_commands *t, struct pw_str *out); /* one line a command */
/* word: of what the command takes, that more is wanted of; NULL: of the command itself. Of a name that is no
 * command's: the commands that are about it. */
enum pw_code pw_command_help(const struct pw_commands *t, const char *name, const char *word,
                             struct pw_str *out, struct pw_err *err);
/* Appends a text of the manual page (troff man macros) that is written as details are: tables, examples,
 * sentences. t: of the examples, or NULL. */
void pw_manual_detail(const struct pw_commands *t, const char *text, struct pw_str *out);
/* The COMMANDS section of the manual page. */
void pw_command_manual(const struct pw_commands *t, struct pw_str *out);

#endif
