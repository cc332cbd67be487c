/* options.c - reads the command line. It checks combinations of options; main.c checks files and sessions. */
#include "options.h"

#include <getopt.h>
#include <limits.h>
#include <string.h>

#include "base/text.h"

const char pw_usage[] = "usage: pewter [options] [SESSION]\n"
                        "           the workbench; a session continues where it ended, a new name makes\n"
                        "           one, and of a packed one the recording is shown\n"
                        "       pewter [options] run FILE|-           run a script, without a screen\n"
                        "       pewter [options] -c 'COMMANDS'        the same, from the command line\n"
                        "       pewter replay SESSION                 show a recording at any moment;\n"
                        "                                             --plain and --json print it\n"
                        "       pewter replay SESSION -c 'COMMANDS'   without a screen: goto, show,\n"
                        "                          screenshot, export figure|cast|events|session\n"
                        "       pewter replay SESSION --from STEP     continue from STEP, as a new\n"
                        "                                             session; also with -c\n"
                        "       pewter replay SESSION --verify [--from STEP]\n"
                        "           re-run it, from the beginning or from STEP, and compare every bit\n"
                        "       pewter sessions [FOLDER] [by=use|size]\n"
                        "                                             list the recorded sessions\n"
                        "       pewter sessions prune older=30d [keep=named|none] [--yes]\n"
                        "           delete the sessions that were not used for that time (d, h or w);\n"
                        "           keep=named, the default: only those that you gave no name\n"
                        "       pewter devices                        list the devices for training\n"
                        "       pewter doctor                         check the installation: terminal,\n"
                        "                                             devices, folders\n"
                        "       pewter session pack NAME -o FILE      write a session as one file\n"
                        "       pewter session unpack FILE [-o NAME]  restore a session from such a file\n"
                        "       pewter session delete|rm NAME [--yes] delete it; refused while open\n"
                        "       pewter study VERB NAME ...            experiments: new, ready, size,\n"
                        "           run, status, stop, report, gather, weights, add, list\n"
                        "           (-c 'help study' explains)\n"
                        "\n"
                        "  -c COMMANDS      commands, separated by ';' or new lines\n"
                        "  --demo[=NAME]    begin with a demo: sort (default), copy or text\n"
                        "  --session NAME   record in this session, and continue it if it exists\n"
                        "                   (headless)\n"
                        "  --no-session     record nothing (by default the workbench records)\n"
                        "  --json           print every event as one JSON object per line (headless)\n"
                        "  --plain          lines instead of a screen: for screen readers and dumb\n"
                        "                   terminals\n"
                        "  --backend NAME   device: cpu (default), cuda, cuda:N, auto; also with a mode,\n"
                        "                   'cuda mode=ref', as in the command backend. A session uses\n"
                        "                   it if its own device is missing\n"
                        "  --threads N      threads of the cpu backend; 0, the default: all processors\n"
                        "  --yes            delete without a question (session delete, sessions prune)\n"
                        "  --manual[=PAGE]  print the manual page (troff), or the page of all commands\n"
                        "                   or formulas\n"
                        "  --reference      print a page for each command and encoding (Markdown)\n"
                        "  --completion SHELL  print completion for bash, zsh or fish\n"
                        "  --version, --help\n"
                        "\n"
                        "pewter -c help lists the commands.\n";

enum {
    DEMO = 256,
    SESSION,
    NO_SESSION,
    VERIFY,
    FROM,
    JSON,
    PLAIN,
    BACKEND,
    THREADS,
    YES,
    MANUAL,
    REFERENCE,
    COMPLETION,
    VERSION,
    HELP,
    AFTER /* the last one */
};

/* The place of a long option in the table below, behind the options of one letter. */
#define LONG_AT(code) (2 + (code)-DEMO)
#define LONG(code)    [LONG_AT(code)]

