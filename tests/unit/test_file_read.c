/* test_file_read.c - tests reading files: whole, their beginning, and in parts; refusals, and the places of a
 * relative path. */
#include "unit.h"

#include <fcntl.h>

#include "base/file.h"

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void reads_up_to_the_limit(void **state)
{
    char path[4096];
    char *data;
    size_t size;
    struct pw_err err;

    put(scratch_path(state, "f", path), "0123456789");
    assert_int_equal(pw_file_read(path, 10, &data, &size, &err), PW_OK);
    assert_int_equal(size, 10);
    assert_memory_equal(data, "0123456789", 11);
    free(data);
    assert_int_equal(pw_file_read(path, 9, &data, &size, &err), PW_EUSER);
    assert_null(data);
    assert_int_equal(size, 0);
    assert_non_null(strstr(err.msg, path));
    assert_non_null(strstr(err.msg, ": has 10 bytes; the limit is 9"));
    put(path, "");
    assert_int_equal(pw_file_read(path, 0, &data, &size, &err), PW_OK);
    assert_int_equal(size, 0);
    assert_string_equal(data, "");
    free(data);
}

/* In /proc a file has 0 bytes until it is read. */
static void reads_what_grows(void **state)
{
    (void)state;
    char *data;
    size_t size;
    struct pw_err err;

    assert_int_equal(pw_file_read("/proc/self/status", 1 << 20, &data, &size, &err), PW_OK);
    assert_true(size > 100);
    assert_int_equal(strlen(data), size);
    assert_non_null(strstr(data, "VmPeak"));
    free(data);
    assert_int_equal(pw_file_read("/proc/self/status", 99, &data, &size, &err), PW_EUSER);
    assert_string_equal(err.msg, "/proc/self/status: has more than 99 bytes, the limit for this file");
}

static void refuses_to_read(void **state)
{
    char path[4096], expect[8192];
    char *data = path;
    size_t size = 7;
    struct pw_err err;

    assert_int_equal(pw_file_read(*state, 100, &data, &size, &err), PW_EUSER);
    snprintf(expect, sizeof expect, "%s: is a directory, not a file", (char *)*state);
    assert_string_equal(err.msg, expect);
    assert_null(data);
    assert_int_equal(size, 0);

    scratch_path(state, "none", path);
    assert_int_equal(pw_file_read(path, 100, &data, &size, &err), PW_EIO);
    snprintf(expect, sizeof expect, "%s: cannot open: No such file or directory", path);
    assert_string_equal(err.msg, expect);

    assert_int_equal(mkfifo(path, 0600), 0); /* must not wait for a writer */
    assert_int_equal(pw_file_read(path, 100, &data, &size, &err), PW_EUSER);
    assert_int_equal(pw_file_read("/dev/zero", 100, &data, &size, &err), PW_EUSER);
    assert_string_equal(err.msg, "/dev/zero: is a device or a pipe, not a file");
    assert_int_equal(pw_file_read("", 100, &data, &size, &err), PW_EIO);

    if (geteuid() != 0) { /* root can read any file */
        scratch_path(state, "secret", path);
        put(path, "x");
        assert_int_equal(chmod(path, 0), 0);
        assert_int_equal(pw_file_read(path, 100, &data, &size, &err), PW_EIO);
        assert_non_null(strstr(err.msg, "Permission denied"));
    }
}

static void long_names_leave_room_for_the_reason(void **state)
{
    (void)state;
    char path[3000];
    char *data;
    size_t size;
    struct pw_err err;
    struct pw_file *f;

    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    assert_int_equal(pw_file_read(path, 100, &data, &size, &err), PW_EIO);
    assert_non_null(strstr(err.msg, "xxx: cannot open: File name too long"));
    assert_int_equal(pw_file_create(&f, path, &err), PW_EIO);
    assert_non_null(strstr(err.msg, "xxx: cannot create: File name too long"));
    assert_null(f);
}

static void reads_the_head(void **state)
{
    char path[4096], *data;
    size_t got, size;
    struct pw_err err;

    put(scratch_path(state, "f", path), "0123456789");
    for (size_t n = 0; n < 14; n++) {
        assert_int_equal(pw_file_read_head(path, n, &data, &got, &size, &err), PW_OK);
        assert_int_equal(got, n < 10 ? n : 10);
        assert_int_equal(size, 10);
        assert_memory_equal(data, "0123456789", got);
        assert_int_equal(data[got], '\0');
        free(data);
    }
    assert_int_equal(pw_file_read_head(*state, 4, &data, &got, &size, &err), PW_EUSER);
    assert_null(data);
    assert_non_null(strstr(err.msg, "is a directory"));
    assert_int_equal(pw_file_read_head("/nonexistent", 4, &data, &got, &size, NULL), PW_EIO);
}

/* A relative path counts from the working directory, then from the watch's folders; an absolute one is
 * itself. */
static void a_relative_path_has_several_places(void **state)
{
    char path[4096], missing[4096];
    const char *folders[] = {missing, *state, NULL};
    struct pw_str place = {0};
    char *data;
    size_t size;
    scratch_path(state, "not-there", missing);
    FILE *f = fopen(scratch_path(state, "relative-name", path), "w");
    assert_non_null(f);
    assert_int_equal(fputs("it", f) >= 0, 1);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(pw_file_read("relative-name", 100, &data, &size, NULL), PW_EIO);
    struct pw_file_watch before = pw_file_watch((struct pw_file_watch){.folders = folders});
    pw_file_place("relative-name", &place);
    assert_string_equal(place.s, path);
    assert_int_equal(pw_file_read("relative-name", 100, &data, &size, NULL), PW_OK);
    assert_string_equal(data, "it");
    free(data);
    pw_str_clear(&place);
    pw_file_place("other-name", &place);
    assert_string_equal(place.s, "other-name");
    pw_str_clear(&place);
    pw_file_place("/relative-name", &place);
    assert_string_equal(place.s, "/relative-name");
    pw_file_watch(before);
    pw_str_fini(&place);
}

/* Bytes that another program cuts off are an error, not zeros. */
static void reads_of_a_shortened_file_fail(void **state)
{
    char path[4096], bytes[100];
    uint8_t sha[32];
    struct pw_err err;
    size_t size;
    int fd;
    FILE *f = fopen(scratch_path(state, "long", path), "w");
    assert_non_null(f);
    assert_int_equal(fwrite("0123456789", 1, 10, f), 10);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(pw_file_open(&fd, path, &size, &err), PW_OK);
    assert_int_equal(size, 10);
    assert_int_equal(pw_file_read_at(fd, path, bytes, 4, 6, &err), PW_OK);
    assert_memory_equal(bytes, "6789", 4);
    assert_int_equal(pw_file_sha(fd, path, size, sha, &err), PW_OK);
    assert_int_equal(truncate(path, 7), 0);
    assert_int_equal(pw_file_read_at(fd, path, bytes, 4, 6, &err), PW_EIO);
    assert_non_null(strstr(err.msg, "long: was shortened while it was read"));
    assert_int_equal(pw_file_sha(fd, path, size, sha, &err), PW_EIO);
    close(fd);
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(pw_file_open(&fd, path, &size, &err), PW_EUSER);
    assert_int_equal(pw_file_open(&fd, *state, &size, &err), PW_EUSER);
}

#define reading(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        reading(reads_up_to_the_limit),
        cmocka_unit_test(reads_what_grows),
        reading(refuses_to_read),
        reading(reads_the_head),
        reading(a_relative_path_has_several_places),
        reading(reads_of_a_shortened_file_fail),
        cmocka_unit_test(long_names_leave_room_for_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
