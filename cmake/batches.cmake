# Batches: several small sources are compiled as one unit, which reads their common headers and instantiates their common
# templates once. tools/make_batches.py says which sources may share one. It runs when CMake configures: if an edit gives two
# sources of a batch the same name, the compiler says "redefinition"; rename one, or configure again.
# Batches include their sources by paths relative to an include directory, so a compiler cache serves several checkouts.
option(FOOTNOTE_BATCHES "Compile small sources in batches (off: one unit a file, as editors and clang-tidy need it)" ON)
if(FOOTNOTE_BATCHES AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # g++ takes a batch's sources for headers, where fields of types from anonymous namespaces would be a mistake.
  target_compile_options(footnote_options INTERFACE -Wno-subobject-linkage)
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tools/make_batches.py)
# The interpreter itself: a wrapper in its place can cost more than the script.
execute_process(COMMAND ${Python3_EXECUTABLE} -c "import sys; print(sys.executable)" OUTPUT_VARIABLE batch_python OUTPUT_STRIP_TRAILING_WHITESPACE)

# footnote_batches(OUT TARGET ROOT SOURCES ... ALONE ...): OUT becomes the units of TARGET. Paths are relative to ROOT, which must be
# one of TARGET's include directories.
function(footnote_batches out target root)
  cmake_parse_arguments(ARG "" "" "SOURCES;ALONE" ${ARGN})
  set(alone ${ARG_SOURCES})
  set(together "")
  if(FOOTNOTE_BATCHES)
    foreach(source ${ARG_SOURCES})
      if(NOT source IN_LIST ARG_ALONE)
        list(APPEND together ${source})
      endif()
    endforeach()
  endif()
  list(LENGTH together count)
  set(units "")
  if(count GREATER 1)
    list(REMOVE_ITEM alone ${together})
    execute_process(COMMAND ${batch_python} ${CMAKE_SOURCE_DIR}/tools/make_batches.py ${root} ${CMAKE_BINARY_DIR}/batches/${target} ${together}
      OUTPUT_VARIABLE units OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    string(REPLACE "\n" ";" units "${units}")
  endif()
  list(TRANSFORM alone PREPEND ${root}/)
  set(${out} ${units} ${alone} PARENT_SCOPE)
endfunction()
