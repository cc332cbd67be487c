/* session_list.c - the sessions in a folder as a table. Nothing is opened for writing, so other processes may
 * be recording them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/folder.h"
#include "base/places.h"
#include "command/lex.h"
#include "lab/core/lab_int.h"
#include "lab/offer.h"
#include "sessions/record.h"

#define MOST 1000

struct row {
    char name[PW_LINE];
    struct pw_record_info info;
    int64_t bytes; /* on disk */
    char arms[64]; /* "none, t5, alibi" */
    char why[160]; /* what is wrong with the session */
};

static void read_arms(struct pw_record *r, struct row *row)
{
    for (int id = 1; id <= PW_MAX_ARMS; id++) {
        struct pw_event *arm = pw_record_arm(r, id, row->info.last);
        size_t n = strlen(row->arms);
        if (arm != NULL) {
            struct pw_str name = {0};
            pw_encoding_name(&name, arm->u.arm.pe);
            snprintf(row->arms + n, sizeof row->arms - n, "%s%s", n > 0 ? ", " : "", name.s);
            pw_str_fini(&name);
        }
        pw_event_free(arm);
    }
}

static void read_row(struct row *row, const char *folder, const char *file)
{
    struct pw_record *r;
    struct pw_err err;
    struct pw_str path = {0};
    pw_str_add(&path, "%s/%s", folder, file);
    pw_session_name(row->name, sizeof row->name, path.s);
    row->bytes = pw_session_usage(path.s);
    if (pw_record_open(&r, path.s, &err) == PW_OK) {
        pw_record_info(r, &row->info);
        read_arms(r, row);
        pw_record_close(r);
    } else {
        pw_text_copy(row->why, sizeof row->why, err.msg);
    }
    pw_str_fini(&path);
}

static int by_use(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return x->info.used_ns < y->info.used_ns ? 1 : x->info.used_ns > y->info.used_ns ? -1 : 0;
}

static int by_bytes(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return x->bytes < y->bytes ? 1 : x->bytes > y->bytes ? -1 : by_use(a, b);
}

/* Number of blanks that pad a name to the column's width; printf counts bytes, not columns. */
static int pad(const char *name)
{
    int cells = pw_text_cells(name);
    return cells < 28 ? 28 - cells : 0;
}

static void print_row(struct pw_lab *lab, const struct row *row)
{
    char when[32];
    time_t t = (time_t)(row->info.used_ns / 1000000000);
    struct tm tm;
    if (row->why[0] != '\0') {
        pw_lab_note(lab, "%s%*s %9.1f %s", row->name, pad(row->name), "", (double)row->bytes * 1e-6,
                    row->why);
        return;
    }
    localtime_r(&t, &tm);
    strftime(when, sizeof when, "%Y-%m-%d %H:%M", &tm);
    pw_lab_note(lab, "%s%*s %9.1f %9lld  %s  %s%s", row->name, pad(row->name), "", (double)row->bytes * 1e-6,
                (long long)row->info.steps, when, row->arms, row->info.ended ? "" : " (not ended)");
}

static void offer_session(void *arg, const char *path)
{
    char folder[1024], name[128];
    size_t n = strlen(path);
    if (n < 2 || n >= sizeof folder || path[n - 1] != '/')
        return;
    pw_text_copy(folder, n, path); /* without the slash */
    pw_session_name(name, sizeof name, folder);
    pw_complete_offer(arg, "%s", name);
}

void pw_complete_session(struct pw_completion *c)
{
    struct pw_str within = {0};
    if (pw_place_state(&within, "sessions/"))
        pw_complete_files(within.s, offer_session, c);
    pw_str_fini(&within);
}

enum pw_code pw_lab_session_folder(char *folder, size_t size, char *name, size_t name_size, const char *typed,
                                   struct pw_err *err)
{
    enum pw_code code = pw_session_folder(folder, size, typed, err);
    if (code != PW_OK)
        return code;
    const char *last = strrchr(folder, '/'), *base = last != NULL ? last + 1 : folder;
    pw_text_copy(name, name_size, base);
    char *dot = strrchr(name, '.');
    if (dot != NULL && dot != name && (strcmp(dot, ".pewter") == 0 || strcmp(dot, ".pwt") == 0))
        *dot = '\0';
    return PW_OK;
}

enum pw_code pw_session_list(struct pw_lab *lab, const char *folder, bool largest, struct pw_err *err)
{
    char home[PW_LINE * 4], total[64];
    int64_t bytes = 0;
    struct pw_folder files;
    enum pw_code code = folder == NULL ? pw_session_home(home, sizeof home, err) : PW_OK;
    if (folder == NULL)
        folder = home;
    if (code == PW_OK)
        code = pw_session_files(&files, folder, err);
    if (code != PW_OK)
        return code;
    int n = files.n, used = n < MOST ? n : MOST;
    struct row *rows = pw_alloc((size_t)used + 1, sizeof *rows);
    for (int i = 0; i < used; i++)
        read_row(&rows[i], folder, files.names[i]);
    pw_folder_free(&files);
    qsort(rows, (size_t)used, sizeof *rows, largest ? by_bytes : by_use);
    if (used == 0)
        pw_lab_note(lab, "no sessions in %s", folder);
    else
        pw_lab_note(lab, "%-28s %9s %9s  %-16s  %s", "session", "MB", "steps", "last use", "arms");
    for (int i = 0; i < used; i++) {
        print_row(lab, &rows[i]);
        bytes += rows[i].bytes;
    }
    if (n > used)
        pw_lab_note(lab, "and %d more", n - used);
    snprintf(total, sizeof total, "total: %d session%s", used, used == 1 ? "" : "s");
    if (used > 0)
        pw_lab_note(lab, "%-28s %9.1f", total, (double)bytes * 1e-6);
    free(rows);
    return PW_OK;
}
