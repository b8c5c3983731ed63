# Everything comes from Debian 12 packages; tools/setup.sh installs them.
find_package(Threads REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(OpenSSL 3 REQUIRED)
find_package(SQLite3 3.40 REQUIRED)
find_package(ICU 72 REQUIRED COMPONENTS uc i18n)
find_package(LibXml2 REQUIRED)
find_package(LibArchive 3.6 REQUIRED)
find_package(CURL 7.88 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Boost 1.81 EXACT REQUIRED COMPONENTS json)
find_package(tomlplusplus REQUIRED)
find_package(GTest REQUIRED)

# The HTTP library is header-only and large; its warnings are not ours.
add_library(footnote_cli11 INTERFACE)
find_path(CLI11_INCLUDE CLI/CLI.hpp REQUIRED)
target_include_directories(footnote_cli11 SYSTEM INTERFACE ${CLI11_INCLUDE})

add_library(footnote_stemmer INTERFACE)
find_library(STEMMER_LIBRARY stemmer REQUIRED)
target_link_libraries(footnote_stemmer INTERFACE ${STEMMER_LIBRARY})

add_library(footnote_hiredis INTERFACE)
find_library(HIREDIS_LIBRARY hiredis REQUIRED)
target_link_libraries(footnote_hiredis INTERFACE ${HIREDIS_LIBRARY})

add_library(footnote_cmark INTERFACE)
find_library(CMARK_GFM_LIBRARY cmark-gfm REQUIRED)
find_library(CMARK_GFM_EXTENSIONS_LIBRARY cmark-gfm-extensions REQUIRED)
target_link_libraries(footnote_cmark INTERFACE ${CMARK_GFM_EXTENSIONS_LIBRARY} ${CMARK_GFM_LIBRARY})

find_package(Python3 REQUIRED COMPONENTS Interpreter)
