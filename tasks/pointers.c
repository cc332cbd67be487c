/* pointers.c - where a correct head looks (see pw_taskset_pointers in task.h).
 *
 * A sample holds tokens only; its item is read back from the prompt's text, which every task can, so that
 * typed prompts have pointers as well as drawn ones. */
#include "tasks/read.h"
#include "tasks/task.h"
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
    struct pw_spelling text = {set->vocab.words, s->tokens, s->n_prompt, s->n};
    struct pw_str prompt = {0};
    struct pw_item item;
    const struct pw_task_use *use;
    int n = 0;
    if (s->task < 0 || k < 0 || s->n_prompt + k >= s->n - pw_taskset_ends(set, s->task))
        return 0;
    use = &set->use[s->task];
    if (use->task->pointers == NULL)
        return 0;
    for (int i = 0; i < s->n_prompt; i++)
        pw_str_add(&prompt, "%s", set->vocab.words[s->tokens[i]]);
    if (use->task->read(&use->o, prompt.s, &item, NULL) == PW_OK)
        n = use->task->pointers(&use->o, &item, &text, k, at);
    pw_str_fini(&prompt);
    return n;
}
