/* Recording: what is put is on disk when it says so, in order, whatever happens then. */
#include "ref_session.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "base/sha256.h"

static enum pw_code try_open(const char *path, bool create, struct pw_err *err)
{
    struct pw_store_config cfg = {.folder = path, .create = create, .env = {.pewter = "x", .kernel_abi = 1}};
    struct pw_store *s;
    enum pw_code code = pw_store_open(&s, &cfg, err);
    pw_store_close(s, "quit");
    return code;
}

static void assert_refused(const char *path, bool create, const char *words)
{
    struct pw_err err;
    assert_int_equal(try_open(path, create, &err), PW_EUSER);
    if (strstr(err.msg, words) == NULL)
        fail_msg("'%s' lacks '%s'", err.msg, words);
}

static void records_in_order(void **state)
{
    char path[4096], db[4096];
    uint64_t rng = 3, sum, intact;
    int n;
    struct stat st;
    struct pw_err err;
    struct pw_ev_session status;
    struct pw_store *s = session_open(session_path(state, path), true);
    assert_int_equal(pw_store_last(s), 0);
    sum = session_put(s, 1, 2000, &rng);
    assert_false(pw_store_has(s, 2000));
    session_wait(s, 2000);
    pw_store_status(s, &status);
    assert_int_equal(status.how, PW_REC_ON);
    assert_string_equal(status.why, "");
    assert_int_equal(status.saved, 2000);
    assert_string_equal(status.folder, path);
    assert_true(status.bytes > 10000);
    pw_store_close(s, "quit");

    snprintf(db, sizeof db, "%.4000s/session.db-wal", path);
    assert_int_equal(stat(db, &st), -1);            /* one plain file, */
    assert_int_equal(scratch_count(path, NULL), 4); /* the lock's, and two folders */
    struct pw_record *r = session_read(path);
    struct pw_record_info info;
    assert_true(session_sum(r, 1, UINT64_MAX, &n) == sum);
    assert_int_equal(n, 2000);
    pw_record_info(r, &info);
    assert_int_equal(info.first, 1);
    assert_int_equal(info.last, 2000);
    assert_int_equal(info.segments, 1);
    assert_int_equal(info.kernel_abi, 1);
    assert_string_equal(info.bits, "portable");
    assert_string_equal(info.env, "pewter test, cpu: 2 threads, none");
    assert_true(info.ended);
    assert_int_equal(info.damaged, 0);
    assert_int_equal(info.unknown, 0);
    if (pw_record_check(r, &intact, &err) != PW_OK)
        fail_msg("%s", err.msg);
    assert_int_equal(intact, 2000);
    pw_record_close(r);
}

/* Three processes, one after the other, and parts of it read from places within runs. */
static void goes_on_where_it_ended(void **state)
{
    char path[4096];
    uint64_t rng = 5, again = 5, bits[601];
    int n;
    session_path(state, path);
    for (int i = 0; i < 3; i++) {
        struct pw_store *s = session_open(path, i == 0);
        assert_int_equal(pw_store_last(s), 200 * i);
        session_put(s, (uint64_t)(200 * i + 1), (uint64_t)(200 * i + 200), &rng);
        pw_store_close(s, "quit");
    }
    for (uint64_t seq = 1; seq <= 600; seq++) {
        struct pw_event *e = session_event(seq, &again);
        bits[seq] = session_bits(e);
        pw_event_free(e);
    }
    struct pw_record *r = session_read(path);
    for (uint64_t from = 1; from <= 600; from += 37) {
        uint64_t sum = 0;
        for (uint64_t seq = from; seq <= 600 && seq <= from + 50; seq++)
            sum = sum * 31 + bits[seq];
        assert_true(session_sum(r, from, from + 50, &n) == sum);
    }
    pw_record_close(r);
}

