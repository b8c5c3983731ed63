# Batches: several small sources are compiled as one unit, so that their common headers are parsed and their common templates instantiated
# only once. tools/make_batches.py decides which sources may share a batch. It runs when CMake configures. If an edit gives two sources of a
# batch the same name, the compiler reports a "redefinition": rename one, or configure again. Batches include their sources by paths
# relative to an include directory, so that a compiler cache works for several checkouts.
option(FOOTNOTE_BATCHES "Compile small sources in batches (off: one unit a file, as editors and clang-tidy need it)" ON)
if(FOOTNOTE_BATCHES AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # g++ treats a batch's sources as headers, and warns about fields whose types are in anonymous namespaces.
  target_compile_options(footnote_options INTERFACE -Wno-subobject-linkage)
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tools/make_batches.py)
# Finds the interpreter itself: a wrapper script in its place can take longer than our script.
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
