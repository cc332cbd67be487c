/* test_faults.c - barriers and warp intrinsics that not every thread comes to are found in every build and in
 * every order of threads, and the emulator goes on after them. */
#include "tests/emulator/faulty.h"
#include "tests/emulator/ref_device.h"
#include "tests/emulator/sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

enum { N = 128, BYTES = N * 4 };

static const struct {
    const char *kernel, *found;
} faults[] = {
    {"barrier_in_branch", "64 of 128 threads of block 0,0,0 have left before the barrier at faulty.cu:"},
    {"return_before_barrier", "28 of 128 threads of block 0,0,0 have left before the barrier at faulty.cu:"},
    {"two_barriers", "threads of block 0,0,0 wait at different barriers: faulty.cu:"},
    {"barrier_in_uneven_loop", "92 of 96 threads of block 0,0,0 have left before the barrier at faulty.cu:"},
    {"barrier_and_warp",
     "deadlock: table[i].kernel: block 0,0,0: threads 0-15 in __shfl_xor_sync at faulty.cu:"},
    {"shuffle_in_branch", "__shfl_xor_sync"},
    {"shuffle_from_outside", "__shfl_sync: source lane 20 is not in the mask (block 0,0,0 warp"},
    {"shuffle_not_in_mask", "calls __shfl_xor_sync at faulty.cu"},
    {"lanes_left", "__shfl_xor_sync at faulty.cu"},
};

static void assert_among(const char *kernel, const char *text)
{
    bool found = false;
    for (int i = 0; i < pw_emu_findings(); i++)
        found |= strstr(pw_emu_finding(i), text) != NULL;
    if (!found)
        fail_msg("%s: '%s' is found, and due is '%s'", kernel, pw_emu_finding(0), text);
    pw_emu_clear();
}

static void check_faults(void)
{
    float numbers[N] = {1.0f}, sum[1];
    float *in = ref_device(numbers, BYTES), *out = ref_device(numbers, BYTES);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        assert_int_equal(faulty_run(faults[i].kernel, ref_stream, out, in), cudaSuccess);
        assert_int_equal(cudaStreamSynchronize(ref_stream), cudaSuccess);
        assert_among(faults[i].kernel, faults[i].found);
        assert_int_equal(sample_sum(ref_stream, out, in, N, 1), cudaSuccess);
        ref_fetch(sum, out, sizeof sum);
        assert_true(sum[0] == 1.0f);
        assert_int_equal(pw_emu_findings(), 0);
    }
}

static void planted(void **state)
{
    (void)state;
    pw_emu_collect(true);
    ref_each_order(check_faults);
}

/* Comparing orders finds faults only sometimes; the check build finds them always, which is why it
 * exists. */
static void orders_show_some(void **state)
{
    (void)state;
    float numbers[N], got[2][N];
    bool differ[2];
    const char *const kernels[2] = {"no_barrier_to_neighbour", "buffer_used_again"};
    for (int i = 0; i < N; i++)
        numbers[i] = (float)(i * 37 % 101);
    float *in = ref_device(numbers, BYTES), *out = ref_device(numbers, BYTES);
    for (int k = 0; k < 2; k++) {
        for (int o = 0; o < 2; o++) {
            pw_emu_set_order(o == 0 ? PW_EMU_FORWARD : PW_EMU_REVERSE, 1);
            assert_int_equal(faulty_run(kernels[k], ref_stream, out, in), cudaSuccess);
            ref_fetch(got[o], out, BYTES);
        }
        differ[k] = memcmp(got[0], got[1], BYTES) != 0;
    }
    assert_true(differ[0]);
    assert_false(differ[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(planted, ref_setup, ref_teardown),
        cmocka_unit_test_setup_teardown(orders_show_some, ref_setup, ref_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
