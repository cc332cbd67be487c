/* manual_formulas.c - the manual page of the language of formulas. */
#include "base/text.h"
#include "manual.h"
#include "model/expr/words.h"

void pw_manual_formulas(struct pw_str *out)
{
    for (const struct pw_formula_words *s = pw_formula_words; s->title != NULL; s++) {
        pw_str_add(out, ".SH %s\n", s->title);
        for (const struct pw_formula_word *r = s->words; r->meaning != NULL; r++) {
            pw_str_add(out, r->term != NULL ? ".TP\n\\&" : ".PP\n");
            pw_manual_text(out, r->term != NULL ? r->term : "");
            pw_str_add(out, r->term != NULL ? "\n" : "");
            pw_manual_text(out, r->meaning);
            pw_str_add(out, "\n");
        }
    }
}
