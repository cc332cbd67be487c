/* ref_plain.h - names of the plain operations: pw_NAME_ref. */
#ifndef PW_REF_PLAIN_H
#define PW_REF_PLAIN_H
#define PW_ISA ref
#include "kernels/cpu/ops.h"
#include "tests/ops/ref.h"

#endif
