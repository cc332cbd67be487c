/* blog_int.h - declarations shared by blog.c (one model) and blog_models.c (all models). */
#ifndef PW_BLOG_INT_H
#define PW_BLOG_INT_H
#include "reproduce/blog.h"

/* Number of encodings of the plan. */
int pw_blog_arms(const struct pw_blog_plan *plan);
int pw_blog_numbers(const struct pw_blog_plan *plan);
int pw_blog_claims(const struct pw_blog_plan *plan);

/* Write topic and title of the finding of model k. The title contains everything that determines the numbers.
 * The finding's first table has one row, with the claims' numbers; the second (if pw_blog_numbers > 0) has a
 * row per arm. */
void pw_blog_model_name(const struct pw_blog_plan *plan, const struct pw_blog *o, int k,
                        char topic[PW_FINDING_TOPIC], char title[PW_FINDING_TEXT]);
/* Add the claims of another finding. For a claim that f has already, keep the worse verdict. */
void pw_blog_add_claims(struct pw_finding *f, const struct pw_finding *from);
/* Add the plots of the arms' findings. Fails if a finding is missing, older than its arm, or not after
 * `steps` steps. */
enum pw_code pw_blog_add_plots(const struct pw_blog_plan *plan, int steps, const struct pw_snapshot *s,
                               struct pw_finding *f, struct pw_err *err);
enum pw_code pw_blog_judge_models(const struct pw_blog_plan *plan, const struct pw_blog *o,
                                  const struct pw_snapshot *s, struct pw_finding *f, struct pw_err *err);

#endif
