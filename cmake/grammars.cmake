# The runtime of tree-sitter and the grammars that src/engine/syntax knows, compiled from the sources in their npm packages. A parser.c is
# tables and one large switch, so -O1 costs nothing that can be measured and halves the time to compile it.
set(grammar_root ${CMAKE_SOURCE_DIR}/node_modules)
set(runtime_root ${grammar_root}/tree-sitter-runtime/vendor/tree-sitter/lib)
if(NOT EXISTS ${runtime_root}/src/lib.c)
  message(FATAL_ERROR "the runtime of tree-sitter is missing; `make setup` brings it.")
endif()

# Like footnote_options, but without its warnings: this code is not ours.
function(footnote_grammar_options target)
  target_compile_options(${target} PRIVATE -w -fno-omit-frame-pointer -fvisibility=hidden)
  if(FOOTNOTE_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${FOOTNOTE_SANITIZE} -fno-sanitize-recover=all -g1)
  endif()
endfunction()

add_library(footnote_tree_sitter STATIC ${runtime_root}/src/lib.c)
target_include_directories(footnote_tree_sitter SYSTEM PUBLIC ${runtime_root}/include PRIVATE ${runtime_root}/src)
target_compile_definitions(footnote_tree_sitter PRIVATE _POSIX_C_SOURCE=200112L _DEFAULT_SOURCE)
footnote_grammar_options(footnote_tree_sitter)

add_library(footnote_grammars STATIC)
footnote_grammar_options(footnote_grammars)
target_compile_options(footnote_grammars PRIVATE $<$<CONFIG:Release>:-O1>)
foreach(folder tree-sitter-php/php tree-sitter-typescript/typescript tree-sitter-typescript/tsx tree-sitter-python tree-sitter-go tree-sitter-java
        tree-sitter-rust tree-sitter-cpp tree-sitter-json @tree-sitter-grammars/tree-sitter-yaml)
  set(sources ${grammar_root}/${folder}/src/parser.c)
  if(EXISTS ${grammar_root}/${folder}/src/scanner.c)
    list(APPEND sources ${grammar_root}/${folder}/src/scanner.c)
  endif()
  target_sources(footnote_grammars PRIVATE ${sources})
  # Each grammar has its own tree_sitter/parser.h.
  set_source_files_properties(${sources} PROPERTIES INCLUDE_DIRECTORIES ${grammar_root}/${folder}/src)
endforeach()
