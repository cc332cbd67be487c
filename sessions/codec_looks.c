/* codec_looks.c - the field tables of LOOK, ATTENTION and TABLE, as codec_fields.c has them for other events.
 */
#include "sessions/codec_table.h"

#define TENSORS 64 /* of an encoding */

const char pw_log2_of_c[] = "an entropy, which edition 0 had by the C library's log2";

#define S struct pw_inspection_token
static const struct pw_field look_token[] = {
    RANGE(1, token, 0, COUNT), RANGE(2, rank, 0, COUNT), ANY(3, prob), ANY(4, logit), TEXT(5, label),
};
#undef S
static const struct pw_message look_token_message = {.fields = look_token, .n = N(look_token)};

#define S struct pw_inspection_part
static const struct pw_field look_part[] = {
    TEXT(1, name),
    RANGE(2, layer, -1, LAYERS - 1),
    RANGE(3, head, -1, HEADS - 1),
};
#undef S
static const struct pw_message look_part_message = {.fields = look_part, .n = N(look_part)};

#define S struct pw_inspection_lens
static const struct pw_field look_lens[] = {TEXT(1, label), ANY(2, prob), HOST(3, entropy, pw_log2_of_c)};
#undef S
static const struct pw_message look_lens_message = {.fields = look_lens, .n = N(look_lens)};

#define S struct pw_ev_inspection
const struct pw_field pw_look_fields[PW_LOOK_FIELDS] = {
    ANY(1, prompt),
    RANGE(2, pos, 0, FAR),
    ANY(3, temperature),
    HOST(4, entropy, pw_log2_of_c),
    RANGE(5, vocab, 0, COUNT),
    ANY(6, mean_logit),
    RANGE(7, n, 0, PW_LOOK_TOP + 2), /* the answer's token and the right one may not be among the best */
    RANGE(8, said, 0, PW_LOOK_TOP + 1),
    RANGE(9, target, -1, PW_LOOK_TOP + 1),
    ARRAY_STRUCTS(10, token, look_token_message, OF(n)),
    RANGE(11, n_parts, 0, LAYERS *(HEADS + 1) + 3),
    ARRAY_STRUCTS(12, parts, look_part_message, OF(n_parts)),
    ARRAY(13, part, ALL, OF(n_parts), OF(n)),
    ARRAY(14, mean, ALL, OF(n_parts)),
    ANY(15, worst),
    RANGE(16, layers, 0, LAYERS),
    MAYBE_STRUCTS(17, lens, look_lens_message, PLUS(layers, 1)),
    MAYBE(18, lens_prob, ALL, PLUS(layers, 1), OF(n)),
    MAYBE(19, lens_rank, FROM(0, COUNT), PLUS(layers, 1), OF(n)),
};
#undef S
#define S struct pw_score_kind
static const struct pw_field score_kind[] = {TEXT(1, name), TEXT(2, unit), HOST(3, chance, pw_log2_of_c)};
#undef S
static const struct pw_message score_kind_message = {.fields = score_kind, .n = N(score_kind)};

#define S struct pw_gold
static const struct pw_field gold[] = {RANGE(1, query, 0, FAR), RANGE(2, key, 0, FAR)};
#undef S
static const struct pw_message gold_message = {.fields = gold, .n = N(gold)};

#define S struct pw_ev_attention
const struct pw_field pw_attention_fields[PW_ATTENTION_FIELDS] = {
    ANY(1, prompt),
    RANGE(2, T, 0, FAR),
    RANGE(3, layers, 0, LAYERS),
    RANGE(4, heads, 0, HEADS),
    RANGE(5, layer, 0, LAYERS - 1),
    RANGE(6, head, 0, HEADS - 1),
    RANGE(7, view, 0, PW_VIEWS - 1),
    MAYBE(8, labels, ALL, OF(T)),
    RANGE(9, n_prompt, 0, FAR),
    MAYBE(10, probs, ALL, OF(layers), OF(heads), OF(T), OF(T)),
    MAYBE(11, score, ALL, OF(T), OF(T)),
    MAYBE(12, content, ALL, OF(T), OF(T)),
    MAYBE(13, bias, ALL, OF(T), OF(T)),
    ANY(14, asked),
    ANY(15, sees_all),
    ANY(16, adds),
    ANY(17, rotates),
    ANY(18, biases),
    MAYBE(19, terms, ALL, TIMES(4), OF(T), OF(T)),
    RANGE(20, samples, 0, COUNT),
    RANGE(21, n_gold, 0, COUNT),
    ARRAY_STRUCTS(22, gold, gold_message, OF(n_gold)),
    RANGE(23, n_scores, 0, PW_MAX_SCORES),
    COUNTED_STRUCTS(24, kinds, score_kind_message, OF(n_scores)),
    {HEAD(25, scores), .form = PW_FORM_ARRAY, ENTRY(scores), ALL, .by = {OF(layers), OF(heads), OF(n_scores)},
     .host = pw_log2_of_c}, /* two of them are entropies */
    TEXT(26, source),
    MAYBE(27, all_scores, ALL, OF(layers), OF(heads), OF(T), OF(T)),
    RANGE(28, pool, 0, FAR),
    RANGE(29, side, 0, FAR),
    MAYBE(30, pooled, ALL, OF(layers), OF(heads), OF(side), OF(side)),
    MAYBE(31, map, ALL, OF(T), OF(T)),
    ANY(32, gates),
    MAYBE(33, gate, ALL, OF(T), OF(T)),
    MAYBE(34, gate_values, ALL, OF(heads), OF(T)),
    ANY(35, rests),
    MAYBE(36, positions, ALL, OF(T), OF(T)),
};
#undef S
#define S struct pw_table_tensor
static const struct pw_field tensor[] = {
    TEXT(1, name), RANGE(2, rows, 0, COUNT), RANGE(3, cols, 0, COUNT), ANY(4, norm), ANY(5, grad),
};
#undef S
static const struct pw_message tensor_message = {.fields = tensor, .n = N(tensor)};

