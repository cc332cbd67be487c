# commit.cmake - writes a C file with the commit of the sources. In an archive made by `git archive`, git has put it
# into the line below; "" if neither is there. The file changes only if the commit does.
# usage: cmake -DROOT=... -DOUT=file.c -P commit.cmake
cmake_policy(VERSION 3.25)
set(archived "$Format:%h$")
set(commit "")
if(NOT archived MATCHES "Format")
  set(commit "${archived}")
else()
  find_program(GIT git)
  if(GIT AND EXISTS ${ROOT}/.git)
    execute_process(COMMAND ${GIT} -C ${ROOT} describe --always --dirty=+ --abbrev=8 --exclude=*
      OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#include \"version.h\"\n\nconst char pw_commit[] = \"@commit@\";\n" @ONLY)
