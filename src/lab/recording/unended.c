/* unended.c - finds the last session if it was not ended: its process was killed, or the machine stopped. */
#include <time.h>

#include "base/folder.h"
#include "lab/lab.h"
#include "sessions/record.h"
#include "sessions/store.h"

/* Write the path of the session that was written last, except sessions that are open. Return false if there
 * is none. */
static bool find_last(const char *home, char last[PW_LINE * 4])
{
    struct pw_folder files;
    time_t newest = 0;
    if (pw_session_files(&files, home, NULL) != PW_OK)
        return false;
    for (int i = files.n; i-- > 0;) { /* from the last: names by date, so few locks are tried */
        struct pw_str path = {0};
        pw_str_add(&path, "%s/%s", home, files.names[i]);
        time_t written = pw_session_written(path.s);
        if (written > newest && path.len < PW_LINE * 4 && !pw_session_in_use(path.s, NULL)) {
            newest = written;
            pw_text_copy(last, PW_LINE * 4, path.s);
        }
        pw_str_fini(&path);
    }
    pw_folder_free(&files);
    return newest > 0;
}

bool pw_lab_find_unended(char *name, size_t size)
{
    char home[PW_LINE * 4], last[PW_LINE * 4];
    struct pw_record *r;
    struct pw_record_info info;
    if (pw_session_home(home, sizeof home, NULL) != PW_OK || !find_last(home, last) ||
        pw_record_open(&r, last, NULL) != PW_OK)
        return false;
    pw_record_info(r, &info);
    pw_record_close(r);
    pw_session_name(name, size, last);
    return !info.ended;
}
