/* positions.c - the positions that an encoding reads from tokens, or draws, for a prompt and its answer: a
 * line that shows the rule at work. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/arms/arms.h"

enum { MOST_SHOWN = 48 }; /* tokens */

/* Sets *x to the pinned prompt, or to an example of the first task, without the end mark of its answer.
 * Returns the tokens, which the caller frees. */
static int *choose_prompt(const struct pw_lab *lab, struct pw_sample *x, int most)
{
    struct pw_str text = {0};
    int *tokens = pw_alloc((size_t)most + 1, sizeof *tokens);
    *x = (struct pw_sample){.tokens = tokens, .cap = most + 1};
    pw_taskset_example(&lab->tasks, 0, &text);
    if (lab->pin.id != 0) { /* its text can be cut, or name a file */
        const struct pw_sample *own = &lab->pin.sample;
        x->n_prompt = own->n_prompt < most ? own->n_prompt : most;
        x->n = own->n < most ? own->n : most;
        memcpy(tokens, own->tokens, (size_t)x->n * sizeof *tokens);
    } else if (pw_taskset_prompt(&lab->tasks, pw_str_text(&text), most, x, NULL) != PW_OK) {
        x->n = 0;
    }
    x->n -= x->n > x->n_prompt && pw_vocab_ends(&lab->tasks.vocab, tokens[x->n - 1]);
    pw_str_fini(&text);
    return tokens;
}

void pw_lab_show_positions(const struct pw_lab *lab, const struct pw_pe_use_opts *pe,
                           const struct pw_config *cfg, struct pw_str *out)
{
    struct pw_sample x;
    if (pe->pe->ids == NULL)
        return;
    int *tokens = choose_prompt(lab, &x, cfg->context), T = x.n < cfg->context ? x.n : cfg->context;
    int *ids = pw_alloc((size_t)T + 1, sizeof *ids);
    pe->pe->ids(pe->o.bytes, cfg, &(struct pw_pe_sequence){.tokens = tokens, .T = T}, 1, ids);
    for (int t = 0; t < T && t < MOST_SHOWN; t++) {
        const char *word = lab->tasks.vocab.words[tokens[t]];
        pw_str_add(out, "%s%s %d", t == 0 ? "positions: " : ", ", word + (word[0] == ' '), ids[t]);
    }
    if (T > MOST_SHOWN)
        pw_str_add(out, ", ...");
    free(ids);
    free(tokens);
}
