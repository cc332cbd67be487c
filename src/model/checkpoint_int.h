/* checkpoint_int.h - names of tensors in a checkpoint, shared by its writer (checkpoint_save.c) and its
 * reader (checkpoint.c). For src/model only.
 *
 * Tensors of a resumable file, beside the parameters:
 *   adam.m.NAME, adam.v.NAME  moments of each tensor, F32
 *   adam.t       [tensors]      optimiser steps that have updated each tensor, by name order, I64
 * Further tensors of an image (pw_checkpoint_image):
 *   met.steps    [2]            steps counted; of these, steps with summed gradients, I64
 *   met.seqs     [context+1]    number of training sequences by length in rows, I64
 *   met.grad     [rows,cols]    sums of |gradient| of the encoding's parameter, F64, if it has one;
 *                               with several parameters all floats in one row, [n]
 *   heads.as     [L,H]          the caller's label of a replaced head, 0: not replaced, I64
 *   heads.at     [L,H]          index of its table; -1: zeros, I64
 *   heads.tables [n,context,D]  F32, if there are any */
#ifndef PW_CHECKPOINT_INT_H
#define PW_CHECKPOINT_INT_H
#include "model/checkpoint.h"
#include "model/model_int.h"

enum { PW_SET_PARAMS, PW_SET_M, PW_SET_V, PW_SETS }; /* values, first and second moments of every tensor */

struct pw_tensor_name {
    char text[64];
};
struct pw_tensor_name pw_tensor_name(int set, const struct pw_param *p);

/* Writes to at [lay->n] where values and moments of each tensor are among those in a file, one after the
 * other in the order of the parameters; PW_ABSENT: not in the file, because the files of s have the tensor. s
 * NULL: all are in the file. Returns the floats of a set. */
size_t pw_checkpoint_places(const struct pw_param_layout *lay, const struct pw_source_files *s, size_t *at);

#endif
