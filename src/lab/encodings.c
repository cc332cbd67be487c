/* encodings.c - completion of arguments that name an encoding, and splitting lists of encodings. */
#include "lab/encodings.h"

#include "lab/core/lab_int.h"

void pw_offer_encodings(struct pw_completion *c)
{
    for (int i = 0; pw_pes[i] != NULL; i++)
        pw_complete_offer(c, "%s", pw_pes[i]->name);
}

void pw_complete_encoding(struct pw_completion *c)
{
    if (c->at == 0)
        pw_offer_encodings(c);
}

const struct pw_opt *pw_encoding_opts_at(const struct pw_args *so_far, int i)
{
    const struct pw_pe *pe = pw_args_words(so_far) > i ? pw_pe_find(pw_args_word(so_far, i)) : NULL;
    return pe != NULL ? pe->opts : NULL;
}

const struct pw_opt *pw_encoding_opts(const struct pw_args *so_far)
{
    return pw_encoding_opts_at(so_far, 0);
}

int pw_cut_encodings(char *list, char *out[PW_MOST_ENCODINGS])
{
    int n = 0, depth = 0;
    out[n++] = list;
    for (char *c = list; *c != '\0'; c++) {
        depth += (*c == '(') - (*c == ')');
        if (*c == ',' && depth == 0 && n < PW_MOST_ENCODINGS) {
            *c = '\0';
            out[n++] = c + 1;
        }
    }
    return n;
}
