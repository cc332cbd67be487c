/* test_tensorboard.c - tests event files for TensorBoard. The first bytes are those of every TensorFlow
 * event file. A table-driven CRC of this test confirms every checksum, and the scalars are the measured
 * ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "ref_lab.h"

static uint32_t crc32c(const unsigned char *p, size_t n)
{
    static uint32_t table[256];
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int k = 0; k < 8; k++)
            table[i] = table[i] & 1 ? table[i] >> 1 ^ 0x82f63b78u : table[i] >> 1;
    }
    uint32_t c = ~0u;
    while (n-- > 0)
        c = table[(c ^ *p++) & 255] ^ c >> 8;
    return ~c;
}

static uint32_t masked(const unsigned char *p, size_t n)
{
    uint32_t c = crc32c(p, n);
    return ((c >> 15) | (c << 17)) + 0xa282ead8u;
}

static uint32_t little(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Reads the records; returns how many have the tag, and the last value. */
static int count(const unsigned char *p, size_t n, const char *tag, float *last)
{
    int found = 0;
    for (size_t at = 0; at < n;) {
        uint32_t size = little(p + at);
        assert_true(at + 16 + size <= n);
        assert_int_equal(little(p + at + 4), 0); /* no record is that large */
        assert_int_equal(little(p + at + 8), masked(p + at, 8));
        assert_int_equal(little(p + at + 12 + size), masked(p + at + 12, size));
        const unsigned char *data = p + at + 12, *has = memmem(data, size, tag, strlen(tag));
        if (has != NULL && has[-1] == strlen(tag)) {
            assert_int_equal(has[strlen(tag)], 2 << 3 | 5); /* simple_value, 4 bytes: the record's last */
            memcpy(last, data + size - 4, sizeof *last);
            found++;
        }
        at += 16 + size;
    }
    return found;
}

static void test_records(void **state)
{
    struct bench b;
    struct pw_err err;
    char folder[] = "/tmp/pewter-tensorboard-XXXXXX", line[256], *data;
    static const char *const runs[] = {"1-none-seed0", "1-none-seed1", "2-t5-8-16-seed0", "2-t5-8-16-seed1"};
    size_t n;
    (void)state;
    assert_int_equal(crc32c((const unsigned char *)"123456789", 9), 0xe3069283); /* RFC 3720, B.4's check */
    assert_non_null(mkdtemp(folder));
    bench_open(&b, 1, false);
    snprintf(line, sizeof line, "export tensorboard %s", folder);
    bench_run(&b, line);
    assert_string_equal(b.error,
                        "export tensorboard: there is no training or evaluation yet; run 'train' first");
    bench_must(&b, "race none,t5 seeds=2; train 20; eval samples=8");
    bench_must(&b, line);
    bench_must(&b, line); /* again, over existing files */
    for (int i = 0; i < 4; i++) {
        const struct pw_replica_view *rep = &b.s->arms[i / 2].rep[i % 2];
        float loss, beyond, moved;
        char path[128];
        snprintf(path, sizeof path, "%s/%s/events.out.tfevents.pewter", folder, runs[i]);
        assert_int_equal(pw_file_read(path, 1 << 20, &data, &n, &err), PW_OK);
        assert_memory_equal(data, "\x18\0\0\0\0\0\0\0\xa3\x7fK\"\t", 13);
        assert_memory_equal(data + 12 + 9,
                            "\x1a\x0d"
                            "brain.Event:2",
                            15);
        const unsigned char *bytes = (const unsigned char *)data;
        assert_int_equal(count(bytes, n, "loss", &loss), 20);
        assert_memory_equal(&loss, &rep->series.v[PW_M_LOSS][19], sizeof loss);
        assert_int_equal(count(bytes, n, "exact_match/beyond", &beyond), 1);
        assert_memory_equal(&beyond, &rep->track.beyond[0], sizeof beyond);
        assert_int_equal(count(bytes, n, "update_to_weight/embed", &moved), 2);
        free(data);
        unlink(path);
        *strrchr(path, '/') = '\0';
        assert_int_equal(rmdir(path), 0);
    }
    assert_int_equal(rmdir(folder), 0);
    bench_close(&b);
}

/* Running text has the loss of held-out windows in place of exact match. */
static void test_held_out(void **state)
{
    char folder[] = "/tmp/pewter-tensorboard-XXXXXX", line[256], path[128], *data;
    struct bench b;
    struct pw_err err;
    size_t n;
    float held;
    (void)state;
    assert_non_null(mkdtemp(folder));
    bench_open(&b, 1, false);
    bench_must(
        &b,
        "model tiny layers=1 width=16 heads=2 context=64; task text path=" PEWTER_SOURCE_DIR
        "/texts/chronicle.txt lengths=8 test=16; pe none; train 5; eval samples=4; train 5; eval samples=4");
    snprintf(line, sizeof line, "export tensorboard %s", folder);
    bench_must(&b, line);
    snprintf(path, sizeof path, "%s/1-none-seed0/events.out.tfevents.pewter", folder);
    assert_int_equal(pw_file_read(path, 1 << 20, &data, &n, &err), PW_OK);
    assert_int_equal(count((const unsigned char *)data, n, "loss_held_out/beyond", &held), 2);
    assert_int_equal(count((const unsigned char *)data, n, "loss_held_out/in_range", &held), 2);
    assert_memory_equal(&held, &b.s->arms[0].rep[0].track.held[1], sizeof held);
    assert_int_equal(count((const unsigned char *)data, n, "exact_match/in_range", &held), 0);
    free(data);
    unlink(path);
    *strrchr(path, '/') = '\0';
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(folder), 0);
    bench_close(&b);
}

/* With own batches a run's name has their seed, too. */
static void test_own_batches(void **state)
{
    static const char *const runs[] = {"1-none-seed9-batches7", "1-none-seed10-batches8"};
    char folder[] = "/tmp/pewter-tensorboard-XXXXXX", line[256];
    struct bench b;
    (void)state;
    assert_non_null(mkdtemp(folder));
    bench_open(&b, 1, false);
    snprintf(line, sizeof line,
             "seed 7; race none seeds=2 batches=own; seed 9 arm=1; train 1; export tensorboard %s", folder);
    bench_must(&b, line);
    for (int i = 0; i < 2; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s/events.out.tfevents.pewter", folder, runs[i]);
        assert_int_equal(unlink(path), 0);
        *strrchr(path, '/') = '\0';
        assert_int_equal(rmdir(path), 0);
    }
    assert_int_equal(rmdir(folder), 0);
    bench_close(&b);
}

static void test_refused(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "train 1");
    bench_run(&b, "export tensorboard /dev/null/x");
    assert_non_null(strstr(b.error, "/dev/null/x: cannot create this folder: Not a directory"));
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_held_out),
        cmocka_unit_test(test_own_batches),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
