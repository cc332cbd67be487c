/* pointers.c - gold pointers (see pw_taskset_pointers in task.h).
 *
 * A sample holds tokens only. Its item is read back from the prompt's text, which every task can do, so typed
 * prompts have pointers like drawn ones. A task returns the pointers of answers without scratchpad; the steps
 * are removed before its hook is called. */
#include "base/alloc.h"
#include "tasks/read.h"
#include "tasks/scratchpad.h"
#include <stdlib.h>
#include <string.h>

const char *pw_spelling_word(const struct pw_spelling *text, int i)
{
    const char *word = text->words[text->tokens[i]];
    return word + (*word == ' ');
}

bool pw_spelling_symbol(const struct pw_spelling *text, int i)
{
    const char *word = pw_spelling_word(text, i);
    return pw_symbol_index(word, strlen(word)) >= 0 || strncmp(word, "<w", 2) == 0;
}

int pw_spelling_symbols(const struct pw_spelling *text, int from, int to, int *at)
{
    int n = 0;
    for (int i = from; i < to; i++)
        if (pw_spelling_symbol(text, i)) {
            if (at != NULL)
                at[n] = i;
            n++;
        }
    return n;
}

int pw_taskset_pointers(const struct pw_taskset *set, const struct pw_sample *s, int k, int *at)
{
    const struct pw_task_use *use = s->task >= 0 ? &set->use[s->task] : NULL;
    struct pw_item item;
    if (use == NULL || use->task->pointers == NULL || k < 0 ||
        s->n_prompt + k >= s->n - pw_taskset_ends(set, s->task))
        return 0;
    int steps = pw_scratch_tokens(use, &set->vocab, s->tokens + s->n_prompt, s->n - s->n_prompt);
    if (k < steps || !pw_taskset_item(set, s, &item))
        return 0;
    int n = s->n - steps, *tokens = pw_grow(NULL, (size_t)n, sizeof *tokens);
    memcpy(tokens, s->tokens, (size_t)s->n_prompt * sizeof *tokens);
    memcpy(tokens + s->n_prompt, s->tokens + s->n_prompt + steps, (size_t)(n - s->n_prompt) * sizeof *tokens);
    struct pw_spelling text = {set->vocab.words, tokens, s->n_prompt, n};
    int found = use->task->pointers(&use->o, &item, &text, k - steps, at);
    free(tokens);
    return found;
}
