# can_fail.cmake - tests the checks of cmake/: each must report every planted fault by name, and report
# nothing in a correct tree.
# usage: cmake -DROOT=FOLDER -DWORK=FOLDER -DCHECK=layers|tables -P can_fail.cmake   (WORK is emptied)
cmake_minimum_required(VERSION 3.25)

set(wrong 0)

# Writes the files (pairs of path and text) to an empty tree and runs the check there.
function(run_check result output)
  file(REMOVE_RECURSE ${WORK})
  while(ARGN)
    list(POP_FRONT ARGN path text)
    string(REPLACE "%" ";" text "${text}")
    file(WRITE ${WORK}/${path} "${text}\n")
  endwhile()
  execute_process(COMMAND ${CMAKE_COMMAND} -DROOT=${WORK} -P ${ROOT}/cmake/check_${CHECK}.cmake
    RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  set(${result} ${code} PARENT_SCOPE)
  set(${output} "${out}" PARENT_SCOPE)
endfunction()

# The check must pass.
function(passes)
  run_check(code out ${ARGN})
  if(NOT code EQUAL 0)
    message("should pass: ${ARGN}\n${out}")
    math(EXPR n "${wrong} + 1")
    set(wrong ${n} PARENT_SCOPE)
  endif()
endfunction()

# The check must fail with this text.
function(fails text)
  run_check(code out ${ARGN})
  string(FIND "${out}" "${text}" found)
  if(code EQUAL 0 OR found LESS 0)
    message("should fail with '${text}': ${ARGN}\n${out}")
    math(EXPR n "${wrong} + 1")
    set(wrong ${n} PARENT_SCOPE)
  endif()
endfunction()

if(CHECK STREQUAL "layers")
  # includes that are allowed
  foreach(pair
      "src/base/a.c|base/err.h" "kernels/cpu/a.c|base/pool.h" "kernels/cpu/a.c|kernels/cpu/ops.h"
      "src/model/pe/a.c|kernels/backend.h" "src/model/a.c|model/pe.h" "tasks/a.c|tasks/task.h" "sessions/a.c|base/text.h"
      "src/probe/a.c|model/model.h" "src/command/a.c|command/lex.h" "src/lab/a.c|command/command.h"
      "src/lab/a.c|tasks/task.h" "src/command/commands/a.c|lab/actions.h" "src/ui/panes/a.c|sessions/fold.h"
      "src/ui/a.c|lab/lab.h" "src/plot/a.c|sessions/fold.h" "src/figure/a.c|plot/ramp.h" "src/ui/a.c|figure/figure.h"
      "src/ui/a.c|sessions/player.h" "src/figure/a.c|sessions/paired.h" "src/reproduce/a.c|sessions/event.h"
      "src/main.c|kernels/cpu/cpu.h")
    string(REPLACE "|" ";" pair "${pair}")
    list(GET pair 0 file)
    list(GET pair 1 header)
    passes(${file} "// x\n#include \"${header}\"")
  endforeach()
  passes(sessions/store.c "#include <sqlite3.h>" src/ui/term.c "#include <curses.h>\n#include <term.h>"
    src/ui/line.c "#include <readline/readline.h>" kernels/cuda/a.cu "#include <cuda_runtime.h>" src/main.c "exit(0)%"
    src/base/alloc.c "_exit(1)%" src/figure/render.c "#include <librsvg/rsvg.h>" src/figure/png.c "#include <png.h>")
  passes(src/ui/a.c "/* exit(1)\n#include \"model/model.h\" */ int x%\n// #include \"tasks/task.h\"\n#include \"ui/term.h\"")
  passes(src/base/a.c "puts(\"exit(1)\")% atexit(f)% on_exit(1)% p->exit(3)%\n#include <string.h>\n#include <termios.h>")

  # includes that are forbidden
  foreach(pair
      "src/base/a.c|command/command.h" "kernels/cpu/a.c|model/model.h" "kernels/a.h|tasks/task.h"
      "src/model/a.c|kernels/cpu/ops.h" "src/model/pe/a.c|tasks/task.h" "src/model/a.h|lab/lab.h"
      "tasks/a.c|model/model.h" "tasks/a.c|kernels/backend.h" "sessions/a.c|lab/lab.h" "sessions/a.c|command/command.h"
      "src/probe/a.c|tasks/task.h" "src/probe/a.c|kernels/backend.h" "src/command/a.c|lab/lab.h"
      "src/command/a.c|command/commands/commands.h" "src/lab/a.c|command/commands/commands.h" "src/lab/a.c|ui/ui.h"
      "src/lab/a.c|lab/core/lab_int.h" "src/lab/core/a.c|lab/looks/looks.h" "src/lab/jobs/a.c|lab/train/train.h"
      "src/lab/train/a.c|lab/loop/loop.h" "src/lab/a.c|kernels/cpu/cpu.h" "src/command/commands/a.c|lab/core/lab_int.h" "src/command/commands/a.c|ui/ui.h" "src/command/commands/a.c|model/model.h"
      "src/ui/a.c|lab/core/lab_int.h" "src/ui/panes/a.c|model/pe.h" "src/ui/a.c|sessions/store.h" "src/ui/a.c|tasks/task.h"
      "src/figure/a.c|ui/ui.h" "src/figure/a.c|sessions/player.h" "src/plot/a.c|sessions/record.h" "src/plot/a.c|ui/ui.h"
      "src/reproduce/a.c|sessions/paired.h" "src/reproduce/a.c|sessions/player.h" "src/ui/a.c|figure/svg.h"
      "src/base/a.c|err.h" "src/base/a.c|../model/model.h" "src/ui/a.c|curses.h")
    string(REPLACE "|" ";" pair "${pair}")
    list(GET pair 0 file)
    list(GET pair 1 header)
    fails("${file}:2: " ${file} "// x\n#include \"${header}\"")
  endforeach()
  fails("src/base/a.c:1: " src/base/a.c "#include <command/command.h>")
  fails("src/base/a.c:3: " src/base/a.c "/* one\ntwo */\n  #  include \"lab/lab.h\"")
  fails("src/base/a.c:1: " src/base/a.c "/* x */ #include \"lab/lab.h\"")
  fails("can't be checked" src/base/a.c "#include HEADER")
  fails("tests/lab/a.c:0: a private header" tests/lab/a.c "#include \"lab/core/lab_int.h\"" src/base/a.c "int x%")
  fails("no rule for this folder" src/other/a.c "int x%")
  foreach(pair "src/lab/a.c|sqlite3.h" "src/ui/a.c|sqlite3.h" "src/ui/ui.c|curses.h" "src/ui/panes/a.c|ncursesw/curses.h"
      "src/main.c|term.h" "src/ui/term.c|readline/history.h" "src/main.c|readline/readline.h"
      "src/ui/a.c|png.h" "src/figure/svg.c|cairo.h" "src/model/a.c|cuda_runtime.h" "kernels/cpu/a.c|cublasLt.h" "kernels/a.c|cuda.h")
    string(REPLACE "|" ";" pair "${pair}")
    list(GET pair 0 file)
    list(GET pair 1 header)
    fails("may not be used here: #include <${header}>" ${file} "#include <${header}>")
  endforeach()
  fails("src/lab/a.c:2: only src/main.c ends the program" src/lab/a.c "int x%\nif (x) exit(1)%")
  fails("src/ui/a.c:1: only" src/ui/a.c "puts(\"a\")% exit (1)%")
  fails("src/lab/a.c:1: only" src/lab/a.c "if (!p) abort()%")
  fails("no sources" README.md "x")
elseif(CHECK STREQUAL "tables")
  set(table "const struct pw_pe *const pw_pes[] = {\n  &pw_pe_none, &pw_pe_t5,\n  NULL,\n}%")
  set(none "const struct pw_pe pw_pe_none = {0}%")
  set(t5 "const struct pw_pe pw_pe_t5 = {0}%")
  passes(src/model/pe.c "${table}" src/model/pe/none.c "${none}" src/model/pe/t5.c "${t5}")
  fails("src/model/pe/rotary.c: pw_pe_rotary is not in src/model/pe.c" src/model/pe.c "${table}" src/model/pe/none.c
    "${none}" src/model/pe/t5.c "${t5}" src/model/pe/rotary.c "const struct pw_pe pw_pe_rotary = {0}%")
  fails("src/model/pe.c: pw_pe_t5 is defined by no file of src/model/pe/" src/model/pe.c "${table}" src/model/pe/none.c
    "${none}")
  fails("src/model/pe/t5.c: defines no" src/model/pe.c "${table}" src/model/pe/none.c "${none}" src/model/pe/t5.c
    "static const struct pw_pe pw_pe_t5 = {0}%")
  fails("src/model/pe/other.c: pw_pe_t5 belongs" src/model/pe.c "${table}" src/model/pe/none.c "${none}"
    src/model/pe/other.c "${t5}")
  fails("pw_pe_none is not in" src/model/pe.c "const struct pw_pe *const pw_pes[] = {\n // &pw_pe_none,\n &pw_pe_t5, NULL}%"
    src/model/pe/none.c "${none}" src/model/pe/t5.c "${t5}")
  fails("pw_pe_none stands there twice" src/model/pe.c
    "const struct pw_pe *const pw_pes[] = {&pw_pe_none, &pw_pe_t5, &pw_pe_none, NULL}%" src/model/pe/none.c "${none}"
    src/model/pe/t5.c "${t5}")
  fails("there is no table for it" src/model/pe/none.c "${none}")
  fails("no array" src/model/pe.c "int x%" src/model/pe/none.c "${none}")
  # a folder that contains other files, too
  set(tasks tasks/tasks.c "const struct pw_task *const pw_tasks[] = {&pw_task_sort, NULL}%" tasks/vocab.c "int x%"
    tasks/sort.c "const struct pw_task pw_task_sort = {0}%")
  passes(${tasks})
  fails("tasks/copy.c: pw_task_copy is not in tasks/tasks.c" ${tasks} tasks/copy.c
    "const struct pw_task pw_task_copy = {0}%")
  # a file with several members
  set(studies src/reproduce/repros.c "const struct pw_repro *const pw_repros[] = {&pw_repro_decay, NULL}%"
    src/reproduce/blog_studies.c)
  set(rows "const struct pw_repro pw_repro_decay = {0}%\n")
  passes(${studies} "${rows}")
  fails("src/reproduce/blog_studies.c: pw_repro_shift is not in src/reproduce/repros.c" ${studies}
    "${rows}const struct pw_repro pw_repro_shift = {0}%")
  # a table in the same folder, and a table with indices
  passes(src/command/commands/commands.c
    "extern const struct pw_command pw_cmd_pe%\nconst struct pw_command *const pw_lab_commands[] = {&pw_cmd_pe, NULL}%"
    src/command/commands/pe.c "const struct pw_command pw_cmd_pe = {0}%")
  fails("src/ui/panes/log.c: pw_pane_log is not in src/ui/panes.c" src/ui/panes.c
    "const struct pw_pane *const pw_panes[PW_PANES] = {\n [PW_PANE_IO] = &pw_pane_io,\n}%" src/ui/panes/io.c
    "const struct pw_pane pw_pane_io = {0}%" src/ui/panes/log.c "const struct pw_pane pw_pane_log = {0}%")
  fails("no families" README.md "x")
else()
  message(FATAL_ERROR "CHECK is 'layers' or 'tables', not '${CHECK}'")
endif()

file(REMOVE_RECURSE ${WORK})
if(wrong GREATER 0)
  message(FATAL_ERROR "check_${CHECK}.cmake is wrong in ${wrong} cases")
endif()
