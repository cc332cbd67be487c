/* ref_ids.c - position ids of a text for tests. */
#include "ref_ids.h"

#include <assert.h>
#include <string.h>

enum { BYTES = 128, LONGEST = 64 };

static enum pw_class class_of(char c)
{
    return c >= '0' && c <= '9'               ? PW_CLASS_DIGIT
           : c == '='                         ? PW_CLASS_LAST
           : c == '+' || c == ',' || c == ':' ? PW_CLASS_SEPARATOR
                                              : PW_CLASS_WORD;
}

void ref_ids(int *ids, const struct pw_pe_use_opts *use, const char *text, bool train, uint64_t key)
{
    unsigned char classes[BYTES];
    int tokens[LONGEST], T = (int)strlen(text);
    const struct pw_config cfg = {.layers = 2,
                                  .width = 64,
                                  .heads = 4,
                                  .head_width = 16,
                                  .context = 128,
                                  .causal = true,
                                  .vocab = BYTES,
                                  .classes = classes};
    assert(T <= LONGEST && use->pe->ids != NULL);
    for (int v = 0; v < BYTES; v++)
        classes[v] = (unsigned char)class_of((char)v);
    for (int t = 0; t < T; t++)
        tokens[t] = text[t];
    use->pe->ids(use->o.bytes, &cfg, &(struct pw_pe_sequence){tokens, T, train, key}, 1, ids);
}
