/* encoding_name.c - what an encoding is called wherever there is room for a name only: as it runs.
 *
 * "t5" alone is 8 buckets in a small context and 32 in others, so its sizes are part of the name, as in the
 * papers. Settings that the bare name stands for in every model are left out, all others are there with their
 * key: a new encoding's, too, until it has a line here. */
#include "sessions/fold.h"

#include <string.h>

/* Written as numbers without their keys, joined by a slash. */
static const char *const sizes[] = {"buckets", "distance"};

/* What the bare name says: "rotary" turns whole heads, by pairs (i, i+dims/2). */
static const char *const usual[] = {"base=10000",         "dims=0",      "pairing=half",
                                    "layout=interleaved", "amplitude=1", "hidden=32"};

#define COUNT(list) (sizeof(list) / sizeof *(list))

static bool is_among(const char *const *list, size_t n_list, const char *text, size_t n)
{
    for (size_t i = 0; i < n_list; i++)
        if (strlen(list[i]) == n && strncmp(list[i], text, n) == 0)
            return true;
    return false;
}

void pw_encoding_name(struct pw_str *out, const char *pe)
{
    char sep = ' ';
    size_t n = strcspn(pe, " ");
    pw_str_put(out, pe, n);
    for (const char *word = pe + n; *word == ' '; word += n) {
        n = strcspn(++word, " ");
        size_t key = strcspn(word, "= ");
        if (is_among(sizes, COUNT(sizes), word, key) && key < n) {
            pw_str_add(out, "%c", sep);
            pw_str_put(out, word + key + 1, n - key - 1);
            sep = '/';
        } else if (!is_among(usual, COUNT(usual), word, n)) {
            pw_str_add(out, " ");
            pw_str_put(out, word, n);
        }
    }
}
