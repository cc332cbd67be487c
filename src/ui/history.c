/* history.c - lines are appended to the file; repeats are removed on reading. So each line is saved at once.
 *
 * The UI thread reads the file once, before the first frame. The disk's thread appends the lines. */
#include "ui/history.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/text.h"
#include "ui/state.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_LIMIT (4u << 20) /* a larger file was not written by pewter */

static char *copy(const char *s, size_t n)
{
    char *c = pw_alloc(n + 1, 1);
    memcpy(c, s, n);
    return c;
}

/* Moves or appends the line to the end of the list. */
static void remember(struct pw_history *h, const char *s, size_t n)
{
    int at = 0;
    while (at < h->n && (strlen(h->lines[at]) != n || memcmp(h->lines[at], s, n)))
        at++;
    if (at == h->n && h->n == PW_HISTORY_MAX)
        at = 0; /* full: drop the oldest */
    if (at < h->n) {
        free(h->lines[at]);
        h->n--;
        memmove(h->lines + at, h->lines + at + 1, (size_t)(h->n - at) * sizeof *h->lines);
    }
    h->lines[h->n++] = copy(s, n);
}

/* Rewrites the file without repeats when too many have accumulated. */
static void rewrite(const struct pw_history *h, const char *path)
{
    struct pw_file *f;
    if (pw_file_create(&f, path, NULL) != PW_OK)
        return; /* the file stays long */
    pw_file_private(f);
    for (int i = 0; i < h->n; i++)
        fprintf(pw_file_stream(f), "%s\n", h->lines[i]);
    pw_file_commit(f, NULL);
}

static enum pw_code read_file(struct pw_history *h, const char *path, struct pw_err *err)
{
    char *data;
    size_t size;
    int read = 0;
    enum pw_code code = pw_file_read(path, FILE_LIMIT, &data, &size, err);
    if (code != PW_OK)
        return code;
    for (char *line = data; line < data + size; line++) {
        char *end = memchr(line, '\n', (size_t)(data + size - line));
        size_t n = end != NULL ? (size_t)(end - line) : (size_t)(data + size - line);
        if (n > 0 && pw_utf8_valid(line, n) && memchr(line, '\0', n) == NULL) {
            remember(h, line, n);
            read++;
        }
        line += n;
    }
    free(data);
    if (read > 2 * PW_HISTORY_MAX)
        rewrite(h, path);
    return PW_OK;
}

enum pw_code pw_history_open(struct pw_history *h, struct pw_err *err)
{
    struct pw_str path = {0};
    h->fd = -1;
    h->n = 0;
    h->disk = NULL;
    h->lines = pw_alloc(PW_HISTORY_MAX, sizeof *h->lines);
    struct pw_err why;
    enum pw_code code = pw_state_path("history", &path, &why);
    if (code == PW_OK)
        code = pw_folder_make_above(path.s, &why);
    if (code != PW_OK) {
        pw_str_fini(&path);
        return pw_fail(err, code, "history: not kept: %s", why.msg);
    }
    int fd = open(path.s, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        code = pw_fail(err, PW_EIO, "history: not kept: %s: %s", path.s, strerror(errno));
    } else {
        close(fd);
        code = read_file(h, path.s, err);
        if (code == PW_OK) /* read_file possibly replaced the file */
            h->fd = open(path.s, O_WRONLY | O_APPEND | O_CLOEXEC);
    }
    pw_str_fini(&path);
    return code;
}

void pw_history_close(struct pw_history *h)
{
    for (int i = 0; i < h->n; i++)
        free(h->lines[i]);
    free(h->lines);
    if (h->fd >= 0)
        close(h->fd);
    memset(h, 0, sizeof *h);
    h->fd = -1;
}

bool pw_history_add(struct pw_history *h, const char *line)
{
    if (*line == '\0' || *line == ' ' || *line == '\t' || strchr(line, '\n') != NULL)
        return false;
    bool again = h->n > 0 && strcmp(h->lines[h->n - 1], line) == 0;
    remember(h, line, strlen(line));
    if (h->fd >= 0 && !again) {
        /* One write call, so that two programs do not mix lines. */
        struct pw_disk_job job = {.append_to = h->fd};
        pw_str_add(&job.file[0].text, "%s\n", line);
        if (h->disk != NULL) {
            pw_disk_hand(h->disk, &job);
        } else {
            if (pw_disk_do(&job, NULL) != PW_OK) {
                close(h->fd);
                h->fd = -1;
            }
            pw_disk_job_fini(&job);
        }
    }
    return true;
}
