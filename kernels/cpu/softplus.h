/* softplus.h - softplus of sixteen numbers, for operations that make numbers of q and k. */
#ifndef PW_CPU_SOFTPLUS_H
#define PW_CPU_SOFTPLUS_H
#include "kernels/cpu/vmath.h"

/* ln(1 + exp(x)). */
V_INLINE v16 v_softplus(v16 x)
{
    return v_sub(v_zero(), v_log_sigmoid(v_sub(v_zero(), x)));
}

#endif
