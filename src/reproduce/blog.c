/* blog.c - see blog.h. */
#include "reproduce/blog.h"

const struct pw_opt pw_blog_opts[] = {
    {"steps", PW_OPT_INT, offsetof(struct pw_blog, steps), "600", 1, 1e6, NULL, 0,
     "of training, each encoding"},
    {"seed", PW_OPT_INT, offsetof(struct pw_blog, seed), "1", 0, 1e9, NULL, 0, "of models, data and probes"},
    {0},
};

void pw_blog_script(const struct pw_blog *o, const char *pes, const char *probe, struct pw_str *out)
{
    pw_str_add(out, "seed %d\ntask copy variant=rdc\nmodel tiny\noptim steps=%d\nrace %s\ntrain %d\n",
               o->seed, o->steps, pes, o->steps);
    int arms = 1;
    for (const char *p = pes; *p != '\0'; p++)
        arms += *p == ',';
    for (int arm = 1; arm <= arms; arm++)
        pw_str_add(out, "probe %s arm=%d\n", probe, arm);
}
