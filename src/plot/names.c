/* names.c - names and lookup of things in a snapshot. */
#include "plot/names.h"
#include <string.h>

const char *pw_label(const char *label)
{
    while (*label == ' ' && label[1])
        label++;
    return *label == ' ' || *label == '\0' ? "·" : label;
}

void pw_arm_name(const struct pw_arm_view *a, struct pw_str *out)
{
    pw_str_add(out, "%d ", a->info.id);
    pw_encoding_name(out, a->info.pe);
    if (a->info.swaps > 0)
        pw_str_add(out, " " PW_SWAPPED);
}

void pw_replica_text(const struct pw_arm_view *a, int replica, struct pw_str *out)
{
    if (a->info.replicas > 1)
        pw_str_add(out, ", replica %d of %d", replica > 1 ? replica : 1, a->info.replicas);
}

void pw_replica_name(const struct pw_arm_view *a, int replica, struct pw_str *out)
{
    pw_arm_name(a, out);
    pw_replica_text(a, replica, out);
}

const struct pw_arm_view *pw_find_arm(const struct pw_snapshot *s, int id)
{
    return id >= 1 && id <= PW_MAX_ARMS && s->arms[id - 1].used ? &s->arms[id - 1] : NULL;
}

const struct pw_ev_token *pw_token_at(const struct pw_snapshot *s, int pos)
{
    int64_t i = s->n_tokens > 0 ? (int64_t)pos - s->tokens[0].pos : -1; /* positions are consecutive */

    return i >= 0 && i < s->n_tokens && s->tokens[i].pos == pos ? &s->tokens[i] : NULL;
}

int pw_answer_end(const struct pw_snapshot *s)
{
    int end = s->prompt.has_answer ? s->prompt.n : s->prompt.n_prompt;
    int last = s->n_tokens > 0 ? s->tokens[s->n_tokens - 1].pos + 1 : 0;

    return last > end ? last : end;
}

const char *pw_answer_wanted(const struct pw_snapshot *s, int pos)
{
    return s->prompt.has_answer && pos >= s->prompt.n_prompt && pos < s->prompt.n
               ? pw_label(s->prompt.labels[pos])
               : "";
}