const struct pw_usage_word pw_option_words[] = {
    {.name = "c", .value = PW_VALUE_OTHER, .help = "run these commands without a screen"},
    {.name = "o", .value = PW_VALUE_FILE, .help = "the file or session that is written"},
    LONG(DEMO) = {.name = "demo",
                  .value = PW_VALUE_WORDS,
                  .words = "sort copy text",
                  .optional = true,
                  .help = "begin with a demo"},
    LONG(SESSION) = {.name = "session", .value = PW_VALUE_SESSION, .help = "record in this session"},
    LONG(NO_SESSION) = {.name = "no-session", .help = "record nothing"},
    LONG(VERIFY) = {.name = "verify", .help = "re-run a recording and compare every bit"},
    LONG(FROM) = {.name = "from",
                  .value = PW_VALUE_OTHER,
                  .help = "continue or verify a recording from this step"},
    LONG(JSON) = {.name = "json", .help = "print events as JSON"},
    LONG(PLAIN) = {.name = "plain", .help = "lines instead of a screen"},
    LONG(BACKEND) = {.name = "backend",
                     .value = PW_VALUE_WORDS,
                     .words = "cpu cuda auto",
                     .help = "the device for training"},
    LONG(THREADS) = {.name = "threads", .value = PW_VALUE_OTHER, .help = "threads of the cpu backend"},
    LONG(YES) = {.name = "yes", .help = "delete without a question"},
    LONG(MANUAL) = {.name = "manual",
                    .value = PW_VALUE_WORDS,
                    .words = "commands formulas",
                    .optional = true,
                    .help = "print a manual page"},
    LONG(REFERENCE) = {.name = "reference", .help = "print a page for each command and encoding"},
    LONG(COMPLETION) = {.name = "completion",
                        .value = PW_VALUE_WORDS,
                        .words = "bash zsh fish",
                        .help = "print completion for a shell"},
    LONG(VERSION) = {.name = "version", .help = "print version, commit and backends"},
    LONG(HELP) = {.name = "help", .help = "print usage"},
    LONG(AFTER) = {.name = NULL}};

const struct pw_usage_word pw_verb_words[] = {
    {.name = "run", .value = PW_VALUE_FILE, .help = "run a script without a screen"},
    {.name = "replay", .value = PW_VALUE_SESSION, .help = "show a recording at any moment"},
    {.name = "sessions",
     .value = PW_VALUE_LIST,
     .words = "prune by=use by=size",
     .after = "older=7d older=30d keep=named keep=none",
     .help = "list the recorded sessions"},
    {.name = "session",
     .value = PW_VALUE_WORDS,
     .words = "pack unpack delete rm",
     .help = "pack, unpack or delete a session"},
    {.name = "study", .value = PW_VALUE_STUDY, .help = "experiments over tasks and seeds"},
    {.name = "devices", .help = "list the devices for training"},
    {.name = "doctor", .help = "check terminal, devices and folders"},
    {.name = NULL}};

static enum pw_code fail(struct pw_err *err, const char *fmt, const char *what)
{
    char text[sizeof err->msg];
    pw_fail(err, PW_EUSER, fmt, what);
    memcpy(text, err->msg, sizeof text);
    return pw_fail(err, PW_EUSER, "%.300s; 'pewter --help' lists what is allowed", text);
}

/* Reads the options, which can be before, between and after the words. Sets *verify, and o->verb for the
 * options that select one. */
