/* memory.c - reject models that would not fit before they are built, and steps before they are run.
 *
 * The system hands out memory that it does not have and kills the process that touches it later, so a failing
 * allocation comes too late. One tenth is left free for other programs and other buffers of this one. A
 * device rejects an allocation by itself, but does not say what would fit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"

size_t pw_lab_memory(void)
{
    size_t kib = SIZE_MAX;
    char line[128];
    FILE *f = fopen("/proc/meminfo", "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "MemAvailable: %zu kB", &kib) == 1)
            break;
    if (f != NULL)
        fclose(f);
    return kib == SIZE_MAX ? SIZE_MAX : kib * 1024 / 10 * 9;
}

/* Where models are to be built: backend, free bytes there, and the tokens of the longest sample. */
struct place {
    const struct pw_lab *lab;
    const struct pw_backend_ops *ops;
    struct pw_backend *be;
    size_t room;
    int tokens;
};

static struct place look_at(const struct pw_lab *lab, const struct pw_backend_ops *ops, struct pw_backend *be)
{
    struct place p = {lab, ops, be, 0, lab->tasks.max_tokens};
    size_t total;
    if (ops->memory == NULL) {
        p.room = pw_lab_memory();
        return p;
    }
    ops->memory(be, &p.room, &total);
    p.room = p.room / 10 * 9;
    return p;
}

static size_t bytes_of(const struct place *p, const struct pw_replica *settings, const struct pw_config *cfg)
{
    struct pw_config c = *cfg;
    c.vocab = p->lab->tasks.vocab.n;
    if (pw_config_check(&c, NULL) != PW_OK)
        return 0; /* building it reports the reason */
    int batch = settings->optim.batch, workers = p->ops->workers(p->be);
    unsigned kinds = pw_trains_kind(settings->optim.trains);
    if (settings->model != NULL)
        kinds |= pw_model_kinds(settings->model);
    bool once = settings->model == NULL || pw_model_one_copy_bytes(settings->model) > 0;
    size_t bytes = batch == 0 && settings->weight_bytes > 0
                       ? pw_model_one_copy_need(p->ops, &c, &settings->pe, settings->weight_bytes)
                       : pw_model_bytes(p->ops, &c, &settings->pe, kinds, once ? settings->weight_bytes : 0,
                                        batch, workers, p->tokens);
    return bytes < SIZE_MAX ? bytes : 0; /* likewise: there is no memory to count it */
}

/* Propose a model that fits: the same with fewer layers; if none fits, smaller sizes in general. */
static void propose(const struct place *p, const struct pw_replica *settings, struct pw_str *out)
{
    struct pw_config cfg = settings->cfg;
    while (settings->altered == PW_ALTERED_FILE && cfg.context > 64) { /* its shape is the file's */
        cfg.context /= 2;
        if (bytes_of(p, settings, &cfg) <= p->room) {
            pw_str_add(out, "context=%d would fit", cfg.context);
            return;
        }
    }
    if (settings->altered == PW_ALTERED_FILE) {
        pw_str_add(out, "drop other arms ('arm drop'), or use a machine with more memory");
        return;
    }
    while (--cfg.layers >= 1)
        if (bytes_of(p, settings, &cfg) <= p->room) {
            pw_str_add(out, "layers=%d would fit", cfg.layers);
            return;
        }
    pw_str_add(out, "even one such layer does not fit; use a smaller width, ffn or context");
}

/* Write a size as "1.5 GiB" or "300 MiB". */
static void size_text(char dst[32], size_t bytes)
{
    if (bytes < (size_t)1 << 30)
        snprintf(dst, 32, "%zu MiB", bytes >> 20);
    else
        snprintf(dst, 32, "%.1f GiB", (double)bytes / (1 << 30));
}

/* Return the settings without a batch if the model is from a file and was never trained: it is looked at,
 * and each look checks what it needs. Its first step is checked, too (pw_lab_check_steps). */
