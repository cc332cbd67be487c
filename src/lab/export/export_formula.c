/* export_formula.c - `export formula`: the formula of an arm's encoding for PyTorch, LaTeX, or as text. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/export/export_int.h"
#include "lab/scope.h"
#include "model/expr/formula_text.h"

struct formula_opts {
    int arm, replica, layer;
};

const struct pw_opt pw_formula_opts[] = {
    {.name = "arm",
     .type = PW_OPT_INT,
     .offset = offsetof(struct formula_opts, arm),
     .min = 1,
     .max = PW_MAX_ARMS,
     .help = "arm that is meant; default: the current one"},
    {.name = "layer",
     .type = PW_OPT_INT,
     .offset = offsetof(struct formula_opts, layer),
     .def = "0",
     .min = 0,
     .max = PW_MAX_LAYERS - 1,
     .help = "layer of a formula that reads l, or of parameters per layer"},
    PW_REPLICA_OPT(struct formula_opts, replica),
    {.name = NULL}};

/* Returns the learned parameters of the encoding, in the model's order; the caller frees them. */
static float *read_parameters(const struct pw_replica *arm)
{
    int n;
    size_t from = pw_model_size(arm->model), size = 0;
    const struct pw_param *p = pw_model_pe_params(arm->model, &n);
    for (int k = 0; k < n; k++) {
        from = p[k].offset < from ? p[k].offset : from;
        size += pw_param_count(&p[k]);
    }
    float *values = pw_alloc(size + 1, sizeof *values);
    if (size > 0)
        pw_model_read(arm->model, values, from, size);
    return values;
}

/* Writes the file's name without folder and ending. */
static void name_file(const char *path, char title[64])
{
    const char *base = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
    pw_text_copy(title, 64, base);
    if (strrchr(title, '.') != NULL)
        *strrchr(title, '.') = '\0';
}

enum pw_code pw_lab_export_formula(struct pw_lab *lab, const char *path, const struct pw_args *args,
                                   struct pw_err *err)
{
    static const char who[] = "export formula";
    struct formula_opts o = {0};
    struct pw_replica *arm = pw_lab_current(lab);
    struct pw_str text = {0};
    struct pw_file *file;
    pw_opt_defaults(pw_formula_opts, &o);
    enum pw_code code = pw_args_opts(args, pw_formula_opts, &o, err);
    if (code == PW_OK && o.arm > 0)
        code = pw_lab_need_arm(lab, o.arm, &arm, err);
    if (code == PW_OK)
        code = pw_scope_replica(lab, &arm, who, o.replica, err);
    if (code != PW_OK)
        return code;
    float *values = read_parameters(arm);
    char title[64];
    name_file(path, title);
    struct pw_formula_use use = {.use = &arm->pe,
                                 .cfg = &arm->cfg,
                                 .layer = o.layer,
                                 .trained = pw_pe_trained(&arm->pe) > 0 ? pw_pe_trained(&arm->pe)
                                                                        : pw_lab_trained_distance(lab) + 1,
                                 .values = values,
                                 .title = title};
    code = pw_formula_write(&use,
                            pw_text_ends(path, ".py")    ? PW_FORMULA_TORCH
                            : pw_text_ends(path, ".tex") ? PW_FORMULA_LATEX
                                                         : PW_FORMULA_PLAIN,
                            who, &text, err);
    free(values);
    if (code == PW_OK)
        code = pw_file_create(&file, path, err);
    if (code == PW_OK) {
        fputs(text.s, pw_file_stream(file));
        code = pw_file_commit(file, err);
    }
    pw_str_fini(&text);
    return code;
}
