# check_layers.cmake - checks the includes between folders (ARCHITECTURE.md), and the places where libraries
# and exit may be used.
# usage: cmake -DROOT=FOLDER -P check_layers.cmake
#
# Each folder has a list of the project's headers that its files may include. All others are forbidden, so a
# new folder or a new dependency needs a line in this file. If several folders match a file, the longest path
# applies.
cmake_minimum_required(VERSION 3.25)

set(base "base/[^/]+")
set(language "command/[^/]+") # the language, not the commands
set(fold "sessions/(event|fold)[.]h")
set(paired "sessions/paired[.]h")
set(json "sessions/event_json[.]h")
set(recording "sessions/(player|record)[.]h")
set(plot "plot/[^/]+")
# The doors of the lab: for its owner, for commands, for completion. All its other headers are private.
set(doors "lab/(lab|follow|actions|arm|offer|preview|scope|encodings|saved)[.]h")

set(folders "")
function(layer folder)
  list(APPEND folders ${folder})
  list(JOIN ARGN "|" allowed)
  set(folders ${folders} PARENT_SCOPE)
  set("allowed_${folder}" "^(${allowed})$" PARENT_SCOPE)
endfunction()

layer(src/base              "${base}")
layer(kernels               "${base}" "kernels/.+")
layer(src/model             "${base}" "kernels/(backend|score|expr_[a-z]+)[.]h" "model/.+")
layer(src/tokens            "${base}" "tokens/.+")
layer(src/foreign           "${base}" "kernels/backend[.]h" "model/.+" "foreign/.+")
layer(tasks                 "${base}" "tokens/tokens[.]h" "tasks/.+")
layer(sessions              "${base}" "sessions/.+")
layer(src/probe             "${base}" "model/.+" "probe/.+")
layer(src/reproduce         "${base}" "${fold}" "reproduce/.+")
layer(src/command           "${base}" "${language}")
set(below_lab "${base}" "kernels/backend[.]h" "model/.+" "tokens/tokens[.]h" "foreign/foreign[.]h" "tasks/.+" "sessions/.+" "probe/.+" "${language}" "${doors}")
layer(src/lab               ${below_lab})
layer(src/lab/core          ${below_lab} "lab/core/.+")
layer(src/lab/arms          ${below_lab} "lab/(core|arms)/.+")
layer(src/lab/looks         ${below_lab} "lab/(core|arms|looks)/.+")
layer(src/lab/jobs          ${below_lab} "lab/(core|arms|looks|jobs)/.+")
layer(src/lab/train         ${below_lab} "lab/(core|arms|looks|jobs|train)/.+")
layer(src/lab/export        ${below_lab} "lab/(core|arms|looks|jobs|train|export)/.+")
# A re-run drives the loop, which records each line.
layer(src/lab/loop          ${below_lab} "lab/(core|arms|looks|jobs|train|loop|recording)/.+")
layer(src/lab/recording     ${below_lab} "lab/(core|arms|looks|jobs|train|loop|recording)/.+")
layer(src/lab/settings      ${below_lab} "lab/(core|arms|looks|jobs|train|loop|recording|settings)/.+")
layer(src/command/commands  "${base}" "command/.+" "${doors}" "probe/probe[.]h" "reproduce/repro[.]h")
layer(src/plot              "${base}" "${fold}" "${paired}" "${plot}")
layer(src/ui                "${base}" "${language}" "${fold}" "${paired}" "${json}" "${recording}" "${plot}"
                            "lab/(lab|offer|preview)[.]h" "figure/figure[.]h" "reproduce/repro[.]h" "study/(child|place|reading|report|verbs/verbs)[.]h" "ui/.+")
layer(src/figure            "${base}" "${fold}" "${paired}" "${plot}" "figure/.+")
layer(src/study             "${base}" "${fold}" "${recording}" "${paired}" "sessions/store[.]h" "plot/finding_text[.]h" "figure/figure[.]h" "study/.+")
layer(src/main.c            ".+")
layer(src/options.c         "${base}" "options[.]h")
layer(src/manual.c          "${base}" "(manual|options)[.]h" "command/command[.]h")
layer(src/reference.c       "${base}" "reference[.]h" "command/command[.]h" "model/(pe|expr/library)[.]h")
layer(src/manual_formulas.c "${base}" "manual[.]h" "model/expr/words[.]h")
layer(src/completion.c      "completion[.]h" "options[.]h" "study/verbs/verbs[.]h")
layer(src/version.c         "version[.]h" "kernels/backend[.]h")
layer(src/entry.c           "${base}" "entry[.]h" "command/command[.]h" "sessions/(store|event)[.]h")
layer(src/charset.c         "charset[.]h")
layer(src/remove.c          "${base}" "remove[.]h" "sessions/store[.]h")
layer(src/doctor.c          "${base}" "(doctor|doctor_int|charset|version)[.]h" "kernels/backend[.]h" "sessions/store[.]h" "study/child[.]h"
                            "figure/figure[.]h" "ui/term[.]h")