static struct pw_replica charged(const struct pw_replica *settings)
{
    struct pw_replica r = *settings;
    if (r.altered == PW_ALTERED_FILE && (r.model == NULL || pw_model_largest(r.model) == 0))
        r.optim.batch = 0;
    return r;
}

enum pw_code pw_lab_check_memory(const struct pw_lab *lab, const struct pw_backend_ops *ops,
                                 struct pw_backend *be, const struct pw_replica *settings, int n,
                                 struct pw_err *err)
{
    size_t need = 0, largest = 0, worst = 0;
    char needed[32], there[32];
    struct place p = look_at(lab, ops, be);
    for (int i = 0; i < n; i++) {
        struct pw_replica one = charged(&settings[i]);
        size_t bytes = bytes_of(&p, &one, &one.cfg);
        if (bytes > largest) {
            largest = bytes;
            worst = (size_t)i;
        }
        need += bytes;
    }
    if (need <= p.room)
        return PW_OK;
    struct pw_str hint = {0};
    struct pw_replica one = charged(&settings[worst]);
    if (n == 1 || largest > p.room)
        propose(&p, &one, &hint);
    else
        pw_str_add(&hint, "%zu such models would fit", p.room / largest);
    size_text(needed, need);
    size_text(there, p.room);
    enum pw_code code = pw_fail(err, PW_ENOMEM, "%s %s, %s are free%s; %s",
                                n == 1 ? "this model needs" : "these models need together", needed, there,
                                ops->memory != NULL ? " on the device" : "", pw_str_text(&hint));
    pw_str_fini(&hint);
    return code;
}

/* ---- steps of existing models */

static size_t bytes_of_all(const struct place *p, const struct pw_replica *arms, int n)
{
    size_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += bytes_of(p, &arms[i], &arms[i].cfg);
    return sum;
}

/* Return how much of the needed memory the models hold already. tokens: the longest sample so far. */
static size_t held_by_all(const struct place *p, const struct pw_replica *arms, int n, int tokens)
{
    struct place before = *p;
    size_t sum = 0;
    before.tokens = tokens;
    for (int i = 0; i < n; i++) {
        struct pw_replica has = arms[i];
        has.optim.batch = pw_model_largest(has.model);
        has.optim.trains = PW_TRAINS_ENCODING; /* the part that every step has changed */
        size_t held = bytes_of(&before, &has, &has.cfg), needed = bytes_of(p, &arms[i], &arms[i].cfg);
        sum += held < needed ? held : needed;
    }
    return sum;
}

/* Halve the batch of arm id (0: of all arms) until everything fits into `bytes`. Returns the batch; 0: none
 * fits. */
static int fitting_batch(const struct place *p, struct pw_replica *arms, int n, int id, size_t bytes)
{
    int batch = 0;
    for (int i = 0; i < n; i++)
        if ((id == 0 || arms[i].id == id) && arms[i].optim.batch > batch)
            batch = arms[i].optim.batch;
    for (batch /= 2; batch > 0; batch /= 2) {
        for (int i = 0; i < n; i++)
            if ((id == 0 || arms[i].id == id) && arms[i].optim.batch > batch)
                arms[i].optim.batch = batch;
        if (bytes_of_all(p, arms, n) <= bytes)
            break;
    }
    return batch;
}

static void say_batch(struct pw_str *out, int batch)
{
    if (batch > 0)
        pw_str_add(out, "optim batch=%d would fit", batch);
    else
        pw_str_add(out, "no batch would fit; use a smaller model, or drop an arm ('arm drop')");
}

