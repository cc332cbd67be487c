/* test_sha256.c - tests SHA-256 against the example of FIPS 180-4, the empty message and a million a's. */
#include "base/sha256.h"
#include "unit.h"

static void is(const uint8_t sha[32], const char *text)
{
    char got[65];
    uint8_t back[32];
    pw_sha256_text(got, sha);
    assert_string_equal(got, text);
    assert_true(pw_sha256_read(back, text));
    assert_memory_equal(back, sha, 32);
}

static void test_known(void **state)
{
    (void)state;
    uint8_t sha[32];
    pw_sha256_of(sha, "abc", 3);
    is(sha, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    pw_sha256_of(sha, "", 0);
    is(sha, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    struct pw_sha256 h;
    pw_sha256_begin(&h);
    for (int i = 0; i < 1000; i++) {
        char a[1000];
        memset(a, 'a', sizeof a);
        pw_sha256_add(&h, a, sizeof a);
    }
    pw_sha256_end(&h, sha);
    is(sha, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void test_not_a_digest(void **state)
{
    (void)state;
    uint8_t sha[32];
    assert_false(pw_sha256_read(sha, ""));
    assert_false(pw_sha256_read(sha, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015a"));
    assert_false(pw_sha256_read(sha, "Ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    assert_false(pw_sha256_read(sha, "../816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_not_a_digest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
