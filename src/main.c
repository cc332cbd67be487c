/* main.c - options; joins the parts; the only file that ends the process.
 *
 * Exit status: 0 all well, 1 a command failed, 2 usage, 3 a verified session has other bits. */
#include <cjson/cJSON.h>
#include <getopt.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "command/commands/commands.h"
#include "lab/lab.h"
#include "sessions/pack.h"
#include "sessions/store.h"
#include "ui/app.h"
#include "ui/batch.h"
#include "ui/commands/commands.h"
#include "ui/plain.h"
#include "ui/replay.h"
#include "ui/report.h"

#define MAX_COMMANDS 128
#define MAX_SCRIPT   (1 << 20) /* bytes of a script */

static const char usage[] =
    "usage: pewter [options] [SESSION]            the workbench; with a session, where that ended\n"
    "       pewter [options] run FILE|-           a script, without a screen\n"
    "       pewter [options] -c 'COMMANDS'        the same, from the command line\n"
    "       pewter replay SESSION [options]       a recording, at any moment of it; --plain, --json print "
    "it\n"
    "       pewter replay SESSION --verify [--from STEP]\n"
    "                                             does it again, from its beginning or a step, and compares "
    "bits\n"
    "       pewter sessions [FOLDER]              what was recorded\n"
    "       pewter session pack NAME -o FILE      a session as one file, to be kept or handed on\n"
    "       pewter session unpack FILE [-o NAME]  and back\n"
    "\n"
    "  -c COMMANDS      commands, separated by ';' or new lines\n"
    "  --demo[=NAME]    begin with a demo: sort (default) or copy\n"
    "  --session NAME   record in this session, from where it ended if it is there (headless)\n"
    "  --no-session     record nothing (the workbench does, unless told so)\n"
    "  --json           print every event as one JSON object a line (headless)\n"
    "  --plain          lines instead of a screen: for screen readers and dumb terminals\n"
    "  --threads N      of the cpu backend; 0, the default: all processors\n"
    "  --manual         print the manual page (troff)\n"
    "  --version, --help\n"
    "\n"
    "pewter -c help lists the commands.\n";

struct options {
    const char *commands, *demo;
    const char *session; /* "": one without a name; NULL: none */
    const char *replay;  /* a session to be looked at; NULL: none */
    bool verify;         /* it is done again and compared, from step `from` (-1: its beginning) */
    int64_t from;
    bool unrecorded;
    bool json, plain, manual;
    bool talk; /* to somebody who reads lines as they come */
    int threads;
};

static void fail_usage(const char *fmt, const char *what)
{
    fputs("pewter: ", stderr);
    fprintf(stderr, fmt, what);
    fputs("; 'pewter --help' lists what is allowed\n", stderr);
    exit(2);
}

static void read_options(int argc, char **argv, struct options *o)
{
    enum { DEMO = 256, SESSION, NO_SESSION, VERIFY, FROM, JSON, PLAIN, THREADS, MANUAL, VERSION, HELP };
    static const struct option longs[] = {{"demo", optional_argument, NULL, DEMO},
                                          {"session", required_argument, NULL, SESSION},
                                          {"no-session", no_argument, NULL, NO_SESSION},
                                          {"verify", no_argument, NULL, VERIFY},
                                          {"from", required_argument, NULL, FROM},
                                          {"json", no_argument, NULL, JSON},
                                          {"plain", no_argument, NULL, PLAIN},
                                          {"threads", required_argument, NULL, THREADS},
                                          {"manual", no_argument, NULL, MANUAL},
                                          {"version", no_argument, NULL, VERSION},
                                          {"help", no_argument, NULL, HELP},
                                          {NULL, 0, NULL, 0}};
    long n;
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, "+:c:h", longs, NULL)) != -1;) {
        switch (c) {
        case 'c': o->commands = optarg; break;
        case DEMO: o->demo = optarg != NULL ? optarg : "sort"; break;
        case SESSION: o->session = optarg; break;
        case NO_SESSION: o->unrecorded = true; break;
        case VERIFY: o->verify = true; break;
        case FROM:
            if (!pw_text_int(optarg, 0, LONG_MAX, &n))
                fail_usage("--from %s: a step, 0 or more", optarg);
            o->from = n;
            break;
        case JSON: o->json = true; break;
        case PLAIN: o->plain = true; break;
        case MANUAL: o->manual = true; break;
        case THREADS:
            if (!pw_text_int(optarg, 0, 64, &n))
                fail_usage("--threads %s: a number, 0..64", optarg);
            o->threads = (int)n;
            break;
        case VERSION: puts("pewter " PEWTER_VERSION); exit(0);
        case 'h':
        case HELP: fputs(usage, stdout); exit(0);
        case ':': fail_usage("%s needs a value", argv[optind - 1]); break;
        default: fail_usage("no option '%s'", argv[optind - 1]);
        }
    }
}