enum pw_code pw_lab_check_steps(const struct pw_lab *lab, const struct pw_replica *arms, int n, int id,
                                int tokens, struct pw_err *err)
{
    char more[32], there[32];
    struct pw_replica settings[PW_MAX_PLACES];
    for (int i = 0; i < n; i++)
        settings[i] = arms[i].training || arms[i].id == id ? arms[i] : charged(&arms[i]);
    struct place p = look_at(lab, lab->ops, lab->be);
    size_t need = bytes_of_all(&p, settings, n), held = held_by_all(&p, settings, n, tokens);
    if (need - held <= p.room)
        return PW_OK;
    struct pw_str hint = {0};
    say_batch(&hint, fitting_batch(&p, settings, n, id, held + p.room));
    size_text(more, need - held);
    size_text(there, p.room);
    enum pw_code code = pw_fail(err, PW_ENOMEM, "training needs %s more, %s are free%s; %s", more, there,
                                lab->ops->memory != NULL ? " on the device" : "", pw_str_text(&hint));
    pw_str_fini(&hint);
    return code;
}

enum pw_code pw_lab_check_first_steps(const struct pw_lab *lab, const struct pw_replica *places,
                                      struct pw_err *err)
{
    struct pw_replica arms[PW_MAX_PLACES];
    bool first = false;
    int n = 0;
    for (int i = 0; i < PW_MAX_PLACES; i++) {
        if (places[i].model == NULL)
            continue;
        first = first || (places[i].training && charged(&places[i]).optim.batch == 0);
        arms[n++] = places[i];
    }
    return first ? pw_lab_check_steps(lab, arms, n, 0, lab->tasks.max_tokens, err) : PW_OK;
}

/* Does the next step of a model from a file take memory for weights? */
static bool grows(const struct pw_lab *lab, const struct pw_replica *a)
{
    bool of_file = a->altered == PW_ALTERED_FILE && pw_model_one_copy(lab->ops);
    return (of_file && pw_model_kinds(a->model) == 0) ||
           (pw_model_one_copy_bytes(a->model) > 0 && a->optim.trains == PW_TRAINS_ALL);
}

void pw_lab_note_first_steps(struct pw_lab *lab)
{
    struct place p = look_at(lab, lab->ops, lab->be);
    char size[32];
    for (int i = 0; i < PW_MAX_PLACES; i++) {
        const struct pw_replica *a = &lab->replicas[i];
        if (a->model == NULL || !a->training || !grows(lab, a))
            continue;
        size_text(size, bytes_of(&p, a, &a->cfg));
        pw_lab_note(
            lab,
            a->optim.trains == PW_TRAINS_ALL
                ? "arm %d: from its first step on its weights are float32, with packed copies, "
                  "gradient and moments: %s in all"
            : a->cfg.adapter > 0
                ? "arm %d: from its first step on its weights have packed copies for the backward pass, "
                  "and the adapter has gradient and moments: %s in all"
                : "arm %d: from its first step on its weights have a second copy, for the backward pass: "
                  "%s in all",
            a->id, size);
    }
}

void pw_lab_suggest_fit(const struct pw_lab *lab, const struct pw_replica *arm, struct pw_err *err)
{
    struct place p = look_at(lab, lab->ops, lab->be);
    struct pw_replica less = *arm; /* the model holds at most what a batch of one needs */
    less.optim.batch = 1;
    if (lab->ops->memory == NULL || err->code != PW_ENOMEM)
        return;
    size_t held = bytes_of(&p, &less, &less.cfg);
    struct pw_err why = *err;
    struct pw_str hint = {0};
    char there[32];
    less.optim.batch = arm->optim.batch;
    say_batch(&hint, fitting_batch(&p, &less, 1, 0, held + p.room));
    size_text(there, p.room);
    pw_fail(err, PW_ENOMEM, "arm %d: %.200s; %s are free on the device; %s", arm->id, why.msg, there,
            pw_str_text(&hint));
    pw_str_fini(&hint);
}

float *pw_lab_maps(size_t heads, int T, size_t more, struct pw_err *err)
{
    size_t bytes = (4 * heads * T * T + more) * sizeof(float);
    /* three times: these maps, the model's own, and the event's */
    float *maps = 3 * bytes <= pw_lab_memory() ? calloc(1, bytes) : NULL;
    if (maps == NULL)
        pw_fail(err, PW_ENOMEM, "out of memory: the attention of %d tokens needs %zu MiB", T,
                3 * bytes >> 20);
    return maps;
}
