// Sources of every language, picked by the first byte: units stay within the text, in order of nothing but their own, and never crash.
#include <array>

#include "base/utf8.h"
#include "code/graph.h"
#include "code/joins.h"
#include "target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace footnote;
  constexpr std::array<std::string_view, 20> kPaths = {"app/Models/A.php",
                                                       "routes/web.php",
                                                       "database/migrations/1_a.php",
                                                       "config/a.php",
                                                       "a.ts",
                                                       "a.tsx",
                                                       "a.vue",
                                                       "a.py",
                                                       "a.go",
                                                       "A.java",
                                                       "a.rs",
                                                       "a.cpp",
                                                       "a.swift",
                                                       "a.json",
                                                       "openapi.yaml",
                                                       "a.yml",
                                                       "package.json",
                                                       "docs/a.md",
                                                       "docs/KNOWN_BUGS.md",
                                                       "tests/ATest.php"};
  if (size > fuzz::kInputBytesMax || size < 1) return 0;
  fuzz::Input input(data, size);
  const std::string path(kPaths[input.byte() % kPaths.size()]);
  const auto file = code::read_code(path, input.rest());
  if (!file) {
    FOOTNOTE_ASSERT(!file.error().message.empty());
    return 0;
  }
  FOOTNOTE_ASSERT(is_valid_utf8(file->text));
  FOOTNOTE_ASSERT(file->units.size() <= code::kUnitsMax);
  for (const code::Unit& unit : file->units) {
    FOOTNOTE_ASSERT(unit.range.begin <= unit.range.end && unit.range.end <= file->text.size());
    FOOTNOTE_ASSERT(unit.first_line >= 1 && unit.first_line <= unit.last_line);
    FOOTNOTE_ASSERT(is_valid_utf8(code::chunk_text(unit, file->text)));
    FOOTNOTE_ASSERT(is_valid_utf8(unit.symbol) && unit.symbol.size() <= code::kSymbolBytesMax);
    FOOTNOTE_ASSERT(unit.references.size() <= code::kReferencesMax);
  }
  code::Graph graph;
  graph.set_file(path, code::nodes_of(path, *file));
  std::vector<std::string> paths;
  const code::Migration migration{path, file->schema};
  const auto tables = code::table_units({&migration, 1}, paths);
  graph.set_file(std::string(code::kTablesPath), code::nodes_of("", {.units = tables}));
  for (const code::GraphEdge& edge : graph.all_edges()) FOOTNOTE_ASSERT(edge.from != nullptr && edge.to != nullptr);
  code::join_question(graph, input.rest().substr(0, 200));
  graph.remove_file(path);
  return 0;
}
