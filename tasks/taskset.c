/* taskset.c - a task or a mixture: parses, checks and prints it. */
#include "tasks/read.h"
#include "tasks/scratchpad.h"
#include "tasks/split.h"
#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NAMES 96 /* names of options, for a suggestion */

/* "KEY=VALUE" as two strings. */
struct setting {
    char key[32], value[PW_TASK_OPTS_MAX];
};

struct pw_range pw_task_train(const struct pw_task_use *use)
{
    return use->o.common.lengths;
}

struct pw_range pw_task_test(const struct pw_task_use *use)
{
    struct pw_range r = use->o.common.test;
    int limit = use->task->length_limits.hi;
    if (r.hi == 0) {
        r.lo = use->o.common.lengths.hi + 1;
        r.hi = use->task->to_the_end ? limit : 2 * use->o.common.lengths.hi;
        if (r.hi > limit)
            r.hi = limit;
    }
    while (use->task->to_the_end && r.hi >= r.lo && !pw_task_has(use, r.hi))
        r.hi--;
    while (use->task->to_the_end && r.lo < r.hi && !pw_task_has(use, r.lo))
        r.lo++;
    if (r.hi < r.lo) /* nothing is longer (a short file): test held-out lines of the longest trained length */
        r.lo = r.hi = use->o.common.lengths.hi;
    return r;
}

bool pw_task_has(const struct pw_task_use *use, int length)
{
    return use->task->has == NULL || use->task->has(&use->o, length);
}

bool pw_task_looks_at(const struct pw_task_use *use, struct pw_range range, int length)
{
    return pw_task_has(use, length) && (use->task->looks_at == NULL || length == range.lo ||
                                        length == range.hi || use->task->looks_at(&use->o, length));
}

int pw_task_near(const struct pw_task_use *use, int length)
{
    while (length > use->task->length_limits.lo && !pw_task_has(use, length))
        length--;
    while (!pw_task_has(use, length))
        length++;
    return length;
}

double pw_task_share(const struct pw_task_use *use, int length)
{
    struct pw_range train = pw_task_train(use);
    int n = train.hi - train.lo + 1;
    if (length < train.lo || length > train.hi)
        return 0.0;
    if (use->pool != NULL)
        return pw_pool_share(use, length);
    if (use->task->share != NULL)
        return use->task->share(&use->o, length);
    return use->weights != NULL ? pw_dist_weight(use, length) / use->weights[n] : 1.0 / n;
}

int pw_task_pairs_at(const struct pw_task_use *use, int length, struct pw_pair *out)
{
    return use->task->pairs != NULL ? use->task->pairs->at(&use->o, length, out) : 0;
}

bool pw_task_trains(const struct pw_task_use *use, struct pw_pair pair)
{
    struct pw_pair pairs[PW_MAX_PAIRS];
    struct pw_range train = pw_task_train(use);
    for (int length = train.lo; length <= train.hi; length++) {
        int n = pw_task_pairs_at(use, length, pairs);
        if (pw_dist_weight(use, length) == 0)
            continue;
        if (n == 0 && length == pair.a && pair.b == 0)
            return true;
        for (int i = 0; i < n; i++)
            if (pairs[i].a == pair.a && pairs[i].b == pair.b)
                return true;
    }
    return false;
}

int pw_task_data(const struct pw_task_use *use, enum pw_split split)
{
    struct pw_range r = pw_task_test(use);
    int n = 0;
    if (split != PW_SPLIT_TEST)
        return use->pool != NULL ? pw_data_pool_size(use->pool, split) : 0;
    for (int length = r.lo; use->task->nth != NULL && length <= r.hi; length++)
        n += pw_held_count(use, length);
    return n;
}

int pw_task_samples_at(const struct pw_task_use *use, int length, int most)
{
    struct pw_range train = pw_task_train(use);
    int n = use->task->nth != NULL ? pw_held_count(use, length) : 0; /* 0: any number */
    if (use->pool != NULL && length >= train.lo && length <= train.hi && pw_pool_size_at(use, length) > 0)
        n = pw_pool_size_at(use, length);
    return n > 0 && n < most ? n : most;
}

static enum pw_code no_task(struct pw_piece name, struct pw_err *err)
{
    const char *names[MAX_NAMES + 1] = {0}, *nearest;
    struct pw_piece_text word = pw_piece_text(name);
    struct pw_str list = {0};
    int n = 0;
    for (const struct pw_task *const *t = pw_tasks; *t != NULL && n < MAX_NAMES; t++) {
        names[n++] = (*t)->name;
        pw_str_add(&list, " %s", (*t)->name);
    }
    nearest = pw_text_nearest(word.s, names);
    if (name.n == 0)
        pw_fail(err, PW_EUSER, "task: a name is missing; tasks are%s", list.s);
    else if (nearest != NULL)
        pw_fail(err, PW_EUSER, "task: no task '%s'; did you mean '%s'?", word.s, nearest);
    else
        pw_fail(err, PW_EUSER, "task: no task '%s'; tasks are%s", word.s, list.s);
    pw_str_fini(&list);
    return PW_EUSER;
}

