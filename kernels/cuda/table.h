/* table.h - the tables of the CUDA backend: mode ref, and mode fast in its three precisions. Constant. */
#ifndef PW_CUDA_TABLE_H
#define PW_CUDA_TABLE_H
#include "kernels/backend.h"

extern const struct pw_backend_ops pw_cuda_table_ref, pw_cuda_table_fp32, pw_cuda_table_tf32,
    pw_cuda_table_bf16;

#endif
