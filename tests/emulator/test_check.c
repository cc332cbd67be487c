/* test_check.c - the check build finds every planted fault of faulty.cu, once, at its line and by its name;
 * and nothing in kernels without. In every order: findings don't depend on luck. */
#include "tests/emulator/faulty.h"
#include "tests/emulator/ref_device.h"
#include "tests/emulator/sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { N = 128, BYTES = N * 4 };

struct fault {
    const char *kernel, *found[2]; /* all of this is in the finding */
};

static const struct fault faults[] = {
    {"shared_beyond_by_pointer",
     {"bounds: ",
      "write of 4 bytes at faulty.cu:%d: byte 512 of 512 of shared tile, block 0,0,0 thread 127"}},
    {"shared_beyond", {"undefined: ", "an index beyond its array at faulty.cu:%d, block 0,0,0 thread 127"}},
    {"dynamic_beyond",
     {"bounds: ", "write of 4 bytes at faulty.cu:%d: byte 512 of 512 of shared the dynamic"}},
    {"write_beyond", {"bounds: ", "write of 4 bytes at faulty.cu:%d: byte 512 of 512 of allocation"}},
    {"read_beyond", {"bounds: ", "read of 4 bytes at faulty.cu:%d: byte 512 of 512 of allocation"}},
    {"far_beyond", {"bounds: ", "write of 4 bytes at faulty.cu:%d"}},
    {"local_beyond", {"undefined: ", "an index beyond its array at faulty.cu:%d"}},
    {"misaligned", {"undefined: ", "misaligned pointer, or too small an object at faulty.cu:%d"}},
    {"write_to_static", {"host memory: ", "write of 4 bytes at faulty.cu:%d"}},
    {"shared_not_set",
     {"uninitialised: ", "read of 4 bytes at faulty.cu:%d: byte 512 of 516 of shared tile"}},
    {"shared_of_block_before", {"uninitialised: ", "read of 4 bytes at faulty.cu:%d: byte "}},
    {"no_barrier", {"race: ", "read of 4 bytes at faulty.cu:%d: byte "}},
    {"no_barrier_to_neighbour", {"race: ", "at faulty.cu"}},
    {"buffer_used_again", {"race: ", "write of 4 bytes at faulty.cu:%d: byte "}},
    {"shuffle_is_no_fence", {"race: ", "read of 4 bytes at faulty.cu:%d: byte "}},
    {"lane_reads_before_write", {"race: ", "at faulty.cu"}},
    {"blocks_add", {"race: ", "at faulty.cu:%d: byte 0 of 512 of allocation"}},
    {"blocks_write_the_same", {"race: ", "write of 4 bytes at faulty.cu:%d"}},
    {"atomic_and_not", {"race: ", "of shared count"}},
    {"halves_of_a_word", {"race: ", "write of 2 bytes at faulty.cu:%d"}},
    {"int_overflow", {"undefined: ", "a multiplication overflows at faulty.cu:%d"}},
};

/* The line after the kernel's beginning that ends with the word here. */
static int line_of(const char *kernel)
{
    FILE *f = fopen(PEWTER_SOURCE_DIR "/tests/emulator/faulty.cu", "r");
    char line[300], begin[100];
    int number = 0, found = 0;
    bool inside = false;
    assert_non_null(f);
    snprintf(begin, sizeof begin, "void %s(", kernel);
    while (found == 0 && fgets(line, sizeof line, f) != NULL) {
        number++;
        inside |= strstr(line, begin) != NULL;
        if (inside && strstr(line, "/* here */") != NULL)
            found = number;
    }
    fclose(f);
    return found;
}

static void run(const char *kernel, float *out, const float *in)
{
    assert_int_equal(faulty_run(kernel, ref_stream, out, in), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(ref_stream), cudaSuccess);
}

