/* cell.c - the script of a cell, and its name. */
#include <string.h>

#include "base/sha256.h"
#include "study/study.h"

/* Quotes around a formula protect its ';'. */
static void add_encoding(struct pw_str *out, const char *encoding)
{
    const char *formula = strncmp(encoding, "expr ", 5) == 0 ? encoding + 5 : NULL;
    const char *quote = formula != NULL && strchr(formula, '"') != NULL ? "'" : "\"";
    if (formula != NULL)
        pw_str_add(out, "pe expr %s%s%s\n", quote, formula, quote);
    else
        pw_str_add(out, "pe %s\n", encoding);
}

int pw_study_arm_width(const struct pw_study *s)
{
    int width = 8;
    for (int arm = 0; arm < s->n_arms; arm++)
        width = pw_text_cells(s->arms[arm]) > width ? pw_text_cells(s->arms[arm]) : width;
    return width;
}

const char *pw_study_model_of(const struct pw_study *s, int arm)
{
    return s->models.items[arm / s->races.n / s->optims.n];
}

const char *pw_study_optim_of(const struct pw_study *s, int arm)
{
    return s->optims.items[arm / s->races.n % s->optims.n];
}

const char *pw_study_preset_of(const char *model)
{
    return strncmp(model, "from=", 5) != 0 && strcspn(model, "=") < strcspn(model, " ") ? "tiny " : "";
}

/* A task must fit the model that is there, so the first one has room for any task. */
void pw_study_cell_setup(const struct pw_study *s, int arm, int task, int seed, struct pw_str *out)
{
    const char *model = pw_study_model_of(s, arm), *optim = pw_study_optim_of(s, arm);
    pw_str_add(out, "seed %d\n", s->first + seed);
    pw_str_add(out, "model tiny context=8192\n");
    pw_str_add(out, "task %s\n", s->tasks.items[task]);
    pw_str_add(out, "model %s%s\n", pw_study_preset_of(model), model);
    add_encoding(out, s->races.items[arm % s->races.n]);
    if (optim[0] != '\0')
        pw_str_add(out, "optim %s\n", optim);
}

void pw_study_cell_measure(const struct pw_study *s, struct pw_str *out)
{
    pw_str_add(out, "eval %s\ndigest\n", s->eval);
}

struct pw_study_cell pw_study_cell_of(const struct pw_study *s, int arm, int task, int seed)
{
    struct pw_study_cell cell = {.arm = arm, .task = task, .seed = seed};
    struct pw_str script = {0};
    uint8_t sha[32];
    char text[65];
    pw_study_cell_setup(s, arm, task, seed, &script);
    pw_str_add(&script, "train\n");
    pw_study_cell_measure(s, &script);
    if (s->keep_weights) /* the result must have weights */
        pw_str_add(&script, "# keep weights\n");
    pw_str_add(&script, "# pewter %s\n", PEWTER_VERSION);
    pw_sha256_of(sha, script.s, script.len);
    pw_sha256_text(text, sha);
    memcpy(cell.id, text, PW_STUDY_ID - 1);
    pw_str_fini(&script);
    return cell;
}

bool pw_study_cell_find(const struct pw_study *s, const char *id, struct pw_study_cell *cell)
{
    for (int seed = 0; seed < s->seeds_max; seed++)
        for (int task = 0; task < s->tasks.n; task++)
            for (int arm = 0; arm < s->n_arms; arm++) {
                *cell = pw_study_cell_of(s, arm, task, seed);
                if (strcmp(cell->id, id) == 0)
                    return true;
            }
    return false;
}
