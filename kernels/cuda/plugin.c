/* plugin.c - the only symbol that libpewter_cuda.so exports. */
#include <stddef.h>

#include "kernels/cuda/table.h"

__attribute__((visibility("default"))) pw_backend_entry pw_backend_plugin;

const struct pw_backend_plugin *pw_backend_plugin(void)
{
    static const struct pw_backend_ops *const tables[] = {&pw_cuda_table_tf32, &pw_cuda_table_bf16,
                                                          &pw_cuda_table_fp32, &pw_cuda_table_ref, NULL};
    static const struct pw_backend_plugin plugin = {PW_BACKEND_ABI, PEWTER_VERSION, tables};
    return &plugin;
}
