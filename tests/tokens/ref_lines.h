/* ref_lines.h - the lines on which tokenizers are compared, as tests/golden/make_tokenizers.py draws them. */
#ifndef PW_REF_LINES_H
#define PW_REF_LINES_H
#include <stdint.h>

#include "base/text.h"

#define REF_TOKENIZERS PEWTER_SOURCE_DIR "/tests/golden/tokenizers/"

/* Fragments of lines, and ranges of characters. ref_lines_fini frees them. */
struct ref_lines {
    char **fragments;
    int n;
    uint32_t (*ranges)[2];
    int n_ranges;
};
void ref_lines_init(struct ref_lines *l);
void ref_lines_fini(struct ref_lines *l);
/* Puts line i of a seed into *out, in place of its content. */
void ref_line(const struct ref_lines *l, uint64_t seed, uint64_t i, struct pw_str *out);

#endif