static void put_step(struct pw_store *s, uint64_t seq, enum pw_event_kind kind)
{
    struct pw_event *e = pw_event_new(kind);
    e->seq = seq;
    e->arm =
        kind == PW_EV_COMMAND || kind == PW_EV_SESSION || kind == PW_EV_STATE || kind == PW_EV_JOB ? 0 : 1;
    e->replicate = e->arm;
    e->t_ns = (int64_t)seq * 100000000; /* ten a second */
    e->step = (int64_t)seq;
    if (kind == PW_EV_STATE)
        e->u.state.run = PW_RUN_TRAINING;
    if (kind == PW_EV_PROMPT)
        e->u.prompt.id = 1;
    if (kind == PW_EV_JOB)
        e->u.job = (struct pw_ev_job){.state = PW_JOB_RUNNING, .done = 3, .total = 4};
    pw_store_put(s, e);
    pw_event_free(e);
}

struct counts {
    int of[PW_EV_KINDS];
};

static bool count_kind(void *arg, struct pw_event *e)
{
    ((struct counts *)arg)->of[e->kind]++;
    return true;
}

/* Beside training pictures are recorded every two seconds, after a command at once; what is about this
 * process alone never. */
static void records_what_is_worth_it(void **state)
{
    char path[4096];
    struct counts n = {0};
    struct pw_store *s = session_open(session_path(state, path), true);
    uint64_t seq = 1000;
    put_step(s, ++seq, PW_EV_STATE);
    for (int i = 0; i < 50; i++) { /* 0.6 s each, so 30 s: at 2.4 s a time */
        put_step(s, ++seq, PW_EV_STEP);
        put_step(s, ++seq, PW_EV_PROMPT);
        put_step(s, ++seq, PW_EV_TOKEN);
        put_step(s, ++seq, PW_EV_SESSION);
        put_step(s, ++seq, PW_EV_JOB);
        put_step(s, ++seq, PW_EV_STATE);
    }
    put_step(s, ++seq, PW_EV_COMMAND);
    put_step(s, ++seq, PW_EV_PROMPT);
    put_step(s, ++seq, PW_EV_TOKEN);
    put_step(s, ++seq, PW_EV_TABLE);
    put_step(s, ++seq, PW_EV_TABLE);
    session_wait(s, seq);
    pw_store_close(s, "quit");
    struct pw_record *r = session_read(path);
    assert_int_equal(pw_record_events(r, 1, UINT64_MAX, count_kind, &n, NULL), PW_OK);
    pw_record_close(r);
    assert_int_equal(n.of[PW_EV_STEP], 50);
    assert_int_equal(n.of[PW_EV_STATE], 1);
    assert_int_equal(n.of[PW_EV_SESSION], 0);
    assert_int_equal(n.of[PW_EV_JOB], 0);
    assert_in_range(n.of[PW_EV_PROMPT], 13, 16);
    assert_int_equal(n.of[PW_EV_TOKEN], n.of[PW_EV_PROMPT]);
    assert_int_equal(n.of[PW_EV_TABLE], 2);
}

static void one_records_at_a_time(void **state)
{
    char path[4096], words[80];
    uint64_t rng = 1;
    session_path(state, path);
    struct pw_store *s = session_open(path, true);
    session_put(s, 1, 10, &rng);
    session_wait(s, 10);
    snprintf(words, sizeof words, "it is open in pewter %ld on ", (long)getpid());
    assert_refused(path, false, words);
    assert_refused(path, true, "it is there already");
    struct pw_record *r = session_read(path); /* a follower is welcome */
    pw_record_close(r);
    pw_store_close(s, "quit");
    struct pw_err err;
    assert_int_equal(try_open(path, false, &err), PW_OK);
}

static void refuses_what_is_no_session(void **state)
{
    char path[4096], inside[4200];
    session_path(state, path);
    assert_refused(path, false, "there is no such session");
    mkdir(path, 0700);
    assert_refused(path, false, "there is no session.db in it");
    snprintf(inside, sizeof inside, "%s/session.db", path);
    close(open(inside, O_CREAT | O_WRONLY, 0600));
    assert_refused(path, false, "no session: it was never finished, or is something else");
    unlink(inside);
    assert_int_equal(symlink("/etc/passwd", inside), 0);
    assert_refused(path, false, "session.db in it is not a file");
    unlink(inside);
    FILE *f = fopen(inside, "w");
    for (int i = 0; i < 1000; i++)
        fputs("This is a text. ", f);
    fclose(f);
    assert_refused(path, false, "file is not a database");
}

