/* test_keys.c - bytes in, keys out; in one piece, byte by byte, and as noise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka needs what stands above */
#include "ui/keys.h"
#include <cmocka.h>

#define MAX_KEYS 64

struct seen {
    int n;
    struct pw_input in[MAX_KEYS];
    char paste[256]; /* the last one */
};

static void take(struct pw_keys *k, struct seen *s)
{
    struct pw_input in;
    while (pw_keys_next(k, &in)) {
        assert_true(s->n < MAX_KEYS);
        s->in[s->n++] = in;
        if (in.key == PW_KEY_PASTE) {
            assert_true(in.n_paste < sizeof s->paste);
            memcpy(s->paste, in.paste, in.n_paste);
            s->paste[in.n_paste] = '\0';
        }
    }
}

/* The same bytes whole and one by one give the same keys. */
static struct seen decode(const char *bytes)
{
    struct seen whole = {0};
    struct seen single = {0};
    struct pw_keys k;
    size_t n = strlen(bytes);
    pw_keys_init(&k);
    assert_int_equal(pw_keys_feed(&k, bytes, n), n);
    take(&k, &whole);
    pw_keys_fini(&k);
    pw_keys_init(&k);
    for (size_t i = 0; i < n; i++) {
        pw_keys_feed(&k, bytes + i, 1);
        take(&k, &single);
    }
    pw_keys_fini(&k);
    assert_int_equal(whole.n, single.n);
    for (int i = 0; i < whole.n; i++) {
        assert_int_equal(whole.in[i].key, single.in[i].key);
        assert_int_equal(whole.in[i].n_raw, single.in[i].n_raw);
    }
    return whole;
}

static void assert_keys(const char *bytes, const int *keys, int n)
{
    struct seen s = decode(bytes);
    assert_int_equal(s.n, n);
    for (int i = 0; i < n; i++)
        assert_int_equal(s.in[i].key, keys[i]);
}

#define KEYS(bytes, ...)                                                                                     \
    assert_keys(bytes, (int[]){__VA_ARGS__}, (int)(sizeof(int[]){__VA_ARGS__} / sizeof(int)))

static void test_characters(void **state)
{
    (void)state;
    KEYS("ab ", 'a', 'b', ' ');
    KEYS("\r\n\t\x7f\x03", '\n', '\n', '\t', 127, 3);
    KEYS("\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x8c\x8a", 0xe9, 0x6f22, 0x1f30a);
    KEYS("\xff"
         "a\xc3"
         "b",
         0xfffd, 'a', 0xfffd, 'b');
}

static void test_sequences(void **state)
{
    (void)state;
    KEYS("\033[A\033OB\033[1;5C\033[D", PW_KEY_UP, PW_KEY_DOWN, PW_KEY_RIGHT, PW_KEY_LEFT);
    KEYS("\033[H\033[1~\033OH\033[7~", PW_KEY_HOME, PW_KEY_HOME, PW_KEY_HOME, PW_KEY_HOME);
    KEYS("\033[F\033[4~\033[5~\033[6~\033[Z", PW_KEY_END, PW_KEY_END, PW_KEY_PAGE_UP, PW_KEY_PAGE_DOWN,
         PW_KEY_BACKTAB);
    KEYS("\033OP\033[11~\033[[Ax", PW_KEY_F1, PW_KEY_F1, PW_KEY_F1, 'x');
    KEYS("\033\033[A", 27, PW_KEY_UP); /* ESC, then an arrow */
    KEYS("\033bq", 0, 'q');            /* Alt-b means nothing to panes */
    struct seen s = decode("\033[1;5C\033b\033[3~");
    assert_int_equal(s.n, 3); /* but readline gets all of them */
    assert_memory_equal(s.in[0].raw, "\033[1;5C", s.in[0].n_raw);
    assert_int_equal(s.in[0].n_raw, 6);
    assert_int_equal(s.in[1].n_raw, 2);
    assert_int_equal(s.in[2].n_raw, 4);
}

/* Answers to queries, focus reports and what nobody knows are no keys, and nothing of them leaks into the
 * text. */
static void test_swallowed(void **state)
{
    (void)state;
    KEYS("a\033[?1;2c\033[?2026;2$y\033[I\033[Ob\033[>0;10;1cc", 'a', 'b', 'c');
    KEYS("\033[12;1Rz", 'z');
    KEYS("\033[1111111111111111111111111111111111111111111~x", 'x'); /* too long for any key */
}

