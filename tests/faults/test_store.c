/* test_store.c - tests a session on a failing disk. Each kind of call fails once at every place, or from some
 * place on until the fault is removed. Acknowledged events must be on disk, later ones must follow by
 * themselves, and the record must be intact at any moment.
 *
 * SQLite's calls fail in a VFS between SQLite and the disk, our own calls through the linker's --wrap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <ftw.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/sha256.h"
#include "sessions/record.h"
#include "sessions/store.h"

/* ---- faults */

enum op { NONE, DB_WRITE, DB_SYNC, OUR_WRITE, OUR_SYNC, OUR_RENAME, OUR_PART };

static _Atomic enum op failing;
static atomic_int left; /* calls until one fails */
static atomic_bool on;  /* all later calls fail, too */
static atomic_int failed;

static bool fails(enum op op)
{
    if (failing != op || (failed > 0 && !on) || atomic_fetch_sub(&left, 1) > 0)
        return false;
    failed++;
    errno = op == OUR_WRITE ? ENOSPC : EIO;
    return true;
}

static void arm(enum op op, int at, bool sticky)
{
    failing = NONE;
    failed = 0;
    left = at;
    on = sticky;
    failing = op;
}

ssize_t __real_write(int fd, const void *p, size_t n);
int __real_fdatasync(int fd);
int __real_fsync(int fd);
int __real_rename(const char *from, const char *to);
ssize_t __wrap_write(int fd, const void *p, size_t n);
int __wrap_fdatasync(int fd);
int __wrap_fsync(int fd);
int __wrap_rename(const char *from, const char *to);

/* OUR_PART: every other call is interrupted; the others write only a part of the data. */
ssize_t __wrap_write(int fd, const void *p, size_t n)
{
    if (fails(OUR_PART)) {
        errno = EINTR;
        return failed % 2 == 0 ? -1 : __real_write(fd, p, n / 2 + 1);
    }
    return fails(OUR_WRITE) ? -1 : __real_write(fd, p, n);
}

int __wrap_fdatasync(int fd)
{
    return fails(OUR_SYNC) ? -1 : __real_fdatasync(fd);
}

int __wrap_fsync(int fd)
{
    return fails(OUR_SYNC) ? -1 : __real_fsync(fd);
}

int __wrap_rename(const char *from, const char *to)
{
    return fails(OUR_RENAME) ? -1 : __real_rename(from, to);
}

/* SQLite's own VFS opens its files; we replace two of their methods. The database and its log have different
 * tables of methods, as they lock differently. */
static sqlite3_vfs *real_vfs;
static struct {
    sqlite3_io_methods ours;
    const sqlite3_io_methods *real;
} methods[2];

static const sqlite3_io_methods *real_of(const sqlite3_file *f)
{
    return methods[f->pMethods == &methods[1].ours].real;
}

static int db_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
    return fails(DB_WRITE) ? SQLITE_FULL : real_of(f)->xWrite(f, p, n, at);
}

static int db_sync(sqlite3_file *f, int flags)
{
    return fails(DB_SYNC) ? SQLITE_IOERR_FSYNC : real_of(f)->xSync(f, flags);
}

static int db_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *f, int flags, int *out)
{
    (void)vfs;
    int rc = real_vfs->xOpen(real_vfs, name, f, flags, out);
    for (int i = 0; rc == SQLITE_OK && i < 2; i++) {
        if (methods[i].real != NULL && methods[i].real != f->pMethods)
            continue;
        if (methods[i].real == NULL) {
            methods[i].real = f->pMethods;
            methods[i].ours = *f->pMethods;
            methods[i].ours.xWrite = db_write;
            methods[i].ours.xSync = db_sync;
        }
        f->pMethods = &methods[i].ours;
        break;
    }
    return rc;
}

static void stand_between(void)
{
    static sqlite3_vfs vfs;
    real_vfs = sqlite3_vfs_find(NULL);
    vfs = *real_vfs;
    vfs.zName = "faulty";
    vfs.xOpen = db_open;
    assert_int_equal(sqlite3_vfs_register(&vfs, 1), SQLITE_OK);
}

/* ---- sessions */

static char dir[64];

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void fresh(char path[100])
{
    nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    snprintf(dir, sizeof dir, "/dev/shm/pewter-faults-XXXXXX");
    if (mkdtemp(dir) == NULL)
        snprintf(dir, sizeof dir, "/tmp/pewter-faults-XXXXXX");
    assert_true(access(dir, W_OK) == 0 || mkdtemp(dir) != NULL);
    snprintf(path, 100, "%s/s.pewter", dir);
}

static struct pw_store *create(const char *path)
{
    struct pw_store_config cfg = {
        .folder = path, .create = true, .retry_s = 0.02, .env = {.pewter = "x", .kernel_abi = 1}};
    struct pw_store *s;
    struct pw_err err;
    if (pw_store_open(&s, &cfg, &err) != PW_OK)
        fail_msg("%s", err.msg);
    return s;
}

