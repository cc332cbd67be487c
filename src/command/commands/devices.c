/* devices - list the devices on which models can be trained, or the reasons why there are none. */
#include "lab/actions.h"

extern const struct pw_command pw_cmd_devices;

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    enum pw_code code = pw_args_limit(&pw_cmd_devices, args, 0, 0, err);
    if (code == PW_OK)
        pw_lab_list_devices(ctx);
    return code;
}

const struct pw_command pw_cmd_devices = {
    .name = "devices",
    .search = "gpu cuda cpu",
    .usage = "devices",
    .example = "devices",
    .summary = "list the devices: processors, NVIDIA devices, or the reason why there are none",
    .detail = "'backend' chooses one. CUDA needs the plug-in libpewter_cuda.so in $PEWTER_BACKEND_DIR, else "
              "beside\n"
              "the program or in its library folder.",
    .where = PW_AT_LAB,
    .outside = pw_command_outside,
    .beside = true,
    .run = run,
};