static void edit(const char *path, const char *sql)
{
    char db[4200];
    sqlite3 *raw;
    snprintf(db, sizeof db, "%s/session.db", path);
    assert_int_equal(sqlite3_open(db, &raw), SQLITE_OK);
    char *msg = NULL;
    sqlite3_exec(raw, sql, NULL, NULL, &msg);
    if (msg != NULL)
        fail_msg("%s", msg);
    sqlite3_close(raw);
}

static void refuses_other_versions(void **state)
{
    char path[4096];
    struct pw_err err;
    session_path(state, path);
    assert_int_equal(try_open(path, true, &err), PW_OK);
    edit(path, "PRAGMA user_version=2000");
    assert_refused(path, false, "a session of version 2.0; this pewter knows those of version 1");
    edit(path, "PRAGMA user_version=1007; ALTER TABLE segment ADD COLUMN moon TEXT; CREATE TABLE more(x)");
    assert_int_equal(try_open(path, false, &err), PW_OK);
    edit(path, "PRAGMA user_version=1000");
    assert_refused(path, false, "it has a table 'segment' that a session doesn't have");
    edit(path, "PRAGMA user_version=1007; CREATE VIEW v AS SELECT 1");
    assert_refused(path, false, "it has a view 'v'");
    edit(path, "DROP VIEW v; CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM meta; END");
    assert_refused(path, false, "it has a trigger 't'");
    edit(path, "DROP TRIGGER t; PRAGMA application_id=7");
    assert_refused(path, false, "it is the database of another program");
}

/* ---- files */

static void *bytes_of(size_t n, uint64_t seed)
{
    uint8_t *p = pw_alloc(n, 1);
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)((seed = seed * 6364136223846793005u + 1442695040888963407u) >> 56);
    return p;
}

static void wait_file(struct pw_store *s, const uint8_t sha[32])
{
    for (int i = 0; i < 10000 && !pw_store_has_file(s, sha); i++)
        usleep(1000);
    assert_true(pw_store_has_file(s, sha));
}

static void store_bytes(struct pw_store *s, uint8_t sha[32], size_t n, uint64_t seed)
{
    void *p = bytes_of(n, seed);
    pw_sha256_of(sha, p, n);
    pw_store_file(s, sha, p, n);
    wait_file(s, sha);
}

static void keeps_files_by_content(void **state)
{
    static const size_t sizes[] = {0, 1, 5000, (1 << 20) - 1, 1 << 20, (3 << 20) + 17};
    char path[4096], name[4300];
    uint8_t sha[6][32];
    size_t n;
    void *back;
    struct pw_err err;
    session_path(state, path);
    struct pw_store *s = session_open(path, true);
    for (int i = 0; i < 6; i++)
        store_bytes(s, sha[i], sizes[i], (uint64_t)i);
    store_bytes(s, sha[2], sizes[2], 2); /* once more */
    pw_store_close(s, "quit");

    struct pw_record *r = session_read(path);
    for (int i = 0; i < 6; i++) {
        void *expect = bytes_of(sizes[i], (uint64_t)i);
        assert_int_equal(pw_record_file(r, sha[i], &back, &n, &err), PW_OK);
        assert_int_equal(n, sizes[i]);
        assert_memory_equal(back, expect, n);
        free(back);
        free(expect);
    }
    uint64_t intact;
    assert_int_equal(pw_record_check(r, &intact, &err), PW_OK);
    snprintf(name, sizeof name, "%s/files/", path);
    pw_sha256_text(name + strlen(name), sha[2]);
    FILE *f = fopen(name, "r+");
    fseek(f, 3000, SEEK_SET);
    fputc(fgetc(f) ^ 1, (fseek(f, 3000, SEEK_SET), f));
    fclose(f);
    assert_int_equal(pw_record_file(r, sha[2], &back, &n, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "its content is damaged"));
    assert_null(back);
    assert_int_equal(pw_record_check(r, &intact, &err), PW_EUSER);
    unlink(name);
    assert_int_equal(symlink("/etc/passwd", name), 0);
    assert_int_equal(pw_record_file(r, sha[2], &back, &n, &err), PW_EUSER);
    sha[0][0] ^= 1;
    assert_int_equal(pw_record_file(r, sha[0], &back, &n, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "no such file"));
    pw_record_close(r);
}