/* All of standard input, up to the limit of a script. */
static char *read_stdin(void)
{
    char *text = pw_alloc(MAX_SCRIPT + 1, 1);
    size_t n = fread(text, 1, MAX_SCRIPT + 1, stdin);
    if (n > MAX_SCRIPT) {
        fprintf(stderr, "pewter: standard input: more than %d bytes\n", MAX_SCRIPT);
        exit(1);
    }
    text[n] = '\0';
    return text;
}

static char *read_file(const char *path)
{
    struct pw_err err;
    char *text = NULL;
    size_t size;
    if (strcmp(path, "-") == 0)
        return read_stdin();
    if (pw_file_read(path, MAX_SCRIPT, &text, &size, &err) == PW_OK && strlen(text) == size)
        return text;
    fprintf(stderr, "pewter: %s\n", text != NULL ? "the script has NUL bytes: it is no text" : err.msg);
    exit(1);
}

/* A session to go on with: `pewter NAME` doesn't make one. */
static const char *read_session(const char *name)
{
    struct pw_err err;
    char folder[PW_LINE * 4];
    if (pw_session_folder(folder, sizeof folder, name, &err) != PW_OK) {
        fprintf(stderr, "pewter: %s\n", err.msg);
        exit(2);
    }
    if (access(folder, F_OK) == 0)
        return name;
    fprintf(
        stderr,
        "pewter: no session '%s' (%s); 'pewter sessions' lists them, and the verbs are run, replay, session, "
        "sessions\n",
        name, folder);
    exit(2);
}

/* Of FILE what unpacking calls it unless told so: without folder and ending. */
static void name_of(char dst[PW_LINE], const char *file)
{
    const char *slash = strrchr(file, '/'), *base = slash != NULL ? slash + 1 : file,
               *dot = strrchr(base, '.');
    snprintf(dst, PW_LINE, "%.*s", dot != NULL && dot > base ? (int)(dot - base) : (int)strlen(base), base);
}

/* The verb `session`, which needs no laboratory. Returns the exit status. */
static int run_session(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "", *from = NULL, *to = NULL;
    char folder[PW_LINE * 4], name[PW_LINE];
    bool pack = strcmp(what, "pack") == 0;
    struct pw_err err;
    if (!pack && strcmp(what, "unpack") != 0)
        fail_usage("session: pack or unpack, not '%s'", what);
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "-o") == 0 && to == NULL && i + 1 < argc)
            to = argv[++i];
        else if (strcmp(argv[i], "-o") == 0)
            fail_usage(to == NULL ? "%s needs a value" : "two %s", argv[i]);
        else if (from != NULL)
            fail_usage("'%s': too many words", argv[i]);
        else
            from = argv[i];
    }
    if (from == NULL || (pack && to == NULL))
        fail_usage("session %s", pack ? "pack needs NAME and -o FILE" : "unpack needs FILE");
    name_of(name, from);
    enum pw_code code = pw_session_folder(folder, sizeof folder, pack ? from : to != NULL ? to : name, &err);
    if (code == PW_OK)
        code = pack ? pw_session_pack(folder, to, &err) : pw_session_unpack(from, folder, &err);
    if (code != PW_OK)
        fprintf(stderr, "pewter: session %s: %s\n", what, err.msg);
    else
        printf("%sed %s into %s\n", what, from, pack ? to : folder);
    return code != PW_OK;
}

/* The session after the verb; options may stand on either side of it. */
static const char *read_replay(int argc, char **argv, struct options *o)
{
    optind = 1;
    read_options(argc, argv, o);
    argc -= optind, argv += optind;
    if (argc == 0)
        fail_usage("%s needs a SESSION", "replay");
    optind = 1;
    read_options(argc, argv, o);
    if (optind < argc)
        fail_usage("'%s': too many words", argv[optind]);
    if (o->session != NULL || o->commands != NULL || o->demo != NULL)
        fail_usage("%s takes no --session, -c or --demo", "replay");
    return read_session(argv[0]);
}

