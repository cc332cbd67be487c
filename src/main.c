/* main.c - reads the options and joins the parts. It is the only file that ends the process, except without
 * memory (base/alloc.c).
 *
 * Exit status: 0 success; 1 a command failed or the session is incomplete on disk; 2 usage; 3 a verified
 * session has other bits. After a signal that ended the run in order, the process dies by that signal. */
#include <cjson/cJSON.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "charset.h"
#include "command/commands/commands.h"
#include "completion.h"
#include "doctor.h"
#include "entry.h"
#include "lab/follow.h"
#include "lab/lab.h"
#include "manual.h"
#include "options.h"
#include "reference.h"
#include "remove.h"
#include "sessions/pack.h"
#include "sessions/store.h"
#include "study/verbs/verbs.h"
#include "ui/app.h"
#include "ui/batch.h"
#include "ui/commands/commands.h"
#include "ui/opening.h"
#include "ui/plain.h"
#include "ui/replay.h"
#include "ui/report.h"
#include "version.h"

#define MAX_COMMANDS 128
#define MAX_SCRIPT   (1 << 20) /* bytes of a script */

static void fail(const char *what, int status)
{
    fprintf(stderr, "pewter: %s\n", what);
    exit(status);
}

/* Reads standard input up to the limit of a script. */
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
    fprintf(stderr, "pewter: %s\n", text != NULL ? "the script has NUL bytes; it must be text" : err.msg);
    exit(1);
}

static void folder_of(char dst[PW_LINE * 4], const char *session)
{
    struct pw_err err;
    if (pw_session_folder(dst, PW_LINE * 4, session, &err) != PW_OK)
        fail(err.msg, 2);
}

/* Decides on a missing session: `pewter NAME` makes it, at a terminal, where the user sees the message. Verbs
 * never make one, and neither does a script with a wrong name. A packed session can only be replayed. */
static void check_session(struct pw_options *o, const struct pw_commands *all)
{
    char folder[PW_LINE * 4];
    struct stat st;
    struct pw_err err;
    folder_of(folder, o->session);
    if (stat(folder, &st) == 0) {
        if (o->verb == PW_VERB_LAB && o->from < 0 && S_ISREG(st.st_mode))
            o->verb = PW_VERB_REPLAY;
        return;
    }
    if (o->must_exist || strpbrk(o->session, "/.") != NULL) {
        fprintf(
            stderr,
            "pewter: no session '%s' (%s) and no packed one; 'pewter sessions' lists them, and the verbs are "
            "run, replay, session, sessions, study, devices, doctor\n",
            o->session, folder);
        exit(2);
    }
    if (pw_entry_check(all, o->session, &err) != PW_OK)
        fail(err.msg, 2);
    if (!isatty(STDIN_FILENO)) {
        fprintf(stderr, "pewter: no session '%s'; without a terminal, '--session %s' creates it\n",
                o->session, o->session);
        exit(2);
    }
    o->fresh = true;
}

/* Returns the script to run without a screen; NULL: no script, start the workbench. */
static char *read_script(const struct pw_options *o)
{
    struct pw_str text = {0};
    if (o->commands != NULL)
        return pw_text_dup(o->commands);
    if (o->file != NULL)
        return read_file(o->file);
    if (!o->list)
        return o->verb == PW_VERB_VERIFY ? pw_text_dup("") : NULL; /* re-run the recorded commands only */
    pw_str_add(&text, "sessions");
    if (o->folder != NULL) {
        pw_str_add(&text, " ");
        pw_str_quote(&text, o->folder);
    }
    if (o->by != NULL) {
        pw_str_add(&text, " by=");
        pw_str_quote(&text, o->by);
    }
    return text.s;
}

/* Derives the default name of an unpacked session from FILE: without folder and extension. */
static void name_of(char dst[PW_LINE], const char *file)
{
    const char *slash = strrchr(file, '/'), *base = slash != NULL ? slash + 1 : file,
               *dot = strrchr(base, '.');
    snprintf(dst, PW_LINE, "%.*s", dot != NULL && dot > base ? (int)(dot - base) : (int)strlen(base), base);
}

/* Packs or unpacks a session; needs no lab. */
static int move_session(const struct pw_options *o)
{
    char folder[PW_LINE * 4], name[PW_LINE];
    bool pack = o->verb == PW_VERB_PACK;
    struct pw_err err;
    name_of(name, o->session);
    folder_of(folder, pack ? o->session : o->output != NULL ? o->output : name);
    if ((pack ? pw_session_pack(folder, o->output, &err) : pw_session_unpack(o->session, folder, &err)) !=
        PW_OK) {
        fprintf(stderr, "pewter: session %s: %s\n", pack ? "pack" : "unpack", err.msg);
        return 1;
    }
    printf("%s %s into %s\n", pack ? "packed" : "unpacked", o->session, pack ? o->output : folder);
    return 0;
}

