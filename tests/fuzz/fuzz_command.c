/* fuzz_command.c - fuzz target of the command language: arbitrary bytes are read as a script and as a line
 * that is being typed.
 *
 * cmake -B build/fuzz -G Ninja -DCMAKE_C_COMPILER=clang -DPEWTER_FUZZ=ON && ninja -C build/fuzz fuzz_command
 * && build/fuzz/tests/fuzz/fuzz_command */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../lang/ref_commands.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum pw_code parse(void *arg, const char *text, int line)
{
    (void)line;
    struct pw_args args;
    struct pw_err err;
    const struct pw_command *cmd;
    (void)arg;
    if (pw_command_parse(&ref_commands, text, &args, &cmd, &err) != PW_OK)
        return PW_OK;
    if (strcmp(args.text, text) != 0)
        abort(); /* the recorded text must be the text that was split off */
    pw_args_fini(&args);
    return PW_OK;
}

static void accept_any(void *arg, const char *candidate)
{
    (void)arg;
    if (candidate[0] == '\0')
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pw_str line = {0}, hint = {0};
    struct pw_err err;
    pw_str_put(&line, (const char *)data, size);
    pw_commands_split(line.s, parse, NULL, &err);
    size_t point = size > 0 ? data[0] % (size + 1) : 0;
    if (pw_command_complete(&ref_commands, NULL, line.s, point, accept_any, NULL) > point)
        abort();
    pw_command_hint(&ref_commands, line.s, &hint);
    pw_str_fini(&line);
    pw_str_fini(&hint);
    return 0;
}