/* What is to be run without a screen; NULL: nothing, it is the workbench. */
static char *read_script(struct options *o, int argc, char **argv)
{
    if (o->commands != NULL && argc > 0)
        fail_usage("-c and '%s' together", argv[0]);
    if (o->commands != NULL)
        return pw_text_dup(o->commands);
    if (argc == 0)
        return NULL;
    if (strcmp(argv[0], "session") == 0)
        exit(run_session(argc, argv));
    if (strcmp(argv[0], "run") == 0) {
        if (argc != 2)
            fail_usage("%s needs one FILE, or - for standard input", "run");
        return read_file(argv[1]);
    }
    if (strcmp(argv[0], "replay") == 0) {
        o->replay = read_replay(argc, argv, o);
        return NULL;
    }
    if (argc > (strcmp(argv[0], "sessions") == 0 ? 2 : 1))
        fail_usage("'%s': too many words", argv[argc - 1]);
    if (strcmp(argv[0], "sessions") == 0) {
        struct pw_str text = {0};
        pw_str_add(&text, argc == 2 ? "sessions \"%s\"" : "sessions", argv[1]);
        return text.s;
    }
    if (o->session != NULL)
        fail_usage("--session and '%s' together", argv[0]);
    o->session = read_session(argv[0]);
    return NULL;
}

static void print_event(void *arg, const struct pw_event *e, const struct pw_snapshot *s)
{
    const struct options *o = arg;
    pw_report_event(stdout, e, s, o->json);
    if (o->talk)
        pw_report_change(stdout, e, s);
}

static void print_manual(const struct pw_commands *all)
{
    struct pw_str s = {0};
    pw_command_manual(all, &s);
    printf(".TH PEWTER 1 \"\" \"pewter " PEWTER_VERSION "\"\n.SH NAME\n"
           "pewter \\- a terminal workbench for positional encodings\n.SH SYNOPSIS\n.nf\n%s.fi\n%s"
           ".SH FILES\n.TP\n$XDG_CONFIG_HOME/pewter/pewterrc, else ~/.config/pewter/pewterrc\n"
           "commands of the workbench, run when it begins; `config save` writes it\n"
           ".TP\n$XDG_STATE_HOME/pewter/sessions, else ~/.local/state/pewter/sessions\n"
           "what was recorded\n"
           ".TP\n$XDG_STATE_HOME/pewter/history, else ~/.local/state/pewter/history\n"
           "the lines that were typed\n"
           ".SH EXIT STATUS\n0 all well, 1 a command failed, 2 usage, 3 a verified session has other bits.\n",
           usage + strlen("usage: "), pw_str_text(&s));
    pw_str_fini(&s);
}

static int run_workbench(struct pw_lab *lab, const struct pw_commands *all, const char *script)
{
    struct pw_err err;
    struct pw_app_config app = {.script = script};
    if (pw_app_run(lab, all, &app, &err) == PW_OK)
        return 0;
    fprintf(stderr, "pewter: %s\n", err.msg);
    return 1;
}

static int replay(const struct options *o, const struct pw_commands *all)
{
    char folder[PW_LINE * 4];
    struct pw_err err;
    struct pw_app_config app = {0};
    enum pw_code code = pw_session_folder(folder, sizeof folder, o->replay, &err);
    bool screen = !o->plain && !o->json && pw_app_possible();
    if (code == PW_OK && screen)
        code = pw_player_open(&app.recording, folder, &err);
    if (code == PW_OK)
        code = screen ? pw_app_run(NULL, all, &app, &err) : pw_replay_print(stdout, folder, o->json, &err);
    if (code != PW_OK)
        fprintf(stderr, "pewter: %s\n", err.msg);
    return code == PW_OK ? 0 : 1;
}

