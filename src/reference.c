/* reference.c - the reference pages: an index, a page for each command and a page for each encoding. */
#include "reference.h"

#include <stdio.h>
#include <string.h>

#include "model/expr/library.h"

/* The changes that an encoding makes to the model, by its bits of enum pw_pe_use. */
static const struct use {
    unsigned use;
    const char *what;
} uses[] = {
    {PW_PE_ADDED, "rows added to the embeddings"},
    {PW_PE_ROTATION, "a rotation of queries and keys"},
    {PW_PE_BIAS, "a bias on the scores, by the distance of query and key"},
    {PW_PE_KEYS, "vectors added to the keys, by the distance of query and key"},
    {PW_PE_DENSE, "a bias on the scores, by the positions of query and key"},
    {PW_PE_GAIN, "a factor on each query"},
    {PW_PE_SCORE, "a function of each score"},
    {PW_PE_TERMS, "terms of tokens, whose difference is added to the scores"},
    {PW_PE_MIXES, "a bias on the scores by distance, mixed by each token"},
    {PW_PE_PLANES, "a turn of queries and keys in learned planes"},
    {PW_PE_POLAR, "a polar form of queries and keys: lengths by content, angles by position"},
    {PW_PE_SLOPES, "slopes of tokens, by which distances are multiplied and added to the scores"},
    {PW_PE_WALK, "products of queries and keys that the tokens between them change"},
    {PW_PE_VOTES, "votes of earlier tokens, whose sums are subtracted from the scores"},
    {PW_PE_SCAN, "a scan over the keys of each query, from the nearest key on"},
};

static void put_uses(const struct pw_pe *pe, struct pw_str *out)
{
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        if ((pe->uses & uses[i].use) != 0)
            pw_str_add(out, "- Uses %s\n", uses[i].what);
    pw_str_add(out, "- Parameters: %s\n",
               pw_pe_learns(pe) ? "trained with the model" : "none, all values are fixed");
}

static void put_encoding(const struct pw_pe *pe, struct pw_str *out)
{
    pw_str_add(out, "<!-- page reference/encodings/%s.md -->\n# %s\n\n**%s**: %s\n\n", pe->name, pe->name,
               pe->name, pe->summary);
    pw_str_add(out, "- Choose it: `pe %s` for the current arm, `race %s` for a new one\n", pe->name,
               pe->name);
    if (pe->source != NULL)
        pw_str_add(out, "- Paper: %s\n", pe->source);
    for (const char *const *alias = pe->aliases; *alias != NULL; alias++)
        pw_str_add(out, "%s`%s`%s", alias == pe->aliases ? "- Also read as " : ", ", *alias,
                   alias[1] == NULL ? "\n" : "");
    put_uses(pe, out);
    if (pw_pe_uses_length(pe))
        pw_str_add(out,
                   "- Needs the length of the whole sequence, which leaks the length of the answer in causal "
                   "training\n");
    if (pe->choice != NULL)
        pw_str_add(out, "- `%s` without options is %s\n", pe->name, pe->choice);
    pw_reference_options(&(struct pw_command){.opts = pe->opts}, out);
    pw_str_add(
        out, "\nThe command [pe](../commands/pe.md) swaps the encoding, [tune](../commands/tune.md) changes "
             "options without retraining, [table](../commands/table.md) reads the values.\n");
}

/* A formula file of the project. One that no model computes has no page. */
struct files {
    struct pw_str *out;
    bool index; /* a row of the table; false: a page */
};

static void put_file(void *arg, const char *name)
{
    const struct files *files = arg;
    const struct pw_config cfg = {
        .layers = 2, .width = 64, .heads = 4, .head_width = 16, .context = 64, .causal = true};
    struct pw_library_file f;
    struct pw_pe_use_opts use;
    struct pw_str *out = files->out;
    if (!pw_library_is_own(name) || pw_pe_parse(&use, name, &cfg, NULL) != PW_OK ||
        pw_library_read(&f, name, NULL) != PW_OK)
        return;
    const char *title = f.title != NULL ? f.title : "a formula", *paper = f.paper != NULL ? f.paper : "";
    if (files->index) {
        pw_str_add(out, "| [%s](encodings/%s.md) | %s | %s |\n", f.name, f.name, title, paper);
    } else {
        pw_str_add(out, "<!-- page reference/encodings/%s.md -->\n# %s\n\n**%s**: %s\n\n", f.name, f.name,
                   f.name, title);
        pw_str_add(out, "- Choose it: `pe %s` for the current arm, `race %s` for a new one\n- Paper: %s\n",
                   f.name, f.name, paper);
        put_uses(use.pe, out);
        pw_str_add(out, "\n%s\n\n```\n%s```\n\nThe file is encodings/%s.pe.\n", f.look != NULL ? f.look : "",
                   f.formula + strspn(f.formula, "\r\n"), f.name);
        pw_reference_options(&(struct pw_command){.opts = use.pe->opts}, out);
        pw_str_add(out, "\nThe command [pe](../commands/pe.md) says how to write such a file.\n");
    }
    pw_library_free(&f);
}

void pw_reference_print(const struct pw_commands *all)
{
    struct pw_str s = {0};
    pw_command_reference(all, &s);
    pw_str_add(&s, "\n## Encodings\n\n| encoding | meaning | paper |\n|---|---|---|\n");
    for (const struct pw_pe *const *pe = pw_pes; *pe != NULL; pe++)
        pw_str_add(&s, "| [%s](encodings/%s.md) | %s | %s |\n", (*pe)->name, (*pe)->name, (*pe)->summary,
                   (*pe)->source != NULL ? (*pe)->source : "");
    pw_str_add(&s, "\n## Encodings from formula files\n\n| encoding | meaning | paper |\n|---|---|---|\n");
    pw_library_list(put_file, &(struct files){&s, true});
    pw_command_reference_pages(all, &s);
    for (const struct pw_pe *const *pe = pw_pes; *pe != NULL; pe++)
        put_encoding(*pe, &s);
    pw_library_list(put_file, &(struct files){&s, false});
    fputs(pw_str_text(&s), stdout);
    pw_str_fini(&s);
}
