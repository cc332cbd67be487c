/* doctor_folders.c - the lines of `pewter doctor` about folders: sessions, studies, settings and the
 * program's own files. A folder that is missing is no problem as long as it can be made. */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/places.h"
#include "doctor_int.h"
#include "sessions/store.h"
#include "ui/config.h"

#define LEAST_FREE 64e6 /* bytes; a demo leaves up to 14 MB */

/* Shortens the path to its longest part that exists. */
static void find_existing(char *path)
{
    struct stat st;
    for (char *slash; lstat(path, &st) != 0 && (errno == ENOENT || errno == ENOTDIR) &&
                      (slash = strrchr(path, '/')) != NULL;) {
        slash[slash == path ? 1 : 0] = '\0';
        if (slash == path)
            return;
    }
}

/* Can files be written in the folder, or can it be made? Returns 0 or the error's number. *existing
 * [PATH_MAX] receives the part of the path that exists. */
static int check_writable(const char *folder, char *existing)
{
    struct stat st;
    pw_text_copy(existing, PATH_MAX, folder);
    find_existing(existing);
    if (stat(existing, &st) != 0)
        return errno;
    if (!S_ISDIR(st.st_mode))
        return ENOTDIR;
    return access(existing, W_OK | X_OK) == 0 ? 0 : errno;
}

/* Counts the files of a folder with an ending; 0 if it can't be listed. */
static int count_files(const char *folder, const char *ending)
{
    struct pw_folder files;
    struct pw_err err;
    if (pw_folder_list(&files, folder, ending, &err) != PW_OK)
        return 0;
    int n = files.n;
    pw_folder_free(&files);
    return n;
}

/* Adds how many sessions there are, their size and the free space. */
static void check_space(struct pw_doctor *d, const char *home, const char *existing)
{
    struct pw_folder files = {0};
    struct pw_err err;
    struct statvfs fs;
    double bytes = 0, left = 0;
    int n = 0;
    if (pw_session_files(&files, home, &err) == PW_OK) {
        for (n = 0; n < files.n; n++) {
            struct pw_str path = {0};
            pw_str_add(&path, "%s/%s", home, files.names[n]);
            bytes += (double)pw_session_usage(path.s);
            pw_str_fini(&path);
        }
        pw_folder_free(&files);
    }
    if (statvfs(existing, &fs) == 0)
        left = (double)fs.f_bavail * (double)fs.f_frsize;
    bool full = left < LEAST_FREE;
    pw_doctor_add(d, full, "space", "%d session%s, %.1f MB; %.1f GB free on this disk%s", n,
                  n == 1 ? "" : "s", bytes * 1e-6, left * 1e-9,
                  full ? "; see 'pewter sessions by=size'" : "");
}

static void check_sessions(struct pw_doctor *d)
{
    char existing[PATH_MAX];
    struct pw_str home = {0};
    if (!pw_place_state(&home, "sessions")) {
        pw_doctor_add(d, true, "sessions", "no folder: neither XDG_STATE_HOME nor HOME is set");
        return;
    }
    int error = check_writable(home.s, existing);
    const char *network = pw_session_network(existing);
    bool there = strcmp(existing, home.s) == 0;
    if (error != 0)
        pw_doctor_add(d, true, "sessions", "can't be written: %s: %s", existing, strerror(error));
    else if (network != NULL)
        pw_doctor_add(d, true, "sessions", "%s is on %s; set XDG_STATE_HOME to a local disk", home.s,
                      network);
    else
        pw_doctor_add(d, false, "sessions", "%s, %s", home.s, there ? "writable" : "not made yet");
    if (error == 0)
        check_space(d, home.s, existing);
    pw_str_fini(&home);
}

static void check_studies(struct pw_doctor *d)
{
    char existing[PATH_MAX];
    struct pw_str home = {0};
    if (!pw_place_state(&home, "studies"))
        return; /* the line about sessions has the reason */
    int error = check_writable(home.s, existing);
    bool there = strcmp(existing, home.s) == 0;
    pw_doctor_add(d, false, "studies", "%s, %s", home.s,
                  error != 0 ? strerror(error)
                  : there    ? "writable"
                             : "not made yet");
    pw_str_fini(&home);
}

static void check_settings(struct pw_doctor *d, const struct pw_commands *commands)
{
    struct pw_str rc = {0}, own = {0};
    struct pw_err err;
    if (!pw_place_config(&rc, "pewterrc") || !pw_place_config(&own, "encodings")) {
        pw_doctor_add(d, false, "settings", "no folder: neither XDG_CONFIG_HOME nor HOME is set");
    } else {
        bool there = access(rc.s, F_OK) == 0;
        bool bad = there && pw_config_check_file(commands, rc.s, &err) != PW_OK;
        pw_doctor_add(d, bad, "settings", "%s, %s", rc.s, bad ? err.msg : there ? "there" : "not there");
        pw_doctor_add(d, false, "encodings", "%d of your own in %s", count_files(own.s, ".pe"), own.s);
    }
    pw_str_fini(&rc);
    pw_str_fini(&own);
}

/* The files that come with the program. A binary that was copied alone has none. */
static void check_own_files(struct pw_doctor *d)
{
    struct pw_str lessons = {0}, encodings = {0};
    bool all = pw_place_own(&lessons, "lessons") && pw_place_own(&encodings, "encodings");
    char *real = all ? realpath(lessons.s, NULL) : NULL;
    if (all)
        pw_doctor_add(d, false, "own files", "%d lessons, %d encodings; %s",
                      count_files(lessons.s, ".pewter"), count_files(encodings.s, ".pe"),
                      real != NULL ? real : lessons.s);
    else
        pw_doctor_add(d, true, "own files", "no lessons or encodings; copy share/pewter of its package, too");
    free(real);
    pw_str_fini(&lessons);
    pw_str_fini(&encodings);
}

void pw_doctor_folders(struct pw_doctor *d, const struct pw_commands *commands)
{
    check_sessions(d);
    check_studies(d);
    check_settings(d, commands);
    check_own_files(d);
}
