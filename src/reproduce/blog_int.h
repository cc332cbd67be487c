/* blog_int.h - what blog.c (one model) and blog_models.c (all of them) share. */
#ifndef PW_BLOG_INT_H
#define PW_BLOG_INT_H
#include "reproduce/blog.h"

int pw_blog_arms(const struct pw_blog_plan *plan);                                        /* all */
int pw_blog_arms_of(const struct pw_blog_plan *plan, const struct pw_blog *o, int model); /* of this one */
/* The encoding of arm 1, 2, ... and how long its name is. */
const char *pw_blog_pe(const struct pw_blog_plan *plan, int arm, int *length);
int pw_blog_numbers(const struct pw_blog_plan *plan);
int pw_blog_claims(const struct pw_blog_plan *plan);

/* The finding of model k: its topic, and its title, which says all that decides its numbers. Its first table
 * has a row of claims' numbers, its second one (with pw_blog_numbers) a row an arm. */
void pw_blog_model_name(const struct pw_blog_plan *plan, const struct pw_blog *o, int k,
                        char topic[PW_FINDING_TOPIC], char title[PW_FINDING_TEXT]);
/* Adds the claims of another finding: of one that is there already the worse verdict. */
void pw_blog_add_claims(struct pw_finding *f, const struct pw_finding *from);
/* Adds the plots that the arms' findings have, as they are now, after so many steps. */
enum pw_code pw_blog_add_plots(const struct pw_blog_plan *plan, int steps, const struct pw_snapshot *s,
                               struct pw_finding *f, struct pw_err *err);
enum pw_code pw_blog_judge_models(const struct pw_blog_plan *plan, const struct pw_blog *o,
                                  const struct pw_snapshot *s, struct pw_finding *f, struct pw_err *err);

#endif