/* A command's commit doesn't wait for a checkpoint's. */
static void files_let_commits_pass(void **state)
{
    char path[4096];
    uint8_t sha[32];
    struct pw_store *s = session_open(session_path(state, path), true);
    void *p = bytes_of(24 << 20, 9);
    pw_sha256_of(sha, p, 24 << 20);
    pw_store_file(s, sha, p, 24 << 20);
    int commits = 0;
    for (uint64_t seq = 1; !pw_store_has_file(s, sha); seq++) {
        put_step(s, seq, PW_EV_COMMAND);
        pw_store_hurry(s);
        while (!pw_store_has(s, seq))
            usleep(200);
        commits++;
    }
    assert_true(commits > 3);
    pw_store_close(s, "quit");
}

static void clears_what_a_crash_left(void **state)
{
    char path[4096], name[4300], outside[4300];
    uint8_t sha[32];
    struct pw_err err;
    session_path(state, path);
    struct pw_store *s = session_open(path, true);
    store_bytes(s, sha, 1000, 1);
    pw_store_close(s, "quit");
    static const char *const left[] = {"files/0123", "tmp/abc"};
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "%s/%s", path, left[i]);
        FILE *f = fopen(name, "w");
        fputs("12345", f);
        fclose(f);
    }
    assert_int_equal(try_open(path, false, &err), PW_OK);
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "%s/%s", path, left[i]);
        assert_int_equal(access(name, F_OK), -1);
    }
    snprintf(name, sizeof name, "%s/files", path);
    assert_int_equal(scratch_count(name, NULL), 1);

    /* A link instead of the folder isn't followed: nothing is removed elsewhere. */
    snprintf(outside, sizeof outside, "%s/../outside", path);
    assert_int_equal(rename(name, outside), 0);
    assert_int_equal(symlink("../outside", name), 0);
    assert_refused(path, false, "files in it is not a folder");
    assert_int_equal(scratch_count(outside, NULL), 1);
}

/* ---- the end of the process */

/* Records until it is killed, telling through a pipe what is on disk. */
static void record_until_killed(const char *path, int pipe_fd)
{
    uint64_t rng = 77;
    struct pw_store *s = session_open(path, access(path, F_OK) != 0);
    uint64_t seq = pw_store_last(s), told = seq;
    for (;;) {
        seq++;
        struct pw_event *e = session_event(seq, &rng);
        pw_store_put(s, e);
        pw_event_free(e);
        if (seq % 5 == 0)
            pw_store_hurry(s);
        struct pw_ev_session status;
        pw_store_status(s, &status);
        if (status.saved > told) {
            told = status.saved;
            if (write(pipe_fd, &told, sizeof told) != sizeof told)
                _exit(1);
        }
        if (seq % 16 == 0)
            usleep(100);
    }
}

/* PEWTER_FAULTS=1000 kills so often. */
static void nothing_is_lost_by_kill(void **state)
{
    const char *wanted = getenv("PEWTER_FAULTS");
    int kills = wanted != NULL ? atoi(wanted) : 8;
    char path[4096], name[40];
    uint64_t told = 0, last = 0, intact;
    for (int i = 0; i < kills; i++) {
        int fd[2], status;
        snprintf(name, sizeof name, "s%d.pewter", i / 20);
        scratch_path(state, name, path);
        last = i % 20 == 0 ? 0 : last;
        assert_int_equal(pipe(fd), 0);
        pid_t child = fork();
        if (child == 0) {
            close(fd[0]);
            record_until_killed(path, fd[1]);
        }
        close(fd[1]);
        ssize_t got = read(fd[0], &told, sizeof told);
        usleep((useconds_t)(i * 3700 % 25000));
        kill(child, SIGKILL);
        while (got == sizeof told) {
            last = told;
            got = read(fd[0], &told, sizeof told);
        }
        close(fd[0]);
        waitpid(child, &status, 0);
        assert_true(WIFSIGNALED(status));

        struct pw_record *r = session_read(path);
        struct pw_record_info info;
        struct pw_err err;
        pw_record_info(r, &info);
        assert_true(info.last >= last);
        assert_false(info.ended);
        if (pw_record_check(r, &intact, &err) != PW_OK)
            fail_msg("%s", err.msg);
        assert_int_equal(intact, info.last);
        pw_record_close(r);
    }
    assert_true(last > 0);
    struct pw_store *s = session_open(path, false);
    assert_true(pw_store_last(s) >= last);
    pw_store_close(s, "quit");
}

