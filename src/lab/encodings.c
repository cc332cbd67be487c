#include "lab/encodings.h"

#include "lab/lab_int.h"

int pw_complete_encoding(const struct pw_args *so_far, int at, const char **names, int max)
{
    (void)so_far;
    int n = 0;
    for (; at == 0 && n < max && pw_pes[n] != NULL; n++)
        names[n] = pw_pes[n]->name;
    return n;
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
