/* area_main.h - included before each test file that shares a program with its area: renames the file's main,
 * so that tests/area.c can call it. */
#ifndef PEWTER_TESTS_AREA_MAIN_H
#define PEWTER_TESTS_AREA_MAIN_H

int PW_TEST_MAIN(void);
#define main PW_TEST_MAIN

#endif
