# footnote_module(PATH DEPENDS ... TEST_DEPENDS ...): src/PATH/*.cpp becomes the library footnote_PATH (with _ for /);
# src/PATH/*_test.cpp becomes the test program footnote_PATH_test. A module of headers alone is an
# interface library. New files are picked up by the next build. CONCURRENT: its tests run several threads, so they also run under
# the thread sanitizer (`make tsan` builds the target `concurrency` and runs the tests of that label).
add_custom_target(concurrency)

# Half of a release build's time went into test programs. There what they include is read once, for all of them (the product's sources
# name what they use), and they are compiled at -O1: their own speed counts for little beside that of what they test. Under sanitizers
# headers that were read before make g++ 12 warn of its own library.
function(footnote_as_test target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # At this level g++ 12 sees strings of its own library overflow.
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Wno-array-bounds -Wno-restrict -Wno-stringop-overflow>)
  endif()
endfunction()
if(CMAKE_BUILD_TYPE STREQUAL Release)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/test_headers.cpp CONTENT "int main() {}\n")
  add_executable(footnote_test_headers EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/test_headers.cpp)
  footnote_as_test(footnote_test_headers)
  target_link_libraries(footnote_test_headers PRIVATE footnote_options fmt::fmt Boost::json GTest::gmock)
  target_precompile_headers(footnote_test_headers PRIVATE <gmock/gmock.h> <algorithm> <chrono> <expected> <filesystem> <functional> <map>
    <random> <thread> <fmt/format.h> <boost/json.hpp>)
endif()
function(footnote_test_program target)
  footnote_as_test(${target})
  if(TARGET footnote_test_headers)
    target_precompile_headers(${target} REUSE_FROM footnote_test_headers)
  endif()
endfunction()

function(footnote_module path)
  cmake_parse_arguments(ARG "CONCURRENT" "" "DEPENDS;TEST_DEPENDS" ${ARGN})
  string(REPLACE "/" "_" name ${path})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${path}/*.cpp)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  if(sources)
    add_library(footnote_${name} STATIC ${sources})
    target_link_libraries(footnote_${name} PUBLIC footnote_options ${ARG_DEPENDS})
  else()
    add_library(footnote_${name} INTERFACE)
    target_link_libraries(footnote_${name} INTERFACE footnote_options ${ARG_DEPENDS})
  endif()
  if(tests)
    add_executable(footnote_${name}_test ${tests})
    target_link_libraries(footnote_${name}_test PRIVATE footnote_${name} footnote_test_support ${ARG_TEST_DEPENDS}
      GTest::gtest GTest::gmock GTest::gtest_main)
    footnote_test_program(footnote_${name}_test)
    add_test(NAME ${name} COMMAND footnote_${name}_test)
    set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT 300)
    if(ARG_CONCURRENT)
      set_tests_properties(${name} PROPERTIES LABELS "unit;concurrency")
      add_dependencies(concurrency footnote_${name}_test)
    endif()
  endif()
endfunction()
