/* test_texts.c - tests every task in every style: the examples of the paper's data and appendix must match to
 * the character. Solvers that read only the text check samples. It also tests the errors for unreadable
 * texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ref_texts.h"
#include "tasks/task.h"

#define MAX 4096

static void the_datas_texts(void **state)
{
    static const struct texts_good cases[] = {
        {"addition text=paper", "Compute 7 2 6 + 5 9 ? ", "Compute 7 2 6 + 5 9 ?| The answer is 7 8 5.", 0,
         3},
        {"addition text=paper", "Compute 9 7 + 5 ?", "Compute 9 7 + 5 ?| The answer is 1 0 2.", 0, 2},
        {"polynomial text=paper", "Evaluate at x = - 2 in - 2 * x ** 2 + - 1 * x ** 0 + 3 * x ** 3 ? ",
         "Evaluate at x = - 2 in - 2 * x ** 2 + - 1 * x ** 0 + 3 * x ** 3 ?| The answer is 7.", 0, 3},
        {"sort text=paper alphabet=50", "Sort the following list [ l, d, e, d ]. ",
         "Sort the following list [ l, d, e, d ].| The sorted list is [ d, d, e, l ].", 0, 4},
        {"sort text=paper variant=multi", "Sort the following list [ 2 4 6 8, 6 8, 8 8 1 ]. ",
         "Sort the following list [ 2 4 6 8, 6 8, 8 8 1 ].| The sorted list is [ 6 8, 8 8 1, 2 4 6 8 ].", 0,
         3},
        {"summation text=paper", "Compute: 3 + 9 + 1 + 8 .[SEP] ",
         "Compute: 3 + 9 + 1 + 8 .[SEP]| The answer is 1 .", 0, 4},
        {"parity text=paper", "Is the number of 1's even in the sequence [ 1, 0, 1, 1 ] ? ",
         "Is the number of 1's even in the sequence [ 1, 0, 1, 1 ] ?| The answer is No.", 0, 4},
        {"parity text=paper", "parity 11",
         "Is the number of 1's even in the sequence [ 1, 1 ] ?| The answer is Yes.", 0, 2},
        {"lego text=paper", "If q = -1, t = - q, c = + t, f = - c. Then, what is the value of c? ",
         "If q = -1, t = - q, c = + t, f = - c. Then, what is the value of c?| The answer is +1.", 0, 4},
        {"reverse text=paper", "Reverse: a b c [SEP] ", "Reverse: a b c [SEP]| c b a", 0, 3},
        {"reverse text=paper variant=mc2x", "Reverse: a b c [SEP] ",
         "Reverse: a b c [SEP]| c b a [NEXT] c b a", 0, 3},
        {"reverse text=paper variant=mcrv", "Reverse: a b c [SEP] ",
         "Reverse: a b c [SEP]| c b a [NEXT] a b c", 0, 3},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        texts_reads(&cases[i], cases[i].typed);
}

static void the_appendixs_texts(void **state)
{
    static const struct texts_good cases[] = {
        {"addition text=appendix", "Compute 5 3 7 2 6 + 1 9 1 7 ?",
         "Compute 5 3 7 2 6 + 1 9 1 7 ?| The answer is 5 5 6 4 3.", 0, 5},
        {"addition text=seed", "Compute 5 3 7 2 6 + 1 9 1 7 ?", /* the old name, of older sessions */
         "Compute 5 3 7 2 6 + 1 9 1 7 ?| The answer is 5 5 6 4 3.", 0, 5},
        {"polynomial text=appendix", "Evaluate x = 3 in (3 x ** 0 + 1 x ** 1 + 1 x ** 2) % 10 ?",
         "Evaluate x = 3 in (3 x ** 0 + 1 x ** 1 + 1 x ** 2) % 10 ?| The answer is 5.", 0, 3},
        {"sort text=appendix", "Sort the following numbers: 3 1 4 1 5 ?",
         "Sort the following numbers: 3 1 4 1 5 ?| The answer is 1 1 3 4 5.", 0, 5},
        {"sort text=appendix variant=multi", "Sort the following numbers: 3 1, 4 1, 5 9, 1 2 6, 5 3 3 ?",
         "Sort the following numbers: 3 1, 4 1, 5 9, 1 2 6, 5 3 3 ?| The answer is 3 1, 4 1, 5 9, 1 2 6, 5 3 "
         "3.",
         0, 5},
        {"summation text=appendix", "Compute: (1+2+3+4+7)%10?", "Compute: (1+2+3+4+7)%10?| The answer is 7.",
         0, 5},
        {"parity text=appendix", "Is the number of 1's even in [1 0 0 1 1] ?",
         "Is the number of 1's even in [1 0 0 1 1] ?| The answer is No.", 0, 5},
        {"lego text=appendix", "If a = -1; b = -a; c = +b; d = +c. Then what is c?",
         "If a = -1; b = -a; c = +b; d = +c. Then what is c?| The answer is +1.", 0, 4},
        {"copy text=appendix", "Copy the following words: <w1> <w2> <w3> <w4> <w5> .",
         "Copy the following words: <w1> <w2> <w3> <w4> <w5> .| <w1> <w2> <w3> <w4> <w5>", 0, 5},
        {"copy text=appendix variant=rsc2x", "Copy the following words: <w1> <w1> .",
         "Copy the following words: <w1> <w1> .| <w1> <w1> <w1> <w1>", 0, 2},
        {"copy text=appendix variant=cmc2x", "Copy the following words: <w1> <w2> .",
         "Copy the following words: <w1> <w2> .| <w1> <w2> [NEXT] <w1> <w2>", 0, 2},
        {"copy text=appendix variant=rdc", "Replace <w7> with <w2> in the following words: <w7> <w7> .",
         "Replace <w7> with <w2> in the following words: <w7> <w7> .| <w2> <w2>", 0, 2},
        {"reverse text=appendix", "Reverse the following words: <w1> <w2> <w3> <w4> <w5> .",
         "Reverse the following words: <w1> <w2> <w3> <w4> <w5> .| <w5> <w4> <w3> <w2> <w1> .", 0, 5},
        {"reverse text=appendix variant=mcrv", "Reverse the following words: <w1> <w2> .",
         "Reverse the following words: <w1> <w2> .| <w2> <w1> [NEXT] <w1> <w2> .", 0, 2},
        {"reverse text=appendix", "reverse 0 1 a",
         "Reverse the following words: <w1> <w2> <w11> .| <w11> <w2> <w1> .", 0, 3},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        texts_reads(&cases[i], cases[i].typed);
}

