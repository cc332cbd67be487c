/* scope.h - arm=K and replica=R, which several commands take: the arm that they are about, where it isn't the
 * current one, and its replica, where it isn't the one that is inspected. */
#ifndef PW_SCOPE_H
#define PW_SCOPE_H
#include "command/command.h"

struct pw_arm;
struct pw_lab;

/* For struct pw_command's also. */
extern const struct pw_opt pw_scope_opts[];

/* The option replica=R of a command that inspects one replica: an int, 0 where it isn't given. */
#define PW_REPLICA_OPT(target, member)                                                                       \
    {                                                                                                        \
        .name = "replica", .type = PW_OPT_INT, .offset = offsetof(target, member), .def = "inspected",       \
        .min = 1, .max = PW_MAX_REPLICATES, .choices = pw_scope_inspected,                                   \
        .help = "of an arm with several seeds; 'inspect replica=R' chooses the one that is inspected"        \
    }
extern const char *const pw_scope_inspected[];
/* *arm, any replica of an arm, becomes the one of that number, or with 0 the one that is inspected. Fails if
 * there is no such replica; who: the command, for messages. */
enum pw_code pw_scope_replica(struct pw_lab *lab, struct pw_arm **arm, const char *who, int replica_or_0,
                              struct pw_err *err);

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
