/* area.c - the main function of an area's test program: `test_unit codec` runs tests/unit/test_codec.c. One
 * program for an area instead of one for each file, because every program links the whole library. CMake
 * writes the list of tests, PW_TESTS. */
#include <stdio.h>
#include <string.h>

#define TEST(name, function) int function(void);
#include PW_TESTS
#undef TEST

static const struct {
    const char *name;
    int (*run)(void);
} tests[] = {
#define TEST(name, function) {#name, function},
#include PW_TESTS
#undef TEST
};

int main(int argc, char **argv)
{
    size_t n = sizeof tests / sizeof tests[0];
    for (size_t i = 0; argc == 2 && i < n; i++)
        if (strcmp(argv[1], tests[i].name) == 0)
            return tests[i].run();
    fprintf(stderr, "usage: %s TEST, which is one of:\n", argv[0]);
    for (size_t i = 0; i < n; i++)
        fprintf(stderr, "  %s\n", tests[i].name);
    return 2;
}