/* One finding has it all; beside it there may be what follows from the fault. */
static void assert_fault(const struct fault *f)
{
    char due[300];
    bool found = false;
    snprintf(due, sizeof due, f->found[1], line_of(f->kernel));
    for (int i = 0; i < pw_emu_findings(); i++)
        found |= strstr(pw_emu_finding(i), f->found[0]) != NULL && strstr(pw_emu_finding(i), due) != NULL;
    if (!found)
        fail_msg("%s: '%s' is found, and due is '%s%s'", f->kernel, pw_emu_finding(0), f->found[0], due);
    pw_emu_clear();
}

static void check_faults(void)
{
    float numbers[N];
    for (int i = 0; i < N; i++)
        numbers[i] = (float)(i * 37 % 101);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        float *in = ref_device(numbers, BYTES), *out = ref_device(numbers, BYTES);
        run(faults[i].kernel, out, in);
        assert_fault(&faults[i]);
        cudaFree(in);
        cudaFree(out);
    }
}

static void planted(void **state)
{
    (void)state;
    pw_emu_collect(true);
    ref_each_order(check_faults);
}

/* Faults of the host: what a kernel is given. */
static void pointers(void **state)
{
    (void)state;
    float numbers[N] = {0};
    float *in = ref_device(numbers, BYTES), *out = ref_device(numbers, BYTES),
          *unset = ref_device(NULL, BYTES);
    pw_emu_collect(true);
    run("copy_only", out, numbers);
    ref_assert_found("host memory: table[i].kernel: read of 4 bytes at faulty.cu");
    run("copy_only", out, unset);
    ref_assert_found("uninitialised");
    run("add_to_result", unset, in);
    ref_assert_found("uninitialised");
    cudaFree(in);
    run("copy_only", out, in);
    ref_assert_found("bounds");
}

/* A copy carries what is known along; memset and products make known. */
static void initialisation(void **state)
{
    (void)state;
    float *a = ref_device(NULL, BYTES), *b = ref_device(NULL, BYTES), *out = ref_device(NULL, BYTES);
    pw_emu_collect(true);
    assert_int_equal(cudaMemsetAsync(a, 0, BYTES - 4, ref_stream), cudaSuccess);
    assert_int_equal(cudaMemcpyAsync(b, a, BYTES, cudaMemcpyDeviceToDevice, ref_stream), cudaSuccess);
    run("copy_only", out, b);
    ref_assert_found("byte 508 of 512 of allocation");
    assert_int_equal(cudaMemsetAsync(b + N - 1, 0, 4, ref_stream), cudaSuccess);
    run("copy_only", out, b);
    assert_int_equal(pw_emu_findings(), 0);
}

static void check_good(void)
{
    enum { ROWS = 150 };
    float numbers[ROWS] = {0};
    float *in = ref_device(numbers, sizeof numbers), *out = ref_device(numbers, sizeof numbers);
    int *ints = ref_device(NULL, 32 * 8 * sizeof(int));
    run("faultless", ref_device(NULL, BYTES), ref_device(numbers, BYTES));
    assert_int_equal(sample_sum(ref_stream, out, in, ROWS, 3), cudaSuccess);
    assert_int_equal(sample_axpy(ref_stream, out, in, 0.5f, ROWS), cudaSuccess);
    assert_int_equal(sample_flip(ref_stream, out, in, ROWS), cudaSuccess);
    assert_int_equal(sample_warp(ref_stream, ints), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(ref_stream), cudaSuccess);
    if (pw_emu_findings() > 0)
        fail_msg("a kernel without fault: %s", pw_emu_finding(0));
}

static void no_false_alarms(void **state)
{
    (void)state;
    pw_emu_collect(true);
    ref_each_order(check_good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(planted, ref_setup, ref_teardown),
        cmocka_unit_test_setup_teardown(pointers, ref_setup, ref_teardown),
        cmocka_unit_test_setup_teardown(initialisation, ref_setup, ref_teardown),
        cmocka_unit_test_setup_teardown(no_false_alarms, ref_setup, ref_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