/* Puts a note whose text is its number and n bytes. */
static void put(struct pw_store *s, uint64_t seq, int n)
{
    struct pw_event *e = pw_event_new(PW_EV_NOTE);
    e->seq = seq;
    snprintf(e->u.text, sizeof e->u.text, "%06d%*s", (int)seq, n, "");
    pw_store_put(s, e);
    pw_event_free(e);
}

/* Puts an event of 64 KiB. */
static void put_large(struct pw_store *s, uint64_t seq)
{
    struct pw_event *e = pw_event_new(PW_EV_CHECKPOINT);
    e->seq = seq;
    e->u.checkpoint.state = pw_alloc(65536, 1);
    memset(e->u.checkpoint.state, 'x', 65535);
    pw_store_put(s, e);
    pw_event_free(e);
}

static bool follows(void *arg, struct pw_event *e)
{
    uint64_t *seq = arg;
    if (e->kind == PW_EV_GAP)
        return true;
    if (e->kind == PW_EV_NOTE)
        assert_int_equal(atoi(e->u.text), e->seq);
    assert_int_equal(e->seq, ++*seq);
    return true;
}

/* Checks that the session is intact and has the first `last` events. */
static void assert_whole(const char *path, uint64_t last)
{
    struct pw_record *r;
    struct pw_err err;
    uint64_t intact, seq = 0;
    if (pw_record_open(&r, path, &err) != PW_OK || pw_record_check(r, &intact, &err) != PW_OK)
        fail_msg("%s", err.msg);
    assert_int_equal(pw_record_events(r, 1, UINT64_MAX, follows, &seq, &err), PW_OK);
    assert_true(seq >= last);
    pw_record_close(r);
}

static void store_file(struct pw_store *s, uint8_t sha[32], uint8_t seed)
{
    size_t n = 1500000;
    uint8_t *p = pw_alloc(n, 1);
    memset(p, seed, n);
    pw_sha256_of(sha, p, n);
    pw_store_file(s, sha, p, n);
}

static uint64_t saved(struct pw_store *s)
{
    struct pw_ev_session status;
    pw_store_status(s, &status);
    return status.saved;
}

/* Whether all 40 events and the file are on disk. The file's row may be the last commit that failed. */
static bool has_got_over_it(struct pw_store *s, const uint8_t sha[32], struct pw_ev_session *status)
{
    pw_store_status(s, status);
    return status->how == PW_REC_ON && status->saved == 40 && pw_store_has_file(s, sha);
}

/* The limit of every wait. On a busy machine the store's thread may wait for seconds; a missing result still
 * fails. */
#define PATIENCE_S 60.0

/* Records 40 events in as many commits, and a file; the n-th call of a kind fails. Returns whether there was
 * such a call. */
static bool survives(enum op op, int n, bool sticky)
{
    char path[100];
    uint8_t sha[32];
    struct pw_ev_session status;
    fresh(path);
    struct pw_store *s = create(path);
    arm(op, n, sticky);
    for (uint64_t seq = 1; seq <= 40; seq++) {
        put(s, seq, seq % 7 == 0 ? 400 : 10);
        pw_store_hurry(s);
        if (seq == 10)
            store_file(s, sha, (uint8_t)n);
        for (double end = pw_now() + PATIENCE_S; !pw_store_has(s, seq) && pw_now() < end;)
            usleep(20);
    }
    for (double end = pw_now() + PATIENCE_S; failed == 0 && !pw_store_has_file(s, sha) && pw_now() < end;)
        usleep(100);
    bool was = failed > 0;
    uint64_t acknowledged = saved(s);
    assert_whole(path, acknowledged); /* it must be readable while calls fail */
    failing = NONE;
    for (double end = pw_now() + PATIENCE_S; !has_got_over_it(s, sha, &status) && pw_now() < end;) {
        pw_store_hurry(s);
        usleep(1000);
    }
    if (!has_got_over_it(s, sha, &status))
        fail_msg("call %d of kind %d: %s", n, op, status.why);
    pw_store_close(s, "quit");
    assert_whole(path, 40);
    return was;
}

static void each_call_fails_once(void **state)
{
    (void)state;
    for (enum op op = DB_WRITE; op <= OUR_RENAME; op++) {
        int step = op == DB_WRITE ? 23 : op == DB_SYNC ? 9 : 2, n = 0;
        while (n < 400 && survives(op, n, false))
            n += step;
        assert_true(n > 0);
    }
}

static void all_calls_fail_until_it_is_repaired(void **state)
{
    (void)state;
    for (enum op op = DB_WRITE; op <= OUR_RENAME; op++) {
        assert_true(survives(op, 0, true));
        if (op <= DB_SYNC)
            assert_true(survives(op, 11, true));
    }
}

/* A move to another file system copies the session, also with partial reads and writes. After a failure the
 * session is where it was, and the error names the cause. */
