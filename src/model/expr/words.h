/* words.h - the words of the language of formulas and their meanings, for help and the manual page.
 * Constants, which any thread may read. docs/guide/encodings.md explains them at more length. */
#ifndef PW_EXPR_WORDS_H
#define PW_EXPR_WORDS_H

struct pw_formula_words {
    const char *title; /* in capitals; NULL: the list ends */
    struct pw_formula_word {
        const char *term, *meaning; /* term NULL: a paragraph of its own; meaning NULL: the section ends */
    } words[24];
};

extern const struct pw_formula_words pw_formula_words[];

#endif
