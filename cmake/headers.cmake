# Precompiled headers: the headers of the standard library and of third parties that nearly every unit includes are compiled once for the
# product and once for the tests. Our own headers are not included, because they change too often. Sources must still include what they use:
# the presets without precompiled headers (dev, clang) check this.
option(FOOTNOTE_READ_ONCE "Precompile common headers" ON)

# Tests are compiled at -O1 in a release build: what counts is the speed of the code that they test.
function(footnote_as_test target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # At this level g++ 12 reports false overflows in its own string class.
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Wno-array-bounds -Wno-restrict -Wno-stringop-overflow>)
  endif()
endfunction()

set(common_headers <algorithm> <array> <atomic> <charconv> <chrono> <cmath> <condition_variable> <cstdint> <cstring> <deque> <expected>
  <filesystem> <fstream> <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <random> <set> <span> <stop_token> <string> <string_view>
  <thread> <unordered_map> <utility> <variant> <vector> <fmt/format.h> <boost/json/array.hpp> <boost/json/object.hpp> <boost/json/value.hpp>)
if(FOOTNOTE_READ_ONCE)
  # Libraries are compiled with -fPIC and programs with -fPIE, so each needs its own precompiled headers.
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/headers.cpp CONTENT "int main() {}\n")
  add_library(footnote_product_headers OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/headers.cpp)
  target_link_libraries(footnote_product_headers PRIVATE footnote_options fmt::fmt Boost::json)
  target_precompile_headers(footnote_product_headers PRIVATE ${common_headers})

  add_executable(footnote_test_headers EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/headers.cpp)
  target_link_libraries(footnote_test_headers PRIVATE footnote_options fmt::fmt Boost::json GTest::gmock)
  footnote_as_test(footnote_test_headers)
  target_precompile_headers(footnote_test_headers PRIVATE ${common_headers} <gmock/gmock.h>)
endif()

# footnote_read_once(TARGET product|test): TARGET's units use the precompiled headers of that kind. Product: libraries; test: programs.
function(footnote_read_once target kind)
  if(TARGET footnote_${kind}_headers)
    target_precompile_headers(${target} REUSE_FROM footnote_${kind}_headers)
  endif()
endfunction()

function(footnote_test_program target)
  footnote_as_test(${target})
  footnote_read_once(${target} test)
endfunction()
