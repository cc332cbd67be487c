# embed.cmake - writes a C file with the ready studies: cmake -DOUT=F.c -DFILES=A.study;B.study -P embed.cmake
#
# A text is an array of bytes, because C compilers need not accept string literals above 4,095 characters.
set(texts "")
set(table "")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(APPEND texts "static const char text_${name}[] = {${bytes}0};\n")
  string(APPEND table "    {\"${name}\", text_${name}},\n")
endforeach()
file(WRITE ${OUT} "#include <stddef.h>\n\n#include \"study/ready.h\"\n\n${texts}\n"
  "const struct pw_study_ready pw_study_readies[] = {\n${table}    {NULL, NULL},\n};\n")