/* Returns the bytes of s before the first byte of ends; quoted text is skipped. */
static size_t span(const char *s, size_t n, const char *ends)
{
    bool quoted = false;
    for (size_t i = 0; i < n; i++) {
        if (!quoted && strchr(ends, s[i]) != NULL)
            return i;
        if (s[i] == '"')
            quoted = !quoted;
        else if (quoted && s[i] == '\\' && i + 1 < n)
            i++;
    }
    return n;
}

/* Removes the quotes around a value, and the backslashes inside it. */
static void unquote(char *s)
{
    char *to = s;
    if (*s != '"')
        return;
    for (const char *c = s + 1; *c != '\0' && *c != '"'; c++) {
        if (*c == '\\' && c[1] != '\0')
            c++;
        *to++ = *c;
    }
    *to = '\0';
}

static enum pw_code split_setting(struct pw_piece word, struct setting *out, struct pw_err *err)
{
    const char *eq = memchr(word.s, '=', word.n);
    size_t key = eq != NULL ? (size_t)(eq - word.s) : 0, value = eq != NULL ? word.n - key - 1 : 0;
    if (key == 0)
        return pw_fail(err, PW_EUSER,
                       "task: '%s' is not key=value (the tasks of a mixture are joined by commas: copy,sort)",
                       pw_piece_text(word).s);
    if (key >= sizeof out->key || value >= sizeof out->value)
        return pw_fail(err, PW_EUSER, "task: '%s...' is too long for an option", pw_piece_text(word).s);
    snprintf(out->key, sizeof out->key, "%.*s", (int)key, word.s);
    snprintf(out->value, sizeof out->value, "%.*s", (int)value, eq + 1);
    unquote(out->value);
    return PW_OK;
}

static bool has(const struct pw_opt *opt, const char *choice)
{
    for (const char *const *c = opt->choices; opt->type == PW_OPT_CHOICE && *c != NULL; c++)
        if (strcmp(*c, choice) == 0)
            return true;
    return false;
}

/* Returns true if another task offers this choice and this task does not:
 * `copy,sort variant=rsc` means copy. */
static bool anothers_choice(const struct pw_taskset *set, const struct pw_opt *opt, const struct setting *s)
{
    if (opt->type != PW_OPT_CHOICE || has(opt, s->value))
        return false;
    for (int i = 0; i < set->n; i++) {
        const struct pw_opt *other = pw_opt_find(pw_task_options(set->use[i].task), s->key);
        if (other != NULL && has(other, s->value))
            return true;
    }
    return false;
}

/* Returns true, with the reason in err, if the task refuses the option. */
static bool refuses(const struct pw_task *task, const struct setting *s, struct pw_err *err)
{
    for (const struct pw_refusal *r = task->refused; r != NULL && r->option != NULL; r++)
        if (strcmp(r->option, s->key) == 0) {
            pw_fail(err, PW_EUSER, "%s: %s=%s: %s", task->name, s->key, s->value, r->why);
            return true;
        }
    return false;
}

/* Sets an option in every task that has it. */
static enum pw_code set_all(struct pw_taskset *set, const struct setting *s, struct pw_err *err)
{
    const char *names[MAX_NAMES + 1] = {0}, *nearest;
    int known = 0, n = 0;
    for (int i = 0; i < set->n; i++) {
        struct pw_task_use *use = &set->use[i];
        for (const struct pw_opt *o = pw_task_options(use->task); o->name != NULL && n < MAX_NAMES; o++)
            names[n++] = o->name;
        const struct pw_opt *opt = pw_opt_find(pw_task_options(use->task), s->key);
        if (opt == NULL || anothers_choice(set, opt, s))
            continue;
        known++;
        enum pw_code code =
            pw_opt_set(pw_task_options(use->task), &use->o, use->task->name, s->key, s->value, err);
        if (code != PW_OK)
            return code;
    }
    if (known > 0)
        return PW_OK;
    if (refuses(set->use[0].task, s, err))
        return PW_EUSER;
    nearest = pw_text_nearest(s->key, names);
    if (nearest != NULL)
        return pw_fail(err, PW_EUSER, "task: no option '%s'; did you mean '%s'?", s->key, nearest);
    if (set->n == 1) /* its message lists the options */
        return pw_opt_set(pw_task_options(set->use[0].task), &set->use[0].o, set->use[0].task->name, s->key,
                          s->value, err);
    return pw_fail(err, PW_EUSER, "task: no option '%s' in any of these tasks; 'help task' lists them",
                   s->key);
}

