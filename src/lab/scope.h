/* scope.h - the options arm=K and replica=R, which several commands share. They choose an arm other than the
 * current one, and a replica other than the inspected one. */
#ifndef PW_SCOPE_H
#define PW_SCOPE_H
#include "command/command.h"

struct pw_replica;
struct pw_lab;

/* For the member `also` of struct pw_command. */
extern const struct pw_opt pw_scope_opts[];

/* The option arm=K, an int, for a command with a table `also` of its own. */
#define PW_ARM_OPT(at)                                                                                       \
    {                                                                                                        \
        .name = "arm", .type = PW_OPT_INT, .offset = (at), .min = 1, .max = PW_MAX_ARMS,                     \
        .help = "arm that is meant; default: the current one"                                                \
    }

/* The option replica=R of a command that inspects one replica: an int, 0 if not given. */
#define PW_REPLICA_OPT(target, member)                                                                       \
    {                                                                                                        \
        .name = "replica", .type = PW_OPT_INT, .offset = offsetof(target, member), .def = "inspected",       \
        .min = 1, .max = PW_MAX_REPLICAS, .choices = pw_scope_inspected,                                     \
        .help = "replica of the arm; default: the inspected one"                                             \
    }
extern const char *const pw_scope_inspected[];
/* Replace *arm, any replica of an arm, by replica number replica_or_0; 0: the inspected one. Fails if there
 * is no such replica. who: the command, for messages. */
enum pw_code pw_scope_replica(struct pw_lab *lab, struct pw_replica **arm, const char *who, int replica_or_0,
                              struct pw_err *err);

/* Remove arm=K from args. rest: the remaining arguments, borrowed from args. *id: the arm, 0 if not given.
 * Fails if there is no such arm. */
enum pw_code pw_scope_take(struct pw_lab *lab, const struct pw_args *args, struct pw_args *rest, int *id,
                           struct pw_err *err);
/* Like pw_scope_take, for a command whose default is the current arm. */
enum pw_code pw_scope_arm(struct pw_lab *lab, const struct pw_args *args, struct pw_args *rest,
                          struct pw_replica **arm, struct pw_err *err);
/* Like pw_scope_arm, then call run_on with this arm and the rest. */
enum pw_code pw_scope_run(struct pw_lab *lab, const struct pw_args *args,
                          enum pw_code (*run_on)(struct pw_lab *lab, struct pw_replica *arm,
                                                 const struct pw_args *rest, struct pw_err *err),
                          struct pw_err *err);

#endif
