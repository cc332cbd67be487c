/* checkpoint_int.h - what writing (checkpoint_save.c) and reading (checkpoint.c) agree on. For src/model
 * only.
 *
 * Names beyond those of the parameters, in a resumable file:
 *   adam.m.NAME, adam.v.NAME  the moments of each tensor, F32
 *   adam.t       [tensors]      optimiser steps that each tensor has seen, by name order, I64
 * and in an image:
 *   met.steps    [2]            steps since training is counted; of these, whose gradients are summed, I64
 *   met.seqs     [context+1]    sequences that training met, by their rows, I64
 *   met.grad     [rows,cols]    sums of |gradient| of the encoding's own parameter, F64, where it has one;
 *                               of several all floats in one row, [n]
 *   heads.as     [L,H]          the caller's word for what replaces a head, 0: it works, I64
 *   heads.at     [L,H]          which of the tables that is; -1: zeros, I64
 *   heads.tables [n,context,D]  F32, where there are some */
#ifndef PW_CHECKPOINT_INT_H
#define PW_CHECKPOINT_INT_H
#include "model/checkpoint.h"
#include "model/model_int.h"

enum { PW_SET_PARAMS, PW_SET_M, PW_SET_V, PW_SETS }; /* of every tensor */

struct pw_tensor_name {
    char text[64];
};
struct pw_tensor_name pw_tensor_name(int set, const struct pw_param *p);

#endif
