/* fuzz_event.c - fuzz target of the codec: arbitrary bytes are read as events and runs, folded, encoded again
 * and drawn. Decoding and encoding again must reproduce the encoded bytes.
 *
 * cmake -B build/fuzz -G Ninja -DCMAKE_C_COMPILER=clang -DPEWTER_FUZZ=ON -DPEWTER_SANITIZE=address,undefined
 * && ninja -C build/fuzz fuzz_event && build/fuzz/tests/fuzz/fuzz_event */
#include <stdlib.h>
#include <string.h>

#include "../unit/ref_codec.h"

enum { HEAD = 5 }; /* kind (PW_EV_KINDS: a run), arm and replica, step, length of the payload (2 bytes) */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

static void fold_run(struct pw_snapshot *s, const uint8_t *data, size_t n)
{
    struct pw_run_reader r;
    struct pw_run again = {0};
    struct pw_event e;
    bool got;
    pw_run_open(&r, data, n);
    while (pw_run_next(&r, &e, &got, NULL) == PW_OK && got) {
        if (!pw_run_takes(&e) || !pw_event_placed(&e))
            abort();
        pw_run_add(&again, &e);
        pw_fold(s, &e);
    }
    if (again.n != r.before.n)
        abort();
    pw_run_fini(&again);
}

static void fold_event(struct pw_snapshot *s, const uint8_t *head, const uint8_t *data, size_t n)
{
    struct pw_str first = {0}, second = {0};
    struct pw_event *e, *again;
    int unknown = 0;
    if (pw_event_decode(&e, head[0], data, n, &unknown, NULL) != PW_OK)
        return;
    pw_event_encode(&first, e);
    if (pw_event_decode(&again, head[0], first.s, first.len, &unknown, NULL) != PW_OK)
        abort();
    pw_event_encode(&second, again);
    if (first.len != second.len || (first.len > 0 && memcmp(first.s, second.s, first.len) != 0))
        abort();
    pw_event_free(again);
    pw_str_fini(&first);
    pw_str_fini(&second);
    e->seq = s->seq + 1;
    e->arm = head[1] % (PW_MAX_ARMS + 1);
    e->replica = head[1] / 16 % (PW_MAX_REPLICAS + 1);
    e->step = head[2];
    codec_look(s, e);
    pw_event_free(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pw_snapshot *s = codec_snapshot();
    uint64_t which = 0;
    while (size >= HEAD) {
        const uint8_t *head = data;
        size_t n = (size_t)head[3] | (size_t)head[4] << 8;
        data += HEAD, size -= HEAD;
        n = n < size ? n : size;
        if (head[0] == PW_EV_KINDS)
            fold_run(s, data, n);
        else
            fold_event(s, head, data, n);
        which = which * 31 + head[2] + n;
        data += n, size -= n;
    }
    if (which % 16 == 0) /* for some inputs only, because drawing is slow */
        codec_draw(s, which);
    pw_snapshot_free(s);
    return 0;
}

/* One mutation in four appends a valid event of any kind, because other mutations would take long to find
 * one. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    uint64_t rng = seed;
    if (codec_next(&rng) % 4 != 0)
        return LLVMFuzzerMutate(data, size, most);
    struct pw_event *e = codec_random((enum pw_event_kind)(codec_next(&rng) % PW_EV_KINDS), &rng);
    struct pw_str bytes = {0};
    pw_event_encode(&bytes, e);
    if (bytes.len <= UINT16_MAX && size + HEAD + bytes.len <= most) {
        uint8_t head[HEAD] = {(uint8_t)e->kind, (uint8_t)(codec_next(&rng) % 3), (uint8_t)codec_next(&rng),
                              (uint8_t)bytes.len, (uint8_t)(bytes.len >> 8)};
        memcpy(data + size, head, HEAD);
        memcpy(data + size + HEAD, pw_str_text(&bytes), bytes.len);
        size += HEAD + bytes.len;
    }
    pw_str_fini(&bytes);
    pw_event_free(e);
    return size;
}
