/* test_disk.c - keys whose commands write files, while the disk does not answer. */
#include "ref_bench.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ui/disk.h"
#include "ui/history.h"

static struct {
    pthread_mutex_t lock;
    pthread_cond_t freed;
    pthread_t screen; /* must never wait for the disk */
    bool stuck;
    int by_screen, by_others;
} disk = {.lock = PTHREAD_MUTEX_INITIALIZER, .freed = PTHREAD_COND_INITIALIZER};

/* Takes the place of the C library's: a disk that holds every writer while it is stuck. */
int fsync(int fd)
{
    (void)fd;
    pthread_mutex_lock(&disk.lock);
    disk.by_others += !pthread_equal(pthread_self(), disk.screen);
    if (disk.stuck && pthread_equal(pthread_self(), disk.screen))
        disk.by_screen++; /* and goes on, so that the test can say so */
    else
        while (disk.stuck)
            pthread_cond_wait(&disk.freed, &disk.lock);
    pthread_mutex_unlock(&disk.lock);
    return 0;
}

static void stick(bool stuck)
{
    pthread_mutex_lock(&disk.lock);
    disk.screen = pthread_self();
    disk.stuck = stuck;
    pthread_cond_broadcast(&disk.freed);
    pthread_mutex_unlock(&disk.lock);
}

/* Presses a key and runs the line that it stands for, as the loop does. */
static void press(struct bench *b, int key)
{
    struct pw_str line = {0};
    pw_ui_key(&b->app.ui, key, &line);
    if (line.len > 0)
        bench_run(b, line.s);
    pw_str_fini(&line);
}

static void take_written(struct bench *b)
{
    pw_disk_wait(b->app.disk);
    assert_int_equal(pw_app_take_written(&b->app, &b->err), PW_OK);
}

/* While the disk is stuck, keys that write files are done at once, and later keys reach the screen. */
static void no_key_waits_for_the_disk(void **state)
{
    struct bench *b = *state;
    char first[256];
    b->app.disk = pw_disk_open();
    bench_run(b, "focus lengths");
    stick(true);
    press(b, 'Y');
    bench_shows(b, "wrote", false);
    press(b, 'Y'); /* another name, although the first files are not there yet */
    press(b, 'y');
    press(b, 'v');
    bench_shows(b, "errors 2/4", true);
    assert_int_equal(disk.by_screen, 0);
    stick(false);
    take_written(b);
    assert_true(disk.by_others > 0);
    bench_shows(b, "bytes in", true);
    snprintf(first, sizeof first, "%s/pewter/screenshots/lengths-640", b->folder);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++) {
            static const char *const endings[] = {"txt", "ans", "svg"};
            char path[300];
            snprintf(path, sizeof path, "%s%s.%s", first, i ? "-2" : "", endings[k]);
            if (access(path, F_OK) != 0)
                fail_msg("%s is missing", path);
        }
    bench_run(b, "screenshot /nowhere/x.txt"); /* the error comes when the disk has said it */
    pw_disk_wait(b->app.disk);
    assert_int_equal(pw_app_take_written(&b->app, &b->err), PW_EIO);
    assert_non_null(strstr(b->err.msg, "/nowhere/x.txt"));
    assert_int_equal(pw_app_take_written(&b->app, &b->err), PW_OK);
    bench_run(b, "wait 0; copy"); /* in a script the next command finds the file */
    while (pw_script_busy(&b->app))
        assert_int_equal(pw_script_go_on(&b->app, &b->err), PW_OK);
    bench_shows(b, "bytes in", true);
    pw_script_end(&b->app);
}

/* A typed line is kept without waiting until the file takes it: here a pipe that is full. */
static void no_line_waits_for_the_history(void **state)
{
    struct bench *b = *state;
    struct pw_history h;
    int ends[2];
    char bytes[4096] = {0};
    (void)b;
    assert_int_equal(pipe(ends), 0);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    while (write(ends[1], bytes, sizeof bytes) > 0)
        ;
    fcntl(ends[1], F_SETFL, 0);
    assert_int_equal(pw_history_open(&h, &b->err), PW_OK);
    close(h.fd);
    h.fd = ends[1];
    h.disk = pw_disk_open();
    alarm(60); /* to fail, not to hang */
    assert_true(pw_history_add(&h, "train 3"));
    assert_true(pw_history_add(&h, "eval"));
    alarm(0);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    struct pw_str all = {0};
    for (ssize_t n; strstr(pw_str_text(&all), "eval\n") == NULL;) {
        n = read(ends[0], bytes, sizeof bytes);
        for (ssize_t i = 0; i < n; i++)
            if (bytes[i])
                pw_str_put(&all, bytes + i, 1);
    }
    assert_string_equal(all.s, "train 3\neval\n");
    pw_str_fini(&all);
    pw_disk_close(h.disk);
    pw_history_close(&h);
    close(ends[0]);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, bench_setup, bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(no_key_waits_for_the_disk), TEST(no_line_waits_for_the_history)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