static void test_mouse(void **state)
{
    (void)state;
    struct seen s =
        decode("\033[<0;281;7M\033[<0;281;7m\033[<64;1;1M\033[<65;2;2M\033[<35;3;3M\033[M !\"\033[M#!!");
    assert_int_equal(s.n, 4); /* releases and motion are left out */
    for (int i = 0; i < s.n; i++)
        assert_int_equal(s.in[i].key, PW_KEY_MOUSE);
    assert_int_equal(s.in[0].x, 280);
    assert_int_equal(s.in[0].y, 6);
    assert_int_equal(s.in[0].button, PW_BUTTON_LEFT);
    assert_int_equal(s.in[1].button, PW_BUTTON_WHEEL_UP);
    assert_int_equal(s.in[2].button, PW_BUTTON_WHEEL_DOWN);
    assert_int_equal(s.in[3].x, 0);
    assert_int_equal(s.in[3].y, 1);
    assert_int_equal(s.in[3].n_raw, 0); /* never for readline */
}

static void test_paste(void **state)
{
    (void)state;
    struct seen s = decode("x\033[200~one\r\ntwo \033[A \033[20\033[201~y");
    assert_int_equal(s.n, 3);
    assert_int_equal(s.in[0].key, 'x');
    assert_int_equal(s.in[1].key, PW_KEY_PASTE);
    assert_string_equal(s.paste, "one\r\ntwo \033[A \033[20");
    assert_int_equal(s.in[2].key, 'y');
    s = decode("\033[200~\033[201~\033[201~z"); /* an empty one, and an end without a beginning */
    assert_int_equal(s.n, 2);
    assert_int_equal(s.in[0].n_paste, 0);
    assert_int_equal(s.in[1].key, 'z');
}

static void test_lone_escape(void **state)
{
    (void)state;
    struct pw_keys k;
    struct pw_input in;
    pw_keys_init(&k);
    pw_keys_feed(&k, "\033", 1);
    assert_false(pw_keys_next(&k, &in));
    assert_int_equal(pw_keys_waiting(&k), 1);
    assert_true(pw_keys_settle(&k, &in));
    assert_int_equal(in.key, 27);
    assert_int_equal(pw_keys_waiting(&k), 0);
    assert_false(pw_keys_settle(&k, &in));

    pw_keys_feed(&k, "\033[1", 3); /* the rest never comes */
    assert_false(pw_keys_next(&k, &in));
    assert_true(pw_keys_settle(&k, &in));
    assert_int_equal(in.key, 27);
    assert_true(pw_keys_next(&k, &in));
    assert_int_equal(in.key, '[');

    pw_keys_fini(&k);
    pw_keys_init(&k);
    pw_keys_feed(&k, "\033[200~abc\033", 10);
    assert_false(pw_keys_next(&k, &in));
    assert_int_equal(pw_keys_waiting(&k), 0); /* a slow paste is no lone ESC */
    assert_false(pw_keys_settle(&k, &in));
    pw_keys_fini(&k);
}

/* Whatever comes, the decoder never reads or writes outside, and never holds more than a sequence for ever.
 */
static void test_noise(void **state)
{
    (void)state;
    static const char alphabet[] = "\033\033\033[[[O<;?M~A0129 \x80\xc3\xe6\xf0\xff\r\x03m";
    struct pw_keys k;
    struct pw_input in;
    uint32_t r = 1;
    pw_keys_init(&k);
    for (int i = 0; i < 200000; i++) {
        r = r * 1664525u + 1013904223u;
        char c = alphabet[(r >> 16) % (sizeof alphabet - 1)];
        assert_int_equal(pw_keys_feed(&k, &c, 1), 1);
        while (pw_keys_next(&k, &in))
            assert_true(in.n_raw <= PW_KEY_BYTES);
        assert_true(pw_keys_waiting(&k) <= PW_KEY_BYTES);
    }
    pw_keys_fini(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_characters), cmocka_unit_test(test_sequences),
        cmocka_unit_test(test_swallowed),  cmocka_unit_test(test_mouse),
        cmocka_unit_test(test_paste),      cmocka_unit_test(test_lone_escape),
        cmocka_unit_test(test_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