/* Removes the next word of *text, up to any byte of ends; n is 0 at the end. */
static struct pw_piece next_word(struct pw_piece *text, const char *ends)
{
    struct pw_piece word;
    while (text->n > 0 && strchr(ends, *text->s) != NULL) {
        text->s++;
        text->n--;
    }
    word = (struct pw_piece){text->s, span(text->s, text->n, ends)};
    text->s += word.n;
    text->n -= word.n;
    return word;
}

static const char *skip_blanks(const char *s)
{
    return s + strspn(s, " \t");
}

/* Reads "copy(variant=rsc),sort": adds the tasks with their defaults, and sets own[i] to the text in
 * parentheses. Moves *text behind the list. */
static enum pw_code parse_list(struct pw_taskset *set, const char **text, struct pw_piece own[PW_MAX_TASKS],
                               struct pw_err *err)
{
    const char *s = *text;
    for (;;) {
        struct pw_piece name;
        struct pw_task_use *use;
        s = skip_blanks(s);
        name = (struct pw_piece){s, strcspn(s, " \t,()=")};
        s += name.n;

        char word[32] = "";
        if (name.n < sizeof word)
            memcpy(word, name.s, name.n);
        const struct pw_task *task = pw_task_find(word);
        if (task == NULL)
            return no_task(name, err);
        for (int i = 0; i < set->n; i++)
            if (set->use[i].task == task)
                return pw_fail(err, PW_EUSER,
                               "task: '%s' occurs twice in the mixture; each task may occur once",
                               task->name);
        if (set->n == PW_MAX_TASKS)
            return pw_fail(err, PW_EUSER, "task: at most %d tasks in a mixture", PW_MAX_TASKS);

        own[set->n] = (struct pw_piece){s, 0};
        if (*s == '(') {
            const char *close = s + span(s, strlen(s), ")");
            if (*close == '\0')
                return pw_fail(err, PW_EUSER, "task: ')' is missing after '%s('", task->name);
            own[set->n] = (struct pw_piece){s + 1, (size_t)(close - s - 1)};
            s = close + 1;
        }
        use = &set->use[set->n++];
        use->task = task;
        assert(task->opts_size <= sizeof use->o);
        pw_opt_defaults(pw_task_options(task), &use->o);

        const char *next = skip_blanks(s);
        if (*next != ',') {
            if (*next != '\0' && next == s)
                return pw_fail(err, PW_EUSER, "task: '%s' after '%s': a blank or a comma must follow",
                               pw_piece_text((struct pw_piece){s, strlen(s)}).s, task->name);
            *text = next;
            return PW_OK;
        }
        s = next + 1;
    }
}

/* Checks relations between options, with the default of test resolved. */
static enum pw_code check_use(const struct pw_task_use *use, struct pw_err *err)
{
    struct pw_range limits = use->task->length_limits, train = pw_task_train(use), test = pw_task_test(use);
    struct pw_task_use resolved = *use;
    const char *name = use->task->name;
    bool given = use->o.common.test.hi != 0;
    if (train.hi >= limits.hi && !given && !use->task->to_the_end)
        return pw_fail(err, PW_EUSER,
                       "%s: lengths=%d..%d: no longer lengths are left to test; use at most %d, or test= "
                       "below the trained",
                       name, train.lo, train.hi, limits.hi - 1);
    if (test.lo < limits.lo || test.hi > limits.hi)
        return pw_fail(err, PW_EUSER, "%s: test=%d..%d: allowed are %d..%d", name, test.lo, test.hi,
                       limits.lo, limits.hi);
    if (given && test.lo <= train.hi && test.hi >= train.lo)
        return pw_fail(err, PW_EUSER, "%s: test=%d..%d overlaps the trained lengths %d..%d", name, test.lo,
                       test.hi, train.lo, train.hi);
    resolved.o.common.test = test;
    return use->task->check != NULL ? use->task->check(&resolved.o, err) : PW_OK;
}

static enum pw_code parse(struct pw_taskset *set, const char *text, struct pw_err *err)
{
    struct pw_piece own[PW_MAX_TASKS], rest, word;
    struct setting s;
    enum pw_code code = parse_list(set, &text, own, err);
    if (code != PW_OK)
        return code;
    /* Options for all tasks come first; a task's own options then override them. */
    rest = (struct pw_piece){text, strlen(text)};
    while ((word = next_word(&rest, " \t")).n > 0) {
        code = split_setting(word, &s, err);
        if (code == PW_OK)
            code = set_all(set, &s, err);
        if (code != PW_OK)
            return code;
    }
    for (int i = 0; i < set->n; i++) {
        struct pw_task_use *use = &set->use[i];
        while ((word = next_word(&own[i], ", \t")).n > 0) {
            code = split_setting(word, &s, err);
            if (code == PW_OK && refuses(use->task, &s, err))
                code = PW_EUSER;
            if (code == PW_OK)
                code = pw_opt_set(pw_task_options(use->task), &use->o, use->task->name, s.key, s.value, err);
            if (code != PW_OK)
                return code;
        }
        if (set->n > 1 && use->task->window != NULL)
            return pw_fail(err, PW_EUSER,
                           "task: %s can't be part of a mixture: its tokens are no words; name it alone",
                           use->task->name);
        code = pw_scratch_init(use, err);
        if (code == PW_OK)
            code = check_use(use, err);
        if (code != PW_OK)
            return code;
    }
    return PW_OK;
}