/* How events are printed. */
struct reader {
    bool json;
    bool talk; /* interactive: lines are typed at a terminal */
};

static void print_event(void *arg, const struct pw_event *e, const struct pw_snapshot *s)
{
    const struct reader *r = arg;
    pw_report_event(stdout, e, s, r->json);
    if (r->talk)
        pw_report_change(stdout, e, s);
}

/* Re-raise the signal, so that the parent process sees it as the cause of death. */
static void end_by(int sig)
{
    sigset_t set;
    fflush(stdout);
    signal(sig, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, sig);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(sig);
}

static int run_workbench(struct pw_lab **lab, const struct pw_lab_config *cfg, const struct pw_commands *all,
                         const char *script, const char *greeting, int *signal)
{
    struct pw_err err;
    struct pw_app_config app = {.lab = cfg, .script = script, .greeting = greeting};
    if (pw_app_run(lab, all, &app, signal, &err) == PW_OK)
        return 0;
    fprintf(stderr, "pewter: %s\n", err.msg);
    return 1;
}

static enum pw_code print_recording(const char *folder, bool json, struct pw_err *err)
{
    struct pw_record *r;
    struct pw_str missing = {0};
    enum pw_code code = pw_record_open(&r, folder, err);
    if (code != PW_OK)
        return code;
    code = pw_replay_print(stdout, r, json, &missing, err);
    if (missing.len > 0)
        fprintf(stderr, "pewter: %s\n", missing.s);
    pw_str_fini(&missing);
    pw_record_close(r);
    return code;
}

static int replay(const struct pw_options *o, const struct pw_commands *all)
{
    char folder[PW_LINE * 4];
    struct pw_err err;
    struct pw_app_config app = {0};
    enum pw_code code = PW_OK;
    bool screen = !o->plain && !o->json && pw_app_possible();
    int sig = 0;
    folder_of(folder, o->session);
    if (screen || o->commands != NULL)
        code = pw_player_open(&app.recording, folder, &err);
    if (code == PW_OK && o->commands != NULL)
        return pw_batch_replay(app.recording, all, o->commands, stdout);
    if (code == PW_OK)
        code = screen ? pw_app_run(NULL, all, &app, &sig, &err) : print_recording(folder, o->json, &err);
    if (code != PW_OK)
        fprintf(stderr, "pewter: %s\n", err.msg);
    if (sig != 0)
        end_by(sig);
    return code == PW_OK ? 0 : 1;
}

/* Prints the verdict as a line or a JSON object; returns the exit status. */
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
        cJSON_AddNumberToObject(o, "replicate", v->replica > 0 ? v->replica : 1);
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

/* Returns the exit status, or 1 if standard output could not be written. */
static int finish(int status)
{
    if (fflush(stdout) == 0 && ferror(stdout) == 0)
        return status;
    fprintf(stderr, "pewter: standard output could not be written\n");
    return 1;
}

/* An allocator that ends the process without memory: cJSON itself does not distinguish a lack of memory from
 * malformed text or a missing value. */
static void *json_memory(size_t bytes)
{
    return pw_grow(NULL, bytes, 1);
}

/* Creates the lab without a screen. Ends the process if that fails. */
static struct pw_lab *open_lab(const struct pw_lab_config *cfg, bool repaint)
{
    struct pw_opening o;
    struct pw_err err;
    if (pw_opening_lines(&o, cfg, repaint, &err) == PW_OK)
        return o.lab;
    fprintf(stderr, "pewter: %s\n", err.msg);
    if (o.signal != 0)
        end_by(o.signal);
    exit(1);
}

