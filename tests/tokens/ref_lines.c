/* ref_lines.c - the counted generator of hard text (see ref_lines.h). */
#include "ref_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/mix.h"

/* Appends a fragment with its escapes read. */
static void read_fragment(const char *s, struct pw_str *out)
{
    while (*s != '\0') {
        char *end = NULL, bytes[4];
        if (*s != '\\') {
            pw_str_put(out, s++, 1);
        } else if (s[1] == 'u') {
            pw_str_put(out, bytes, pw_utf8_put(bytes, (uint32_t)strtoul(s + 3, &end, 16)));
            s = end + 1;
        } else {
            pw_str_put(out, s[1] == 'n' ? "\n" : s[1] == 't' ? "\t" : s[1] == 'r' ? "\r" : "\\", 1);
            s += 2;
        }
    }
}

void ref_lines_init(struct ref_lines *l)
{
    char line[512];
    unsigned lo, hi;
    FILE *f = fopen(REF_TOKENIZERS "fragments.txt", "r");
    *l = (struct ref_lines){0};
    if (f == NULL) {
        perror(REF_TOKENIZERS "fragments.txt");
        exit(2);
    }
    while (fgets(line, sizeof line, f) != NULL) {
        struct pw_str out = {0};
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "range %x %x", &lo, &hi) == 2) {
            l->ranges = pw_grow(l->ranges, (size_t)l->n_ranges + 1, sizeof *l->ranges);
            l->ranges[l->n_ranges][0] = lo;
            l->ranges[l->n_ranges++][1] = hi;
        } else if (strncmp(line, "# ", 2) != 0) {
            read_fragment(line, &out);
            l->fragments = pw_grow(l->fragments, (size_t)l->n + 1, sizeof *l->fragments);
            l->fragments[l->n++] = out.s;
        }
    }
    fclose(f);
}

void ref_lines_fini(struct ref_lines *l)
{
    for (int i = 0; i < l->n; i++)
        free(l->fragments[i]);
    free(l->fragments);
    free(l->ranges);
}

void ref_line(const struct ref_lines *l, uint64_t seed, uint64_t i, struct pw_str *out)
{
    uint64_t count = 0;
#define BELOW(n) (count++, pw_mix64((seed << 40) + (i << 16) + count) % (uint64_t)(n))
    pw_str_clear(out);
    for (uint64_t parts = 1 + BELOW(12); parts > 0; parts--) {
        uint64_t kind = BELOW(16);
        if (kind < 2) {
            const uint32_t *range = l->ranges[BELOW(l->n_ranges)];
            for (uint64_t n = 1 + BELOW(6); n > 0; n--) {
                char bytes[4];
                uint32_t cp = range[0] + (uint32_t)BELOW(range[1] - range[0] + 1);
                pw_str_put(out, bytes, pw_utf8_put(bytes, cp));
            }
            continue;
        }
        const char *fragment = l->fragments[BELOW(l->n)];
        for (uint64_t n = kind == 2 ? 1 + BELOW(9) : 1; n > 0; n--)
            pw_str_put(out, fragment, strlen(fragment));
    }
#undef BELOW
}
