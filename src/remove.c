/* remove.c - see remove.h.
 *
 * The age of a session is that of its last write, in the file system. So a session that was just unpacked or
 * copied is new, and damaged sessions have an age, too. Replaying a session does not count as a use: it
 * writes nothing. Folders that an interrupted deletion or unpacking left count as sessions without a name. */
#include "remove.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/folder.h"
#include "base/opt.h"
#include "base/text.h"
#include "sessions/store.h"

#define PRUNE       "sessions prune"
#define PATH_BYTES  (PW_LINE * 4)
#define LONGEST_AGE 100000 /* in its unit; no number of seconds overflows */

/* Reports a fault and returns the exit status. */
static int report(const char *verb, const char *message, int status)
{
    fprintf(stderr, "pewter: %s: %s\n", verb, message);
    return status;
}

static bool at_terminal(void)
{
    return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

/* Asks on standard error; only y and yes are a yes. */
static bool confirm(const char *question)
{
    char line[16];
    fflush(stdout);
    fprintf(stderr, "%s? [y/N] ", question);
    if (fgets(line, sizeof line, stdin) == NULL) {
        fputc('\n', stderr);
        return false;
    }
    line[strcspn(line, "\n")] = '\0';
    return strcasecmp(line, "y") == 0 || strcasecmp(line, "yes") == 0;
}

/* ---- one session */

int pw_remove_session(const char *name, bool yes)
{
    char folder[PATH_BYTES], question[PATH_BYTES + 64];
    struct pw_err err;
    if (pw_session_folder(folder, sizeof folder, name, &err) != PW_OK)
        return report("session delete", err.msg, 2);
    if (!yes && at_terminal() && pw_session_written(folder) > 0 && !pw_session_in_use(folder, NULL)) {
        snprintf(question, sizeof question, "delete session %s (%.1f MB)", name,
                 (double)pw_session_usage(folder) * 1e-6);
        if (!confirm(question))
            return report("session delete", "nothing was deleted", 1);
    }
    if (pw_session_delete(folder, &err) != PW_OK) {
        fprintf(stderr, "pewter: session delete: %s: %s\n", name, err.msg);
        return 1;
    }
    printf("deleted %s\n", name);
    return 0;
}

/* ---- old sessions */

enum keep { KEEP_NAMED, KEEP_NONE };
struct prune_opts {
    char older[32];
    int keep; /* enum keep */
};

static const char *const keeps[] = {"named", "none", NULL};
static const struct pw_opt opts[] = {{.name = "older",
                                      .type = PW_OPT_TEXT,
                                      .offset = offsetof(struct prune_opts, older),
                                      .def = "",
                                      .size = sizeof((struct prune_opts *)NULL)->older,
                                      .help = "time since the last write: hours, days or weeks"},
                                     {.name = "keep",
                                      .type = PW_OPT_CHOICE,
                                      .offset = offsetof(struct prune_opts, keep),
                                      .def = "named",
                                      .choices = keeps,
                                      .help = "sessions that are kept whatever their age"},
                                     {.name = NULL}};

/* A session that would be deleted. */
struct old_session {
    char folder[PATH_BYTES], name[PW_LINE];
    int64_t bytes;
    time_t written;
    bool leftover;
};

/* Reads 30d, 12h or 4w. */
static bool read_age(const char *text, time_t *seconds)
{
    static const struct {
        char unit;
        long seconds;
    } units[] = {{'h', 3600}, {'d', 24 * 3600}, {'w', 7 * 24 * 3600}};
    char number[32];
    long n;
    size_t len = strlen(text);
    if (len < 2 || len > sizeof number)
        return false;
    snprintf(number, sizeof number, "%.*s", (int)len - 1, text);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (text[len - 1] == units[i].unit && pw_text_int(number, 0, LONGEST_AGE, &n)) {
            *seconds = n * units[i].seconds;
            return true;
        }
    return false;
}

static enum pw_code read_words(struct prune_opts *o, time_t *age, int n, char *const *words,
                               struct pw_err *err)
{
    pw_opt_defaults(opts, o);
    for (int i = 0; i < n; i++) {
        char key[32];
        const char *equal = strchr(words[i], '=');
        size_t len = equal != NULL ? (size_t)(equal - words[i]) : sizeof key;
        if (len >= sizeof key)
            return pw_fail(err, PW_EUSER, PRUNE ": '%.100s': allowed are older=TIME and keep=named|none",
                           words[i]);
        snprintf(key, sizeof key, "%.*s", (int)len, words[i]);
        enum pw_code code = pw_opt_set(opts, o, PRUNE, key, equal + 1, err);
        if (code != PW_OK)
            return code;
    }
    if (read_age(o->older, age))
        return PW_OK;
    return pw_fail(err, PW_EUSER,
                   PRUNE ": older=%s: allowed are 0..%d and a unit: h (hours), d (days), w (weeks), such as "
                         "older=30d",
                   o->older, LONGEST_AGE);
}

/* Lists a session that is old enough. Prints a line about one that is open. */
static bool is_old(struct old_session *s, const char *home, const char *file, enum keep keep, time_t before)
{
    struct stat st;
    struct pw_err why;
    if (snprintf(s->folder, sizeof s->folder, "%s/%s", home, file) >= (int)sizeof s->folder ||
        lstat(s->folder, &st) != 0 || !S_ISDIR(st.st_mode))
        return false; /* packed sessions and links are the user's own files */
    snprintf(s->name, sizeof s->name, "%.*s", (int)(strlen(file) - strlen(PW_SESSION_ENDING)), file);
    s->written = pw_session_written(s->folder);
    if (s->written == 0 || s->written > before || (keep == KEEP_NAMED && !pw_session_is_unnamed(s->name)))
        return false;
    if (pw_session_in_use(s->folder, &why)) {
        printf("kept %s: %s\n", s->name, why.msg);
        return false;
    }
    s->bytes = pw_session_usage(s->folder);
    s->leftover = false;
    return true;
}

/* Lists a folder that an interrupted deletion or unpacking left, if it is old enough. */
static bool is_old_leftover(struct old_session *s, const char *home, const char *file, time_t before)
{
    struct stat st;
    if (!pw_session_is_leftover(file) ||
        snprintf(s->folder, sizeof s->folder, "%s/%s", home, file) >= (int)sizeof s->folder ||
        snprintf(s->name, sizeof s->name, "%s", file) >= (int)sizeof s->name || lstat(s->folder, &st) != 0 ||
        !S_ISDIR(st.st_mode) || st.st_mtime > before)
        return false;
    s->written = st.st_mtime;
    s->bytes = pw_session_usage(s->folder);
    s->leftover = true;
    return true;
}

static void print_session(const struct old_session *s)
{
    char when[32];
    struct tm tm;
    int cells = pw_text_cells(s->name);
    localtime_r(&s->written, &tm);
    strftime(when, sizeof when, "%Y-%m-%d %H:%M", &tm);
    printf("%s%*s %9.1f MB  %s%s\n", s->name, cells < 28 ? 28 - cells : 0, "", (double)s->bytes * 1e-6, when,
           s->leftover ? "  (interrupted)" : "");
}

static enum pw_code delete_session(const struct old_session *s, struct pw_err *err)
{
    return s->leftover ? pw_session_remove_leftover(s->folder, err) : pw_session_delete(s->folder, err);
}

/* Deletes the listed sessions, except those that were used since they were listed. */
static int delete_listed(const struct old_session *list, int n)
{
    int64_t bytes = 0;
    int deleted = 0, status = 0;
    for (int i = 0; i < n; i++) {
        const struct old_session *s = &list[i];
        struct pw_err err;
        if (!s->leftover && pw_session_written(s->folder) != s->written) {
            printf("kept %s: it was used meanwhile\n", s->name);
        } else if (delete_session(s, &err) != PW_OK) {
            fprintf(stderr, "pewter: " PRUNE ": %s: %s\n", s->name, err.msg);
            status = 1;
        } else {
            deleted++;
            bytes += s->bytes;
        }
    }
    printf("deleted %d session%s (%.1f MB)\n", deleted, deleted == 1 ? "" : "s", (double)bytes * 1e-6);
    return status;
}

/* Lists the old sessions among `files` and the old leftovers among `all`, asks, and deletes them. */
static int prune_files(const struct pw_folder *files, const struct pw_folder *all, const char *home,
                       const struct prune_opts *o, time_t before, bool yes)
{
    char question[96];
    struct old_session *list = pw_alloc((size_t)(files->n + all->n) + 1, sizeof *list);
    int64_t bytes = 0;
    int n = 0, status = 0;
    for (int i = 0; i < files->n; i++)
        if (is_old(&list[n], home, files->names[i], (enum keep)o->keep, before)) {
            print_session(&list[n]);
            bytes += list[n++].bytes;
        }
    for (int i = 0; i < all->n; i++)
        if (is_old_leftover(&list[n], home, all->names[i], before)) {
            print_session(&list[n]);
            bytes += list[n++].bytes;
        }
    snprintf(question, sizeof question, "delete %s %d session%s (%.1f MB)", n == 1 ? "this" : "these", n,
             n == 1 ? "" : "s", (double)bytes * 1e-6);
    if (n == 0)
        printf("no session to delete: older=%s keep=%s\n", o->older, keeps[o->keep]);
    else if (yes)
        status = delete_listed(list, n);
    else if (!at_terminal())
        status = report(PRUNE, "nothing was deleted: without a terminal to ask at, it needs --yes", 1);
    else if (confirm(question))
        status = delete_listed(list, n);
    else
        status = report(PRUNE, "nothing was deleted", 1);
    free(list);
    return status;
}

int pw_remove_old(int n, char *const *words, bool yes)
{
    char home[PATH_BYTES];
    struct prune_opts o;
    struct pw_folder files, all;
    struct pw_err err;
    time_t age = 0;
    if (read_words(&o, &age, n, words, &err) != PW_OK) {
        fprintf(stderr, "pewter: %s\n", err.msg);
        return 2;
    }
    if (pw_session_home(home, sizeof home, &err) != PW_OK || pw_session_files(&files, home, &err) != PW_OK)
        return report(PRUNE, err.msg, 1);
    if (pw_folder_list(&all, home, "", &err) != PW_OK) {
        pw_folder_free(&files);
        return report(PRUNE, err.msg, 1);
    }
    int status = prune_files(&files, &all, home, &o, time(NULL) - age, yes);
    pw_folder_free(&files);
    pw_folder_free(&all);
    return status;
}
