/* scope.h - arm=K, which several commands take: the arm that they are about, where it isn't the current one.
 */
#ifndef PW_SCOPE_H
#define PW_SCOPE_H
#include "command/command.h"

struct pw_arm;
struct pw_lab;

/* For struct pw_command's also. */
extern const struct pw_opt pw_scope_opts[];

/* Takes arm=K out of args: rest is what is left of them, borrowed from args, and *id the arm, 0 where none is
 * named. Fails if there is no such arm. */
enum pw_code pw_scope_take(struct pw_lab *lab, const struct pw_args *args, struct pw_args *rest, int *id,
                           struct pw_err *err);
/* The same for a command that is about the current arm where none is named. */
enum pw_code pw_scope_arm(struct pw_lab *lab, const struct pw_args *args, struct pw_args *rest,
                          struct pw_arm **arm, struct pw_err *err);
/* The same as a command's whole run: run_on gets that arm and the rest. */
enum pw_code pw_scope_run(struct pw_lab *lab, const struct pw_args *args,
                          enum pw_code (*run_on)(struct pw_lab *lab, struct pw_arm *arm,
                                                 const struct pw_args *rest, struct pw_err *err),
                          struct pw_err *err);

#endif