static enum pw_code read_flags(struct pw_options *o, bool *verify, int argc, char **argv, struct pw_err *err)
{
    struct option longs[AFTER - DEMO + 1] = {{0}};
    long n;
    for (int code = DEMO; code < AFTER; code++) {
        const struct pw_usage_word *w = &pw_option_words[LONG_AT(code)];
        int value = w->value == PW_VALUE_NONE ? no_argument
                    : w->optional             ? optional_argument
                                              : required_argument;
        longs[code - DEMO] = (struct option){.name = w->name, .has_arg = value, .val = code};
    }
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":c:o:h", longs, NULL)) != -1;) {
        switch (c) {
        case 'c': o->commands = optarg; break;
        case 'o': o->output = optarg; break;
        case DEMO: o->demo = optarg != NULL ? optarg : "sort"; break;
        case SESSION:
            if (optarg[0] == '\0') /* an unset variable of a script: nothing would be recorded */
                return fail(err, "%s: the name is empty", "--session");
            o->session = optarg;
            break;
        case NO_SESSION: o->unrecorded = true; break;
        case VERIFY: *verify = true; break;
        case FROM:
            if (!pw_text_int(optarg, 0, LONG_MAX, &n))
                return fail(err, "--from %s: must be a step, 0 or more", optarg);
            o->from = n;
            break;
        case JSON: o->json = true; break;
        case PLAIN: o->plain = true; break;
        case BACKEND:
            if (optarg[0] == '\0' || strpbrk(optarg, ";\n#") != NULL)
                return fail(err, "--backend '%s': allowed are cpu, cuda, cuda:N, auto", optarg);
            o->backend = optarg;
            break;
        case THREADS:
            if (!pw_text_int(optarg, 0, 64, &n))
                return fail(err, "--threads %s: allowed are 0..64", optarg);
            o->threads = (int)n;
            break;
        case YES: o->yes = true; break;
        case MANUAL:
            if (optarg != NULL && strcmp(optarg, "commands") != 0 && strcmp(optarg, "formulas") != 0)
                return fail(err, "--manual=%s: allowed are commands, formulas", optarg);
            o->verb = PW_VERB_MANUAL;
            o->page = optarg;
            break;
        case REFERENCE: o->verb = PW_VERB_REFERENCE; break;
        case COMPLETION:
            if (strcmp(optarg, "bash") != 0 && strcmp(optarg, "zsh") != 0 && strcmp(optarg, "fish") != 0)
                return fail(err, "--completion %s: allowed are bash, zsh, fish", optarg);
            o->verb = PW_VERB_COMPLETION;
            o->shell = optarg;
            break;
        case VERSION: o->verb = PW_VERB_VERSION; break;
        case 'h':
        case HELP: o->verb = PW_VERB_HELP; break;
        case ':': return fail(err, "%s needs a value", argv[optind - 1]);
        default: return fail(err, "no option '%s'", argv[optind - 1]);
        }
    }
    return PW_OK;
}

/* Reads the words after `sessions`: prune with its options, or what to list. */
static enum pw_code read_sessions(struct pw_options *o, int n, char **word, struct pw_err *err)
{
    if (n > 0 && strcmp(word[0], "prune") == 0) {
        o->verb = PW_VERB_PRUNE;
        o->words = word + 1;
        o->n_words = n - 1;
        return PW_OK;
    }
    o->list = true;
    for (int i = 0; i < n; i++) {
        const char **into = strncmp(word[i], "by=", 3) == 0 ? &o->by : &o->folder;
        if (*into != NULL)
            return fail(err, "'%s': too many words", word[i]);
        *into = into == &o->by ? word[i] + 3 : word[i];
    }
    return PW_OK;
}