/* The verdict as a line or an object; the exit status. */
static int print_verdict(const struct pw_verdict *v, bool json)
{
    static const char *const ends[] = {"equal", "different", "stopped"}; /* enum pw_follow_end */
    static const int status[] = {0, 3, 1};
    if (!json) {
        puts(v->text);
        return status[v->end];
    }
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "kind", "verdict");
    cJSON_AddStringToObject(o, "end", ends[v->end]);
    cJSON_AddStringToObject(o, "text", v->text);
    cJSON_AddNumberToObject(o, "commands", (double)v->commands);
    cJSON_AddNumberToObject(o, "steps", (double)v->steps);
    cJSON_AddNumberToObject(o, "digests", (double)v->digests);
    cJSON_AddNumberToObject(o, "evals", (double)v->evals);
    cJSON_AddNumberToObject(o, "tokens", (double)v->tokens);
    cJSON_AddNumberToObject(o, "models", (double)v->models);
    cJSON_AddNumberToObject(o, "others", (double)v->others);
    if (v->end == PW_FOLLOW_DIFFERENT) {
        cJSON_AddNumberToObject(o, "seq", (double)v->seq);
        cJSON_AddNumberToObject(o, "arm", v->arm);
        cJSON_AddNumberToObject(o, "replicate", v->replicate > 0 ? v->replicate : 1);
        cJSON_AddNumberToObject(o, "step", (double)v->step);
        cJSON_AddStringToObject(o, "what", v->what);
        cJSON_AddStringToObject(o, "recorded", v->recorded);
        cJSON_AddStringToObject(o, "now", v->now);
    }
    char *text = cJSON_PrintUnformatted(o);
    puts(text);
    cJSON_free(text);
    cJSON_Delete(o);
    return status[v->end];
}

/* The exit status, unless what was printed did not arrive. */
static int finish(int status)
{
    if (fflush(stdout) == 0 && ferror(stdout) == 0)
        return status;
    fprintf(stderr, "pewter: standard output could not be written\n");
    return 1;
}

/* cJSON can't tell a lack of memory from a text that is wrong, or from a value that is not there. */
static void *json_memory(size_t bytes)
{
    return pw_grow(NULL, bytes, 1);
}

int main(int argc, char **argv)
{
    static const struct pw_command *list[MAX_COMMANDS];
    const struct pw_commands all = {list}, labs = {pw_lab_commands};
    struct options o = {.from = -1};
    struct pw_lab *lab = NULL;
    struct pw_err err;
    int status;

    cJSON_InitHooks(&(cJSON_Hooks){.malloc_fn = json_memory, .free_fn = free});
    setlocale(LC_ALL, "");
    setlocale(LC_NUMERIC, "C"); /* numbers are written the same everywhere */
    pw_commands_join(list, pw_commands_join(list, 0, pw_lab_commands), pw_ui_commands);
    read_options(argc, argv, &o);
    char *script = read_script(&o, argc - optind, argv + optind);
    if (o.manual) {
        print_manual(&all);
        return 0;
    }
    if (o.replay == NULL && (o.verify || o.from >= 0))
        fail_usage("%s is of 'replay SESSION --verify'", o.verify ? "--verify" : "--from");
    if (o.from >= 0 && !o.verify)
        fail_usage("%s is of 'replay SESSION --verify'", "--from");
    if (o.replay != NULL && !o.verify)
        return finish(replay(&o, &all));
    if (o.verify) { /* without a screen, and nothing is to be run but what is recorded */
        o.session = o.replay;
        script = pw_text_dup("");
    }
    bool headless = script != NULL;
    FILE *words = o.json ? stderr : stdout;
    bool plain = !headless && (o.plain || !pw_app_possible());
    o.talk = plain && !o.json && isatty(STDIN_FILENO);
    struct pw_str demo = {0};
    if (o.demo != NULL)
        pw_str_add(&demo, "demo %s", o.demo);
    struct pw_lab_config cfg = {.commands = &labs,
                                .help = &all,
                                .threads = o.threads,
                                .live = !headless && !plain,
                                .on_event = headless || plain ? print_event : NULL,
                                .session = o.unrecorded ? NULL
                                           : o.session  ? o.session
                                           : headless   ? NULL
                                                        : "",
                                .verify = o.verify,
                                .from = o.from,
                                .on_event_arg = &o};
    if (!headless)
        pw_app_block_signals(); /* before any thread is made */
    if (pw_lab_create(&lab, &cfg, &err) != PW_OK) {
        fprintf(stderr, "pewter: %s\n", err.msg);
        return 1;
    }
    if (headless)
        status = pw_batch_run(lab, &all, script, words);
    else if (plain)
        status = pw_plain_run(lab, &all, demo.s, words);
    else
        status = run_workbench(lab, &all, demo.s);
    if (o.verify)
        status = print_verdict(pw_lab_verdict(lab), o.json);
    pw_lab_destroy(lab);
    free(script);
    pw_str_fini(&demo);
    return finish(status);
}