static int run_lab(const struct pw_options *o, const struct pw_commands *all)
{
    const struct pw_commands labs = {pw_lab_commands};
    struct pw_lab *lab = NULL;
    struct pw_err err;
    int status, sig = 0;
    char *script = read_script(o);
    bool headless = script != NULL, plain = !headless && (o->plain || !pw_app_possible());
    FILE *words = o->json ? stderr : stdout;
    struct reader reader = {.json = o->json, .talk = plain && !o->json && isatty(STDIN_FILENO)};
    struct pw_str begin = {0}; /* commands, so that the session contains them */
    struct pw_str greeting = {0};
    struct pw_ev_session session = {.how = PW_REC_NONE};
    if (o->backend != NULL)
        pw_str_add(&begin, "backend %s\n", o->backend);
    if (o->demo != NULL)
        pw_str_add(&begin, "demo %s", o->demo);
    struct pw_lab_config cfg = {.commands = &labs,
                                .help = all,
                                .threads = o->threads,
                                .live = !headless && !plain,
                                .on_event = headless || plain ? print_event : NULL,
                                .on_event_arg = &reader,
                                .session = o->unrecorded        ? NULL
                                           : o->session != NULL ? o->session
                                           : headless           ? NULL
                                                                : "",
                                .any_bits = o->backend != NULL,
                                .verify = o->verb == PW_VERB_VERIFY,
                                .from = o->from};
    if (headless) /* before any thread starts */
        pw_batch_block_signals();
    else
        pw_app_block_signals();
    if (headless || plain)
        lab = open_lab(&cfg, headless);
    if (o->fresh)
        pw_entry_greet(&greeting, o->session);
    if (plain && o->fresh)
        fprintf(words, "%s\n", greeting.s);
    if (headless)
        status = pw_batch_run(lab, all, pw_str_text(&begin), o->commands == NULL ? o->file : NULL, script,
                              words, &sig);
    else if (plain)
        status = pw_plain_run(lab, all, begin.s, words, &sig);
    else
        status = run_workbench(&lab, &cfg, all, begin.s, greeting.s, &sig);
    if (lab != NULL)
        session = pw_lab_snapshot(lab)->session;
    if (cfg.verify && sig == 0)
        status = print_verdict(pw_lab_verdict(lab), o->json);
    if (pw_lab_destroy(lab, &err) != PW_OK) {
        fprintf(stderr, "pewter: %s\n", err.msg);
        status = status == 0 ? 1 : status;
    }
    if (!headless && sig == 0 && isatty(STDIN_FILENO))
        pw_entry_goodbye(words, &session);
    free(script);
    pw_str_fini(&begin);
    pw_str_fini(&greeting);
    if (sig != 0)
        end_by(sig);
    return status;
}

/* Opens /dev/null for closed standard streams, so that no later file becomes standard input or output. */
static void hold_standard(void)
{
    for (int fd = open("/dev/null", O_RDWR); fd >= 0; fd = dup(fd))
        if (fd > STDERR_FILENO) {
            close(fd);
            return;
        }
}

static int study(const struct pw_options *o)
{
    struct pw_err err;
    if (pw_study_verb(o->n_words, o->words, stdout, &err) == PW_OK)
        return 0;
    fprintf(stderr, "pewter: %s\n", err.msg);
    return 1;
}

int main(int argc, char **argv)
{
    static const struct pw_command *list[MAX_COMMANDS];
    const struct pw_commands all = {list};
    struct pw_options o;
    struct pw_charset charset;
    struct pw_err err;

    pw_alloc_begin();
    hold_standard();
    signal(SIGXFSZ, SIG_IGN); /* writes then fail with EFBIG, which each writer handles */
    cJSON_InitHooks(&(cJSON_Hooks){.malloc_fn = json_memory, .free_fn = free});
    pw_charset_begin(&charset);
    pw_commands_join(list, pw_commands_join(list, 0, pw_lab_commands), pw_ui_commands);
    if (pw_options_read(&o, argc, argv, &err) != PW_OK)
        fail(err.msg, 2);
    if (o.must_exist || o.named)
        check_session(&o, &all);
    switch (o.verb) {
    case PW_VERB_HELP: fputs(pw_usage, stdout); return finish(0);
    case PW_VERB_VERSION: pw_version_print(); return finish(0);
    case PW_VERB_MANUAL: pw_manual_print(&all, o.page); return finish(0);
    case PW_VERB_REFERENCE: pw_reference_print(&all); return finish(0);
    case PW_VERB_COMPLETION: pw_completion_print(o.shell); return finish(0);
    case PW_VERB_PACK:
    case PW_VERB_UNPACK: return finish(move_session(&o));
    case PW_VERB_DELETE: return finish(pw_remove_session(o.session, o.yes));
    case PW_VERB_PRUNE: return finish(pw_remove_old(o.n_words, o.words, o.yes));
    case PW_VERB_DOCTOR: return finish(pw_doctor_print(&charset, &all, o.json));
    case PW_VERB_STUDY: return finish(study(&o));
    case PW_VERB_REPLAY: return finish(replay(&o, &all));
    case PW_VERB_VERIFY:
    case PW_VERB_LAB: break;
    }
    return finish(run_lab(&o, &all));
}