/* Reads the words that are not options: a verb with its argument, or a session. */
static enum pw_code read_words(struct pw_options *o, int n, char **word, struct pw_err *err)
{
    const char *verb = n > 0 ? word[0] : "";
    if (strcmp(verb, "study") == 0) {
        o->verb = PW_VERB_STUDY;
        o->words = word + 1;
        o->n_words = n - 1;
        return PW_OK;
    } /* its words are its own, also empty ones */
    for (int i = 0; i < n; i++)
        if (word[i][0] == '\0')
            return fail(err, "%s is empty", n > 1 ? "a word" : "the session's name");
    bool session = strcmp(verb, "session") == 0;
    int most = session ? 3 : strcmp(verb, "run") == 0 || strcmp(verb, "replay") == 0 ? 2 : 1;
    const char *about = n == most && most > 1 ? word[most - 1] : NULL;
    if (n > 0 && o->commands != NULL && strcmp(verb, "replay") != 0)
        return fail(err, "-c and '%s' together", verb);
    if (strcmp(verb, "run") == 0) {
        o->file = about;
        return about != NULL ? PW_OK : fail(err, "%s needs one FILE, or - for standard input", verb);
    }
    if (strcmp(verb, "sessions") == 0)
        return read_sessions(o, n - 1, word + 1, err);
    bool alone = strcmp(verb, "devices") == 0 || strcmp(verb, "doctor") == 0;
    if (n > most && most == 1 && !alone) /* a word followed by another word is a verb */
        return fail(err, "no verb '%s'; there are run, replay, session, sessions, study, devices, doctor",
                    verb);
    if (n > most)
        return fail(err, "'%s': too many words", word[n - 1]);
    if (strcmp(verb, "devices") == 0) {
        o->commands = "devices";
        return PW_OK;
    }
    if (strcmp(verb, "doctor") == 0) {
        o->verb = PW_VERB_DOCTOR;
        return PW_OK;
    }
    if (strcmp(verb, "replay") == 0) {
        if (o->session != NULL)
            return fail(err, "%s: --session is not allowed; name the session after the verb", verb);
        o->verb = PW_VERB_REPLAY;
        o->session = about;
        return about != NULL ? PW_OK : fail(err, "%s needs a SESSION", verb);
    }
    if (n > 0 && o->session != NULL)
        return fail(err, "--session and '%s' together", verb);
    if (session) {
        const char *what = n > 1 ? word[1] : "";
        bool gone = strcmp(what, "delete") == 0 || strcmp(what, "rm") == 0;
        o->verb = gone ? PW_VERB_DELETE : strcmp(what, "pack") == 0 ? PW_VERB_PACK : PW_VERB_UNPACK;
        o->session = about;
        if (o->verb == PW_VERB_UNPACK && strcmp(what, "unpack") != 0)
            return fail(err, "session: pack, unpack or delete (rm), not '%s'", what);
        if (about == NULL || (o->verb == PW_VERB_PACK && o->output == NULL))
            return fail(err, "session %s",
                        o->verb == PW_VERB_PACK     ? "pack needs NAME and -o FILE"
                        : o->verb == PW_VERB_DELETE ? "delete needs NAME"
                                                    : "unpack needs FILE");
        return PW_OK;
    }
    o->named = n > 0;
    o->session = n > 0 ? word[0] : o->session;
    return PW_OK;
}

enum pw_code pw_options_read(struct pw_options *o, int argc, char **argv, struct pw_err *err)
{
    bool verify = false;
    *o = (struct pw_options){.from = -1};
    enum pw_code code = read_flags(o, &verify, argc, argv, err);
    if (code != PW_OK || o->verb != PW_VERB_LAB)
        return code;
    code = read_words(o, argc - optind, argv + optind, err);
    if (code != PW_OK)
        return code;
    bool replay = o->verb == PW_VERB_REPLAY;
    if (o->unrecorded && o->session != NULL)
        return fail(err, "--no-session and the session '%s' together", o->session);
    if (!replay && (verify || o->from >= 0))
        return fail(err, "%s is only allowed with 'replay SESSION'", verify ? "--verify" : "--from");
    if (o->yes && o->verb != PW_VERB_DELETE && o->verb != PW_VERB_PRUNE)
        return fail(err, "%s is only allowed with 'session delete' and 'sessions prune'", "--yes");
    if (o->output != NULL && o->verb != PW_VERB_PACK && o->verb != PW_VERB_UNPACK)
        return fail(err, "%s is only allowed with 'session pack' and 'session unpack'", "-o");
    if (replay && (o->demo != NULL || (o->commands != NULL && verify)))
        return fail(err, "replay: %s is not allowed", o->demo != NULL ? "--demo" : "-c with --verify");
    if (replay && o->backend != NULL && (verify || o->from < 0))
        return fail(err, "%s has no effect on replay: it computes nothing, and --verify computes as recorded",
                    "--backend");
    if (replay && verify)
        o->verb = PW_VERB_VERIFY;
    else if (replay && o->from >= 0)
        o->verb = PW_VERB_LAB;
    o->must_exist = o->must_exist || replay;
    return PW_OK;
}
