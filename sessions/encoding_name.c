/* encoding_name.c - the short name of an encoding, used where a line has room for a name only.
 *
 * "t5" alone has 8 buckets in a small context and 32 in others, so its sizes are part of the name, as in the
 * papers. Options with the value that the bare name implies in every model are left out. All other options
 * are shown with their key, also those of a new encoding that has no line here. */
#include "sessions/fold.h"

#include <string.h>

/* Options written as numbers without their keys, joined by a slash. */
static const char *const sizes[] = {"buckets", "distance"};

/* Values that the bare name implies: "rotary" rotates whole heads, in pairs (i, i+dims/2). */
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