#define S struct pw_table_param
static const struct pw_field table_param[] = {
    TEXT(1, name),
    RANGE(2, layers, 1, LAYERS),
    RANGE(3, heads, 1, HEADS),
    RANGE(4, size, 1, FAR),
    RANGE(5, part, 0, PW_TABLE_PARTS - 1),
    RANGE(6, entry, -1, PW_TABLE_ENTRIES - 1),
    RANGE(7, along, 0, PW_ALONG_MIXES),
};
#undef S
static const struct pw_message param_message = {.fields = table_param, .n = N(table_param)};

#define S struct pw_ev_table
const struct pw_field pw_table_fields[PW_TABLE_FIELDS] = {
    TEXT(1, pe),
    RANGE(2, length, 0, FAR),
    RANGE(3, heads, 0, HEADS),
    RANGE(4, width, 0, FAR),
    RANGE(5, pairs, 0, FAR),
    RANGE(6, n_buckets, 0, FAR),
    MAYBE(7, bucket, FROM(0, FAR - 1), OF(length)),
    MAYBE(8, bucket_from, FROM(0, COUNT), PLUS(n_buckets, 1)),
    MAYBE(9, bucket_bias, ALL, OF(n_buckets), OF(heads)),
    MAYBE(10, bias, ALL, OF(heads), OF(length)),
    MAYBE(11, slopes, ALL, OF(heads)),
    MAYBE(12, frequencies, ALL, OF(pairs)),
    MAYBE(13, added, ALL, OF(length), OF(width)),
    RANGE(14, trained, 0, FAR),
    MAYBE(15, met, FROM(0, PW_MANY), OF(length)),
    MAYBE(16, rows, FROM(0, PW_MANY), OF(length)),
    RANGE(17, met_from, -PW_MANY, PW_MANY),
    {HEAD(18, grad), .form = PW_FORM_ARRAY, ENTRY(grad), .count = pw_gradients},
    RANGE(19, n_grad, 0, PW_MANY),
    RANGE(20, layer, 0, LAYERS - 1),
    RANGE(21, layers, 0, LAYERS),
    RANGE(22, n_kernel, 0, COUNT),
    MAYBE(23, kernel, ALL, OF(heads), OF(length)),
    MAYBE(24, score, ALL, OF(heads), OF(length)),
    MAYBE(25, parts, ALL, OF(heads), OF(pairs), TIMES(2)),
    ANY(26, by_length),
    RANGE(27, n_keys, 0, FAR),
    RANGE(28, key_width, 0, FAR),
    RANGE(29, key_from, -FAR, 0),
    MAYBE(30, keys, ALL, OF(n_keys), OF(key_width)),
    MAYBE(31, key_met, FROM(0, PW_MANY), OF(n_keys)),
    MAYBE(32, key_grad, ALL, OF(n_keys)),
    RANGE(33, n_queries, 0, PW_TABLE_QUERIES),
    ARRAY(34, queries, FROM(0, FAR - 1), OF(n_queries)),
    MAYBE(35, query_bias, ALL, OF(heads), OF(n_queries), OF(length)),
    RANGE(36, n_tensors, 0, TENSORS),
    ARRAY_STRUCTS(37, tensors, tensor_message, OF(n_tensors)),
    ANY(38, fire_c),
    ANY(39, fire_factor),
    ANY(40, fire_threshold),
    ANY(41, fire_from),
    ANY(42, fire_step),
    RANGE(43, later, 0, FAR),
    ANY(44, by_layer),
    RANGE(45, n_params, 0, PW_TABLE_PARAMS),
    RANGE(46, params_left, 0, PW_TABLE_PARAMS),
    ARRAY_STRUCTS(47, params, param_message, OF(n_params)),
    RANGE(48, param_steps, 0, PW_MANY),
    RANGE(49, n_learned, 0, PW_TABLE_PARTS),
    ARRAY(50, learned, ALL, OF(n_learned)),
    MAYBE(51, learned_grads, ALL, OF(n_learned)),
    RANGE(52, n_entries, 0, PW_TABLE_ENTRIES),
    ARRAY(53, entries, ALL, OF(n_entries)),
    MAYBE(54, entry_grads, ALL, OF(n_entries)),
    TEXT(55, order),
};
#undef S