static void moves_in_parts(void **state)
{
    char path[100], to[100], far[] = "/tmp/pewter-faults-XXXXXX";
    struct stat here, there;
    uint8_t sha[32];
    struct pw_err err;
    (void)state;
    fresh(path);
    assert_non_null(mkdtemp(far));
    assert_true(stat(dir, &here) == 0 && stat(far, &there) == 0);
    if (here.st_dev == there.st_dev)
        skip();
    snprintf(to, sizeof to, "%s/t.pewter", far);
    struct pw_store *s = create(path);
    store_file(s, sha, 1);
    put(s, 1, 10);
    for (double end = pw_now() + PATIENCE_S;
         !(pw_store_has(s, 1) && pw_store_has_file(s, sha)) && pw_now() < end;) {
        pw_store_hurry(s);
        usleep(1000);
    }
    arm(OUR_WRITE, 1, false);
    assert_int_equal(pw_store_move(s, to, &err), PW_EIO);
    assert_non_null(strstr(err.msg, "No space left"));
    assert_int_equal(access(to, F_OK), -1);
    arm(OUR_PART, 0, true);
    if (pw_store_move(s, to, &err) != PW_OK)
        fail_msg("%s", err.msg);
    assert_true(failed > 2);
    failing = NONE;
    assert_int_equal(access(path, F_OK), -1);
    put(s, 2, 10);
    pw_store_close(s, "quit");
    assert_whole(to, 2);
    nftw(far, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- a disk of 6 MiB */

static void fill(const char *path)
{
    char block[4096];
    memset(block, 'x', sizeof block);
    FILE *f = fopen(path, "w");
    while (f != NULL && fwrite(block, 1, sizeof block, f) == sizeof block && fflush(f) == 0)
        ;
    if (f != NULL)
        fclose(f);
}

static void a_full_disk_pauses_it(void **state)
{
    char path[100], filler[120];
    uint8_t sha[32];
    struct pw_ev_session status;
    uint64_t seq = 0;
    (void)state;
    fresh(path);
    if (mount("pewter-test", dir, "tmpfs", 0, "size=48m") != 0)
        skip(); /* not root */
    struct pw_store *s = create(path);
    for (; seq < 500; put(s, ++seq, 400))
        ;
    while (!pw_store_has(s, seq)) {
        pw_store_hurry(s);
        usleep(1000);
    }
    snprintf(filler, sizeof filler, "%s/filler", dir);
    fill(filler);
    do {
        put(s, ++seq, 400);
        for (; seq % 200 == 0 && !pw_store_has(s, seq); usleep(1000)) /* else detected late */
            pw_store_hurry(s);
        pw_store_status(s, &status);
    } while (status.how == PW_REC_ON && seq < 100000);
    assert_int_equal(status.how, PW_REC_PAUSED);
    assert_non_null(strstr(status.why, "no space left on the disk"));
    assert_true(status.saved >= 500);
    snprintf(filler, sizeof filler, "%s/ballast", path);
    assert_int_not_equal(access(filler, F_OK), 0); /* the rest depends on how much was queued at a time */
    snprintf(filler, sizeof filler, "%s/filler", dir);
    assert_whole(path, status.saved);
    uint64_t so_far = saved(s);
    store_file(s, sha, 1);
    /* Put more than the queue holds: the end is lost, and counted. The number varies: the store may briefly
     * resume in space that a closed file released. */
    int large = 0;
    do {
        put_large(s, ++seq);
        pw_store_status(s, &status);
    } while ((++large < 400 || strstr(status.why, " events are lost") == NULL) && large < 4000);
    assert_non_null(strstr(status.why, " events are lost"));
    if (saved(s) == so_far)
        assert_false(pw_store_has_file(s, sha));

    assert_int_equal(remove(filler), 0);
    for (double end = pw_now() + PATIENCE_S;
         (status.how != PW_REC_ON || status.saved < seq || !pw_store_has_file(s, sha)) && pw_now() < end;) {
        usleep(1000); /* recovers by itself */
        pw_store_status(s, &status);
    }
    assert_int_equal(status.how, PW_REC_ON);
    assert_string_equal(status.why, "");
    assert_int_equal(status.saved, seq);
    assert_true(pw_store_has_file(s, sha));
    pw_store_close(s, "quit");

    struct pw_record *r;
    assert_int_equal(pw_record_open(&r, path, NULL), PW_OK);
    struct pw_event *gap = pw_record_last(r, PW_EV_GAP, -1, -1, UINT64_MAX);
    assert_non_null(gap);
    assert_int_equal(gap->seq + (uint64_t)gap->u.gap - 1, seq);
    pw_event_free(gap);
    pw_record_close(r);
    assert_whole(path, 1000);
    assert_int_equal(umount(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_fails_once),
        cmocka_unit_test(all_calls_fail_until_it_is_repaired),
        cmocka_unit_test(moves_in_parts),
        cmocka_unit_test(a_full_disk_pauses_it),
    };
    stand_between();
    int bad = cmocka_run_group_tests_name("faults of the store", tests, NULL, NULL);
    umount2(dir, MNT_DETACH);
    nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return bad;
}
