# C++23 everywhere, warnings are errors (the sanitizer presets print none), sanitizers by preset.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

set(FOOTNOTE_SANITIZE "" CACHE STRING "address,undefined | thread | fuzzer,address,undefined")

find_program(FOOTNOTE_CCACHE ccache)
if(FOOTNOTE_CCACHE)
  # Without this it does not cache units that use precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${FOOTNOTE_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${FOOTNOTE_CCACHE})
endif()

find_program(FOOTNOTE_MOLD mold)
if(FOOTNOTE_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

add_library(footnote_options INTERFACE)
target_include_directories(footnote_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
if(FOOTNOTE_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # g++ 12 warns about its own library when it instruments precompiled headers. The release build compiles the same sources with all
  # warnings as errors, so nothing is lost.
  target_compile_options(footnote_options INTERFACE -w)
else()
  target_compile_options(footnote_options INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wswitch-enum -Werror
    # Designated initialisers leave fields at their defaults on purpose; options structs rely on that.
    -Wno-missing-field-initializers
    # Deprecation warnings are off because clang reports a function inside stable_sort of g++ 12's library at each use.
    $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety -Wno-unknown-warning-option -Wno-deprecated-declarations>)
endif()
# Frame pointers make crash reports and profiles readable; they cost about 1 % of speed.
target_compile_options(footnote_options INTERFACE -fno-omit-frame-pointer)

if(FOOTNOTE_SANITIZE)
  target_compile_options(footnote_options INTERFACE -fsanitize=${FOOTNOTE_SANITIZE} -fno-sanitize-recover=all -g1)
  target_link_options(footnote_options INTERFACE -fsanitize=${FOOTNOTE_SANITIZE})
endif()
