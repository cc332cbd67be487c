/* other_plugin.c - a plug-in of another version of pewter, with another contract. */
#include "kernels/backend.h"

pw_backend_entry pw_backend_plugin;

const struct pw_backend_plugin *pw_backend_plugin(void)
{
    static const struct pw_backend_plugin plugin = {PW_BACKEND_ABI + 1, "9.9", NULL};
    return &plugin;
}