layer(src/doctor_folders.c  "${base}" "doctor_int[.]h" "sessions/store[.]h" "ui/config[.]h")
layer(src/charset.h)
layer(src/remove.h)
layer(src/doctor.h          "charset[.]h" "command/command[.]h")
layer(src/doctor_int.h      "${base}" "command/command[.]h")
layer(src/options.h         "${base}")
layer(src/manual.h          "command/command[.]h")
layer(src/reference.h       "command/command[.]h")
layer(src/completion.h      "")
layer(src/version.h         "")
layer(src/entry.h           "command/command[.]h" "sessions/event[.]h")

# Libraries that only one place may use: a pattern of the header and one of the file.
set(libraries sqlite curses readline rsvg png pcre2 utf8proc cuda)
set(sqlite_header "^sqlite3(ext)?[.]h$")
set(sqlite_place "^(sessions/|src/study/gather[.]c$)")
set(curses_header "^(ncursesw?/|cursesw?/)?(n?curses[a-z_]*|term|unctrl|panel|menu|form|eti)[.]h$")
set(curses_place "^src/ui/term[.]c$")
set(readline_header "^(readline|editline)/")
set(readline_place "^src/ui/line[.]c$")
set(rsvg_header "^(librsvg/|cairo)")
set(rsvg_place "^src/figure/render[.]c$")
set(png_header "^png[.]h$")
set(png_place "^src/figure/png[.]c$")
set(pcre2_header "^pcre2")
set(pcre2_place "^src/tokens/")
set(utf8proc_header "^utf8proc[.]h$")
set(utf8proc_place "^src/tokens/")
set(cuda_header "^(cuda|cublas|cusparse|cusolver|curand|cudnn|cufft|nccl|nvrtc|nvml|nvToolsExt|nvtx|cooperative_groups|device_|vector_types|driver_types|mma[.]h|cub/|thrust/|cutlass/|cute/)")
set(cuda_place "^kernels/cuda/")

# Tests and benchmarks of the lab's inside. All others use the doors.
set(insiders
  bench/batch.h                # struct pw_samples
  tests/lab/ref_state.h        # state.h, and the loop turn by turn
  tests/lab/test_failing.c     # counting the errors of one sample
  tests/lab/test_follow_found.c # flips a weight, and saves a state that differs
  tests/lab/test_heads.c       # a backend that runs out of memory
  tests/lab/test_positions.c   # keys of samples
  tests/lab/test_jobs.c        # live evaluation, and whether the lab sleeps
  tests/lab/test_queue.c       # queue.h
  tests/lab/test_replicates.c  # an event with every place
  tests/unit/test_codec_compare.c) # verify.h

# Files whose child processes end by _exit if they can't become pewter.
set(children "^src/study/(child|run)[.]c$")

set(failures 0)
function(complain file number line why)
  message("${file}:${number}: ${why}: ${line}")
  math(EXPR n "${failures} + 1")
  set(failures ${n} PARENT_SCOPE)
endfunction()

# A macro, so that complain can change the caller's count.
macro(check_include file number line folder)
  if(NOT "${line}" MATCHES "^[ \t]*#[ \t]*[a-z_]+[ \t]*([<\"])([^>\"]+)[>\"]")
    complain(${file} ${number} "${line}" "an include that can't be checked")
  else()
    set(header "${CMAKE_MATCH_2}")
    if(CMAKE_MATCH_1 STREQUAL "<" AND NOT header MATCHES "^(base|kernels|model|foreign|tokens|tasks|sessions|probe|reproduce|command|lab|plot|ui|figure|study)/")
      foreach(library IN LISTS libraries)
        if(header MATCHES "${${library}_header}" AND NOT "${file}" MATCHES "${${library}_place}")
          complain(${file} ${number} "${line}" "${library} may not be used here")
        endif()
      endforeach()
    elseif(NOT header MATCHES "${allowed_${folder}}" OR header MATCHES "(^|/)[.][.]?/")
      complain(${file} ${number} "${line}" "${folder} may not include this")
    endif()
  endif()
