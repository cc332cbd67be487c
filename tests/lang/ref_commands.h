/* ref_commands.h - a small table of commands without effect, for the tests of the command language. */
#ifndef PW_REF_COMMANDS_H
#define PW_REF_COMMANDS_H
#include "command/command.h"

struct ref_target {
    int width;
    bool tied;
    int norm;
    struct pw_range lengths;
};

extern const struct pw_commands ref_commands;

#endif