int pw_taskset_tokens_at(const struct pw_taskset *set, int task, int length)
{
    const struct pw_task_use *use = &set->use[task];
    struct pw_item item;
    struct pw_str prompt = {0}, answer = {0};
    struct pw_rng rng;
    int n;
    if (use->task->most_tokens != NULL)
        return use->task->most_tokens(&use->o, length) + pw_taskset_ends(set, task);
    pw_rng_init(&rng, 0, PW_STREAM_TEST, 0);
    if (use->task->longest != NULL)
        use->task->longest(&use->o, length, &item);
    else
        use->task->draw(&use->o, &rng, length, &item);
    pw_item_write(use, &item, &prompt, &answer);
    pw_str_put(&prompt, answer.s, answer.len);
    n = pw_vocab_cut(&set->vocab, prompt.s, NULL, INT_MAX, NULL);
    assert(n > 0);
    pw_str_fini(&prompt);
    pw_str_fini(&answer);
    return n + pw_taskset_ends(set, task);
}

enum pw_code pw_taskset_init(struct pw_taskset *set, const char *text, struct pw_err *err)
{
    enum pw_code code;
    memset(set, 0, sizeof *set);
    if (!pw_utf8_valid(text, strlen(text)))
        return pw_fail(err, PW_EUSER, "task: the text is not valid UTF-8");
    code = parse(set, text, err);
    if (code != PW_OK) {
        pw_taskset_fini(set);
        return code;
    }
    set->vocab.plain =
        set->n == 1 && set->use[0].task->own_ids != NULL && set->use[0].task->own_ids(&set->use[0].o);
    if (!set->vocab.plain) {
        pw_vocab_add(&set->vocab, "<pad>");
        pw_vocab_add(&set->vocab, "</s>");
    }
    for (int i = 0; i < set->n; i++) {
        struct pw_task_use *use = &set->use[i];
        code = use->task->open != NULL ? use->task->open(&use->o, err) : PW_OK;
        if (code == PW_OK)
            code = pw_dist_init(use, err);
        if (code == PW_OK)
            code = pw_held_init(use, err);
        if (code == PW_OK)
            code = pw_pool_init(use, err);
        if (code != PW_OK) {
            pw_taskset_fini(set);
            return code;
        }
        use->task->words(&use->o, &set->vocab);
        pw_scratch_words(use, &set->vocab);
    }
    for (int i = 0; i < set->n; i++) {
        int train = pw_task_train(&set->use[i]).hi, test = pw_task_test(&set->use[i]).hi;
        int n = pw_taskset_tokens_at(set, i, train > test ? train : test);
        if (n > set->max_tokens)
            set->max_tokens = n;
    }
    return PW_OK;
}

void pw_taskset_fini(struct pw_taskset *set)
{
    for (int i = 0; i < set->n; i++) {
        struct pw_task_use *use = &set->use[i];
        pw_pool_fini(use);
        pw_held_fini(use);
        pw_dist_fini(use);
        if (use->task->close != NULL)
            use->task->close(&use->o);
    }
    pw_vocab_fini(&set->vocab);
    memset(set, 0, sizeof *set);
}

void pw_taskset_print(const struct pw_taskset *set, struct pw_str *out)
{
    struct pw_str options = {0};
    for (int i = 0; i < set->n; i++) {
        const struct pw_task_use *use = &set->use[i];
        pw_str_add(out, "%s%s", i > 0 ? "," : "", use->task->name);
        pw_str_clear(&options);
        pw_opt_print(pw_task_options(use->task), &use->o, true, &options); /* " key=value key=value" */
        if (options.len == 0)
            continue;
        if (set->n == 1) {
            pw_str_put(out, options.s, options.len);
            continue;
        }
        for (size_t k = 0; k < options.len; k += 1 + span(options.s + k + 1, options.len - k - 1, " "))
            options.s[k] = k == 0 ? '(' : ',';
        pw_str_put(out, options.s, options.len);
        pw_str_put(out, ")", 1);
    }
    pw_str_fini(&options);
}