/* Somebody removes the log from under us: from then on nothing that is committed would be found again. */
static void notices_that_its_log_is_gone(void **state)
{
    char path[4096], log[4200];
    uint64_t rng = 2;
    struct pw_ev_session status;
    struct pw_store *s = session_open(session_path(state, path), true);
    session_put(s, 1, 100, &rng);
    session_wait(s, 100);
    snprintf(log, sizeof log, "%s/session.db-wal", path);
    assert_int_equal(unlink(log), 0);
    session_put(s, 101, 200, &rng);
    session_wait(s, 200); /* it will never be */
    pw_store_status(s, &status);
    assert_int_equal(status.how, PW_REC_PAUSED);
    assert_int_equal(status.saved, 100);
    assert_non_null(strstr(status.why, "somebody has removed session.db-wal"));
    pw_store_close(s, "quit");
}

/* ---- followers */

static void a_follower_sees_commits(void **state)
{
    char path[4096], log[4200];
    uint64_t rng = 4, seen = 0;
    struct stat st;
    struct pw_store *s = session_open(session_path(state, path), true);
    struct pw_record *r = session_read(path);
    struct pw_record_cursor *c;
    struct pw_event *e;
    assert_int_equal(pw_record_begin(r, 1, &c, NULL), PW_OK);
    assert_null(pw_record_next(c));
    snprintf(log, sizeof log, "%s/session.db-wal", path);
    assert_int_equal(stat(log, &st), 0);
    ino_t inode = st.st_ino;
    assert_false(pw_record_poll(r));
    for (int i = 0; i < 20; i++) {
        session_put(s, (uint64_t)(i * 100 + 1), (uint64_t)(i * 100 + 100), &rng);
        session_wait(s, (uint64_t)(i * 100 + 100));
        assert_true(pw_record_poll(r));
        assert_false(pw_record_poll(r));
        for (; (e = pw_record_next(c)) != NULL; pw_event_free(e))
            assert_int_equal(e->seq, ++seen);
        assert_int_equal(seen, i * 100 + 100);
        struct pw_record *brief = session_read(path); /* comes and goes */
        pw_record_close(brief);
        assert_int_equal(stat(log, &st), 0);
        assert_true(st.st_ino == inode);
    }
    pw_record_end(c);
    pw_store_close(s, "quit");
    struct pw_record_info info;
    pw_record_info(r, &info);
    assert_int_equal(info.last, 2000);
    assert_true(info.ended);
    pw_record_close(r);
}

/* ---- moving */

static void moves_while_it_records(void **state)
{
    char path[4096], to[4096], far[] = "/tmp/pewter-unit-XXXXXX", elsewhere[100];
    uint64_t rng = 6, intact;
    uint8_t sha[32];
    struct pw_err err;
    struct pw_ev_session status;
    session_path(state, path);
    scratch_path(state, "t.pewter", to);
    struct pw_store *s = session_open(path, true);
    store_bytes(s, sha, 100000, 1);
    session_put(s, 1, 100, &rng);
    assert_int_equal(pw_store_move(s, to, &err), PW_OK);
    assert_int_equal(access(path, F_OK), -1);
    session_put(s, 101, 200, &rng);
    session_wait(s, 200);
    pw_store_status(s, &status);
    assert_string_equal(status.folder, to);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(pw_store_move(s, path, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "it is there already"));
    assert_int_equal(pw_store_move(s, "/no/such/place/x.pewter", &err), PW_EIO);
    session_put(s, 201, 300, &rng);
    session_wait(s, 300);
    if (mkdtemp(far) != NULL) { /* another file system */
        snprintf(elsewhere, sizeof elsewhere, "%s/u.pewter", far);
        if (pw_store_move(s, elsewhere, &err) != PW_OK)
            fail_msg("%s", err.msg);
        assert_int_equal(access(to, F_OK), -1);
        session_put(s, 301, 400, &rng);
        session_wait(s, 400);
        if (pw_store_move(s, to, &err) != PW_OK) /* and back */
            fail_msg("%s", err.msg);
        rmdir(far);
    }
    session_put(s, 401, 500, &rng);
    pw_store_close(s, "quit");
    struct pw_record *r = session_read(to);
    struct pw_record_info info;
    pw_record_info(r, &info);
    assert_int_equal(info.last, 500);
    if (pw_record_check(r, &intact, &err) != PW_OK)
        fail_msg("%s", err.msg);
    pw_record_close(r);
    assert_refused(path, false, "no session");
}