endmacro()

# Sets `code` to the line without comments. in_comment carries over from line to line.
macro(strip_comments line)
  set(code "${line}")
  if(in_comment)
    string(FIND "${code}" "*/" close)
    if(close LESS 0)
      set(code "")
    else()
      math(EXPR close "${close} + 2")
      string(SUBSTRING "${code}" ${close} -1 code)
      set(in_comment FALSE)
    endif()
  endif()
  string(REGEX REPLACE "/[*]([^*]|[*]+[^*/])*[*]+/" " " code "${code}")
  string(REGEX REPLACE "//.*$" "" code "${code}")
  string(FIND "${code}" "/*" open)
  if(open GREATER_EQUAL 0)
    string(SUBSTRING "${code}" 0 ${open} code)
    set(in_comment TRUE)
  endif()
endmacro()

file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/src/*.[ch] ${ROOT}/src/*.inc ${ROOT}/kernels/*.[ch] ${ROOT}/kernels/*.cu
  ${ROOT}/kernels/*.cuh ${ROOT}/kernels/*.inc ${ROOT}/tasks/*.[ch] ${ROOT}/sessions/*.[ch])
list(LENGTH files n_files)
if(n_files EQUAL 0)
  message(FATAL_ERROR "no sources below '${ROOT}': give -DROOT=")
endif()

foreach(file IN LISTS files)
  set(folder ${file})
  while(folder AND NOT folder IN_LIST folders)
    get_filename_component(folder "${folder}" DIRECTORY)
  endwhile()
  if(NOT folder)
    complain(${file} 0 "" "no rule for this folder in check_layers.cmake")
    continue()
  endif()
  # Removes characters that are special in CMake lists. The checks don't need them.
  file(READ ${ROOT}/${file} text)
  string(REPLACE "\\\"" "" text "${text}")
  string(REGEX REPLACE "[][;\\]" "?" text "${text}")
  string(REPLACE "\n" ";" lines "${text}")
  set(number 0)
  set(in_comment FALSE)
  foreach(line IN LISTS lines)
    math(EXPR number "${number} + 1")
    if(NOT in_comment AND NOT line MATCHES "#[ \t]*(include|import)|exit|abort|/[*]")
      continue()
    endif()
    if(line MATCHES "^[^\"]*\"[^\"]*\"" AND NOT line MATCHES "^[ \t]*#" AND NOT in_comment)
      string(REGEX REPLACE "\"[^\"]*\"" "\"\"" line "${line}") # strings are not code
    endif()
    strip_comments("${line}")
    if(code MATCHES "^[ \t]*#[ \t]*(include|include_next|import)([^a-z_]|$)")
      check_include(${file} ${number} "${code}" ${folder})
    elseif(code MATCHES "[^A-Za-z0-9_.>]_exit[ \t]*[(]" AND file MATCHES "${children}")
      # a child process that could not become another program
    elseif(code MATCHES "(^|[^A-Za-z0-9_.>])(exit|quick_exit|_exit|_Exit|abort)[ \t]*[(]" AND NOT file STREQUAL "src/main.c"
        AND NOT file STREQUAL "src/base/alloc.c")
      complain(${file} ${number} "${code}" "only src/main.c ends the program, and src/base/alloc.c for want of memory")
    endif()
  endforeach()
endforeach()

# Headers of the lab that are not doors, included from outside of it.
file(GLOB_RECURSE users RELATIVE ${ROOT} ${ROOT}/src/*.[ch] ${ROOT}/tests/*.[ch] ${ROOT}/bench/*.[ch])
foreach(file IN LISTS users)
  if(file MATCHES "^src/lab/" OR file IN_LIST insiders)
    continue()
  endif()
  file(STRINGS ${ROOT}/${file} includes REGEX "^[ \t]*#[ \t]*include[ \t]*\"lab/")
  foreach(line IN LISTS includes)
    if(NOT line MATCHES "\"${doors}\"")
      complain(${file} 0 "${line}" "a private header of the lab; lab/actions.h has what commands call")
    endif()
  endforeach()
endforeach()

if(failures GREATER 0)
  message(FATAL_ERROR "${failures} broken rules of the layers")
endif()
message("${n_files} files keep to the layers")