static void the_short_texts_and_payloads(void **state)
{
    static const struct texts_good cases[] = {
        {"addition", "addition 726 + 59", "addition 7 2 6 + 5 9 >| 7 8 5", 0, 3},
        {"addition", "addition 12+9", "addition 1 2 + 9 >| 2 1", 0, 2},
        {"addition", "addition 0 + 0", "addition 0 + 0 >| 0", 0, 1},
        {"addition", "addition 007 + 00", "addition 7 + 0 >| 7", 0, 1},
        {"addition", "addition 999 + 1 ?", "addition 9 9 9 + 1 >| 1 0 0 0", 0, 3},
        {"addition order=all", "addition 627 + 95", "addition 6 2 7 + 9 5 >| 5 8 7", 0, 3},
        {"addition order=all scratchpad=full", "addition 521 + 7",
         "addition 5 2 1 + 7 >| in 5 7 comp 5 7 0 = 1 2 out 2 var 1 re 2 1 + 0 # in 2 0 comp 2 0 1 = 3 out 3 "
         "var 0 "
         "re 1 + 0 # in 1 0 comp 1 0 0 = 1 out 1 var 0 re + so 2 3 1",
         0, 3},
        {"addition order=all", "addition 01 + 0", "addition 0 1 + 0 >| 0 1", 0, 2},
        {"addition order=all", "addition 700 + 00", "addition 7 + 0 >| 7", 0, 1},
        {"addition order=reversed", "addition 726 + 59", "addition 7 2 6 + 5 9 >| 5 8 7", 0, 3},
        {"summation", "summation 3 9 1 8", "summation 3 9 1 8 >| 1", 0, 4},
        {"summation", "summation 3+9+1+8", "summation 3 9 1 8 >| 1", 0, 4},
        {"summation", "summation (5+5)%10?", "summation 5 5 >| 0", 0, 2},
        {"parity", "parity 1 0 1 1", "parity 1 0 1 1 >| odd", 0, 4},
        {"parity", "parity 1011 0", "parity 1 0 1 1 0 >| odd", 0, 5},
        {"polynomial", "polynomial x=-2: -2x^2 - 1 + 3x^3", "polynomial -2 : -2 x^2 -1 x^0 +3 x^3 >| 7", 0,
         3},
        {"polynomial", "polynomial x = 0 : 3 * x ** 0", "polynomial +0 : +3 x^0 >| 3", 0, 1},
        {"polynomial", "polynomial 1: x + x^2 - -x", "polynomial +1 : +1 x^1 +1 x^2 +1 x^1 >| 3", 0, 3},
        {"sort variant=multi", "sort 31 415 9", "sort 3 1, 4 1 5, 9 >| 9, 3 1, 4 1 5", 0, 3},
        {"sort variant=multi", "sort 31,4 1 5, 9", "sort 3 1, 4 1 5, 9 >| 9, 3 1, 4 1 5", 0, 3},
        {"sort variant=multi", "sort 3 1", "sort 3 1 >| 3 1", 0, 1},
        {"sort variant=multi", "sort 0", "sort 0 >| 0", 0, 1},
        {"reverse", "reverse 3 1 4", "reverse 3 1 4 >| 4 1 3", 0, 3},
        {"reverse variant=mc2x", "reverse 3 1", "reverse 3 1 >| 1 3 | 1 3", 0, 2},
        {"reverse variant=mcrv", "reverse 3 1", "reverse 3 1 >| 1 3 | 3 1", 0, 2},
        {"copy,sort variant=rsc", "copy 1 1", "copy 1 1 >| 1 1", 0, 2}, /* sort has no such variant */
        {"copy,sort variant=multi", "sort 31 41", "sort 3 1, 4 1 >| 3 1, 4 1", 1, 2},
        {"addition,summation text=paper", "Compute 1 + 2 ?", "Compute 1 + 2 ?| The answer is 3.", 0, 1},
        {"addition,summation text=paper", "Compute: 1 + 2 .", "Compute: 1 + 2 .[SEP]| The answer is 3 .", 1,
         2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        texts_reads(&cases[i], cases[i].typed);
}

static void what_is_wrong_is_said(void **state)
{
    static const struct typed cases[] = {
        {"addition", "addition", "addition: a number is missing; write: addition 726 + 59"},
        {"addition", "addition 12",
         "addition: '+' is missing after the first number; write: addition 726 + 59"},
        {"addition", "addition 12 +", "addition: a number is missing; write: addition 726 + 59"},
        {"addition", "addition a + 1", "addition: 'a' is not a number; write: addition 726 + 59"},
        {"addition", "addition 1 + 2 + 3", "addition: unexpected '+'; write: addition 726 + 59"},
        {"summation", "summation", "summation: no digits to add; write: summation 3 9 1 8"},
        {"summation", "summation 3 0",
         "summation: '0' is not one of the digits 1..9; write: summation 3 9 1 8"},
        {"summation", "summation 12 3",
         "summation: '12' is not one of the digits 1..9; write: summation 3 9 1 8"},
        {"summation", "summation 3 > 3", "summation: unexpected '3'; write: summation 3 9 1 8"},
        {"parity", "parity", "parity: no bits; write: parity 1 0 1 1"},
        {"parity", "parity 2", "parity: '2' is not one of the bits 0 and 1; write: parity 1 0 1 1"},
        {"parity", "parity 1 12", "parity: '12': allowed are the bits 0 and 1"},
        {"parity", "parity 1 2", "parity: unexpected '2'; write: parity 1 0 1 1"},
        {"polynomial", "polynomial",
         "polynomial: the text is incomplete; write: polynomial x=-2: -2x^2 - 1 + 3x^3"},
        {"polynomial", "polynomial x: 3",
         "polynomial: the value of x comes first; write: polynomial x=-2: -2x^2 - 1 + 3x^3"},
        {"polynomial", "polynomial x=4: 3", "polynomial: the value of x may be at most 3"},
        {"polynomial", "polynomial x=1: 31", "polynomial: a coefficient may be at most 3"},
        {"polynomial", "polynomial x=1: x^4", "polynomial: a degree may be at most 3"},
        {"polynomial", "polynomial x=1 3x",
         "polynomial: ':' is missing after the value of x; write: polynomial x=-2: -2x^2 - 1 + 3x^3"},
        {"polynomial", "polynomial x=1: 3 *",
         "polynomial: the text is incomplete; write: polynomial x=-2: -2x^2 - 1 + 3x^3"},
        {"polynomial", "polynomial x=1: 3 y",
         "polynomial: unexpected 'y'; write: polynomial x=-2: -2x^2 - 1 + 3x^3"},
        {"sort variant=multi", "sort 31, x", "sort: 'x' is not a number of 0..9999; write: sort 31, 415, 9"},
        {"sort variant=multi", "sort 31, 10000",
         "sort: '10000' is not a number of 0..9999; write: sort 31, 415, 9"},
        {"sort variant=multi", "sort", "sort: no numbers to sort; write: sort 31, 415, 9"},
        {"reverse", "reverse", "reverse: no symbols to reverse; write: reverse 3 1 4"},
        {"reverse", "reverse 1 Z", "reverse: 'Z' is not one of the 20 symbols 0..9 a..j"},
        {"copy text=appendix alphabet=5", "Copy the following words: <w6> .",
         "copy: '<w6' is not one of the 5 symbols 0..4"},
    };
    (void)state;
    texts_typed(cases, sizeof cases / sizeof *cases, MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_datas_texts),
        cmocka_unit_test(the_appendixs_texts),
        cmocka_unit_test(the_short_texts_and_payloads),
        cmocka_unit_test(what_is_wrong_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