/* ---- from several threads */

static void *ask(void *arg)
{
    struct pw_ev_session status;
    for (int i = 0; i < 2000; i++)
        pw_store_status(arg, &status);
    return NULL;
}

static void status_from_any_thread(void **state)
{
    char path[4096];
    uint64_t rng = 8;
    pthread_t thread;
    struct pw_store *s = session_open(session_path(state, path), true);
    assert_int_equal(pthread_create(&thread, NULL, ask, s), 0);
    for (uint64_t i = 0; i < 20; i++) {
        session_put(s, i * 50 + 1, i * 50 + 50, &rng);
        pw_store_hurry(s);
        usleep(500);
    }
    pthread_join(thread, NULL);
    pw_store_close(s, "quit");
}

/* ---- names */

static void names_and_folders(void **state)
{
    char dst[1024], state_home[4096], expect[8300];
    struct pw_err err;
    setenv("XDG_STATE_HOME", scratch_path(state, "state", state_home), 1);
    snprintf(expect, sizeof expect, "%s/pewter/sessions/first.pewter", state_home);
    assert_int_equal(pw_session_folder(dst, sizeof dst, "first", &err), PW_OK);
    assert_string_equal(dst, expect);
    pw_session_name(dst, sizeof dst, expect);
    assert_string_equal(dst, "first");
    assert_int_equal(pw_session_folder(dst, sizeof dst, "here.pewter/", &err), PW_OK);
    assert_string_equal(dst, "here.pewter");
    pw_session_name(dst, sizeof dst, "here.pewter");
    assert_string_equal(dst, "here.pewter");
    static const char *const bad[] = {"", ".x", "-x", "a\nb", "\xff\xfe", NULL};
    for (int i = 0; bad[i] != NULL; i++)
        assert_int_equal(pw_session_folder(dst, sizeof dst, bad[i], &err), PW_EUSER);
    char lengthy[120] = "";
    memset(lengthy, 'a', 101);
    assert_int_equal(pw_session_folder(dst, sizeof dst, lengthy, &err), PW_EUSER);
    assert_string_equal(err.msg, "a session's name has at most 100 bytes");
    assert_int_equal(pw_session_unnamed(dst, sizeof dst, &err), PW_OK);
    struct pw_store *s = session_open(dst, true);
    struct pw_ev_session status;
    pw_store_status(s, &status);
    assert_null(strchr(status.name, '/'));
    assert_int_equal(pw_session_unnamed(state_home, sizeof state_home, &err), PW_OK);
    assert_string_not_equal(state_home, dst);
    assert_int_equal(pw_session_folder(expect, sizeof expect, status.name, &err), PW_OK);
    assert_string_equal(expect, dst);
    pw_store_close(s, "quit");
    unsetenv("XDG_STATE_HOME");
    unsetenv("HOME");
    assert_int_equal(pw_session_folder(dst, sizeof dst, "x", &err), PW_EUSER);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, session_setup, session_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(records_in_order),        TEST(goes_on_where_it_ended),       TEST(records_what_is_worth_it),
        TEST(one_records_at_a_time),   TEST(refuses_what_is_no_session),   TEST(refuses_other_versions),
        TEST(keeps_files_by_content),  TEST(files_let_commits_pass),       TEST(clears_what_a_crash_left),
        TEST(nothing_is_lost_by_kill), TEST(notices_that_its_log_is_gone), TEST(a_follower_sees_commits),
        TEST(moves_while_it_records),  TEST(status_from_any_thread),       TEST(names_and_folders),
    };
    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
