/* test_npz.c - tests written archives by parsing their structure: headers, directory, checksums, .npy headers
 * and data. */
#include "unit.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <zlib.h>

#include "base/file.h"
#include "base/npz.h"

static uint32_t get(const unsigned char *p, int bytes)
{
    uint32_t v = 0;

    for (int i = bytes - 1; i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

struct entry {
    char name[64];
    const unsigned char *data;
    uint32_t size;
};

/* Parses the end record, the directory and the local headers of an archive, and checks that they agree. */
static int parse(const unsigned char *zip, size_t size, struct entry *entries, int max)
{
    assert_true(size >= 22);
    const unsigned char *end = zip + size - 22; /* no comment follows */
    assert_int_equal(get(end, 4), 0x06054b50);
    int n = (int)get(end + 8, 2);
    assert_int_equal(n, get(end + 10, 2));
    assert_in_range(n, 0, max);
    assert_int_equal(get(end + 20, 2), 0);
    const unsigned char *dir = zip + get(end + 16, 4);
    assert_ptr_equal(dir + get(end + 12, 4), end);

    uint32_t at = 0; /* local headers follow each other without gaps */
    for (int i = 0; i < n; i++) {
        const unsigned char *local = zip + at;
        assert_int_equal(get(dir, 4), 0x02014b50);
        assert_int_equal(get(dir + 42, 4), at);
        assert_int_equal(get(local, 4), 0x04034b50);
        assert_memory_equal(dir + 6, local + 4, 26); /* from the version needed to the extra length */
        assert_int_equal(get(local + 6, 2), 0);      /* no descriptor follows the data */
        assert_int_equal(get(local + 8, 2), 0);      /* stored, not compressed */
        assert_int_equal(get(local + 18, 4), get(local + 22, 4));
        assert_int_equal(get(local + 28, 2), 0);
        assert_int_equal(get(dir + 32, 2), 0);
        uint32_t name = get(local + 26, 2);
        assert_in_range(name, 1, 63);
        assert_memory_equal(local + 30, dir + 46, name);
        memcpy(entries[i].name, local + 30, name);
        entries[i].name[name] = '\0';
        entries[i].data = local + 30 + name;
        entries[i].size = get(local + 18, 4);
        assert_int_equal(get(local + 14, 4), crc32_z(0, entries[i].data, entries[i].size));
        at += 30 + name + entries[i].size;
        dir += 46 + name;
    }
    assert_ptr_equal(zip + at, zip + get(end + 16, 4));
    assert_ptr_equal(dir, end);
    return n;
}

static void assert_npy(const struct entry *e, const char *name, const char *dict, const void *data,
                       size_t bytes)
{
    assert_string_equal(e->name, name);
    assert_true(e->size >= 64);
    assert_memory_equal(e->data, "\x93NUMPY\x01\x00", 8);
    size_t header = 10 + get(e->data + 8, 2), n = strlen(dict);
    assert_int_equal(header % 64, 0);
    assert_true(header >= 10 + n + 1 && header < 10 + n + 1 + 64);
    assert_memory_equal(e->data + 10, dict, n);
    for (size_t i = 10 + n; i < header - 1; i++)
        assert_int_equal(e->data[i], ' ');
    assert_int_equal(e->data[header - 1], '\n');
    assert_int_equal(e->size, header + bytes);
    if (bytes > 0)
        assert_memory_equal(e->data + header, data, bytes);
}

static const float probs[2 * 3 * 4] = {0, 0.5f, -1, 1e-40f, 3.4e38f, -0.0f, (float)INFINITY};
static const int32_t tokens[5] = {0, -1, 2147483647, -2147483647 - 1, 42};

static void write_some(const char *path)
{
    struct pw_npz *z;
    struct pw_err err;

    assert_int_equal(pw_npz_open(&z, path, &err), PW_OK);
    pw_npz_f32(z, "probs", probs, 3, (int64_t[]){2, 3, 4});
    pw_npz_i32(z, "tokens", tokens, 1, (int64_t[]){5});
    pw_npz_f32(z, "none", NULL, 2, (int64_t[]){0, 7});
    pw_npz_i32(z, "scalar", tokens + 4, 0, NULL);
    pw_npz_f32(z, "deep", probs, 8, (int64_t[]){1, 1, 2, 1, 3, 1, 4, 1});
    pw_npz_f32(z, "huge_but_empty", NULL, 4, (int64_t[]){INT64_MAX, INT64_MAX, INT64_MAX, 0});
    assert_int_equal(access(path, F_OK), -1); /* the file gets its name only when it is complete */
    assert_int_equal(pw_npz_close(z, &err), PW_OK);
}

static void structure(void **state)
{
    char path[4096];
    char *zip;
    size_t size;
    struct entry e[8];

    write_some(scratch_path(state, "a.npz", path));
    assert_int_equal(pw_file_read(path, 1 << 20, &zip, &size, NULL), PW_OK);
    assert_int_equal(parse((unsigned char *)zip, size, e, 8), 6);
#define DICT(descr, shape) "{'descr': '" descr "', 'fortran_order': False, 'shape': (" shape "), }"
    assert_npy(&e[0], "probs.npy", DICT("<f4", "2, 3, 4"), probs, sizeof probs);
    assert_npy(&e[1], "tokens.npy", DICT("<i4", "5,"), tokens, sizeof tokens);
    assert_npy(&e[2], "none.npy", DICT("<f4", "0, 7"), NULL, 0);
    assert_npy(&e[3], "scalar.npy", DICT("<i4", ""), tokens + 4, 4);
    assert_npy(&e[4], "deep.npy", DICT("<f4", "1, 1, 2, 1, 3, 1, 4, 1"), probs, sizeof probs);
#define MAX64 "9223372036854775807"
    assert_npy(&e[5], "huge_but_empty.npy", DICT("<f4", MAX64 ", " MAX64 ", " MAX64 ", 0"), NULL, 0);
    free(zip);
    assert_int_equal(scratch_count(*state, NULL), 1);
}

static void same_arrays_same_bytes(void **state)
{
    char a[4096], b[4096];
    char *zip[2];
    size_t size[2];

    write_some(scratch_path(state, "a.npz", a));
    write_some(scratch_path(state, "b.npz", b));
    assert_int_equal(pw_file_read(a, 1 << 20, &zip[0], &size[0], NULL), PW_OK);
    assert_int_equal(pw_file_read(b, 1 << 20, &zip[1], &size[1], NULL), PW_OK);
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(zip[0], zip[1], size[0]);
    assert_int_equal(get((unsigned char *)zip[0] + 10, 4), (1 << 5 | 1) << 16); /* 1980-01-01 0:00 */
    free(zip[0]);
    free(zip[1]);
}

static void an_empty_archive(void **state)
{
    char path[4096];
    char *zip;
    size_t size;
    struct pw_npz *z;
    struct entry e[1];

    assert_int_equal(pw_npz_open(&z, scratch_path(state, "e.npz", path), NULL), PW_OK);
    assert_int_equal(pw_npz_close(z, NULL), PW_OK);
    assert_int_equal(pw_file_read(path, 100, &zip, &size, NULL), PW_OK);
    assert_int_equal(parse((unsigned char *)zip, size, e, 1), 0);
    free(zip);
}

static void abandoned(void **state)
{
    char path[4096];
    struct pw_npz *z;

    assert_int_equal(pw_npz_open(&z, scratch_path(state, "a.npz", path), NULL), PW_OK);
    pw_npz_i32(z, "tokens", tokens, 1, (int64_t[]){5});
    pw_npz_abandon(z);
    pw_npz_abandon(NULL);
    assert_int_equal(scratch_count(*state, NULL), 0);
}

/* The sizes are refused before the data are read, so no data need exist. */
static void four_gigabytes_are_refused(void **state)
{
    static const int64_t dims[][4] = {
        {1 << 15, 1 << 15, 1, 1},
        {INT64_MAX, INT64_MAX, 1, 1},
        {(int64_t)1 << 62, 1, 1, 1},
        {(1 << 30) - 1, 1, 1, 1}, /* the data alone would fit */
    };
    char path[4096];
    struct pw_npz *z;
    struct pw_err err;

    scratch_path(state, "big.npz", path);
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        assert_int_equal(pw_npz_open(&z, path, &err), PW_OK);
        pw_npz_f32(z, "ok", probs, 1, (int64_t[]){3});
        pw_npz_f32(z, "score", probs, 4, dims[i]);
        pw_npz_f32(z, "later", probs, 1, (int64_t[]){3}); /* has no effect after a failure */
        pw_npz_f32(z, "again", probs, 4, dims[i]);
        assert_int_equal(pw_npz_close(z, &err), PW_EUSER);
        assert_string_equal(err.msg, "array 'score': the archive would exceed 4 GiB, the limit of an .npz");
        assert_int_equal(scratch_count(*state, NULL), 0);
    }
}

static void failures_of_the_disk(void **state)
{
    char path[4096];
    struct pw_npz *z = (struct pw_npz *)path;
    struct pw_err err;
    struct rlimit before, small;
    static float zeros[10000];

    assert_int_equal(pw_npz_open(&z, scratch_path(state, "missing/a.npz", path), &err), PW_EIO);
    assert_null(z);
    assert_non_null(strstr(err.msg, "missing/a.npz: cannot create: No such file or directory"));

    assert_int_equal(pw_npz_open(&z, scratch_path(state, "a.npz", path), &err), PW_OK);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 10000;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    pw_npz_f32(z, "zeros", zeros, 1, (int64_t[]){10000});
    pw_npz_f32(z, "more", zeros, 1, (int64_t[]){10000});
    enum pw_code code = pw_npz_close(z, &err);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    assert_int_equal(code, PW_EIO);
    assert_non_null(strstr(err.msg, "a.npz: cannot write: File too large"));
    assert_int_equal(scratch_count(*state, NULL), 0);
}

#define writing(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        writing(structure), writing(same_arrays_same_bytes),     writing(an_empty_archive),
        writing(abandoned), writing(four_gigabytes_are_refused), writing(failures_of_the_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
