#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"
#include "chunk/parse.h"
#include "code/code_file.h"
#include "code/data_units.h"
#include "code/definitions.h"
#include "code/laravel_routes.h"
#include "code/laravel_schema.h"
#include "code/php_units.h"
#include "code/prose_units.h"
#include "code/split_units.h"
#include "engine/syntax/tree.h"

namespace footnote::code {
namespace {

using syntax::Grammar;
using syntax::Node;

/// A text with lines this long on average was written by a tool for another tool.
constexpr std::size_t kMinifiedLineBytes = 400;
constexpr std::size_t kMinifiedBytesMin = 8u << 10;
/// Larger JSON files are data, unless they describe an API.
constexpr std::size_t kConfigBytesMax = 128u << 10;
constexpr std::size_t kHeaderBytesMax = 2'000;
constexpr std::size_t kFactsMax = 512;

Result<void> check_text(std::string_view bytes) {
  if (bytes.size() > syntax::kSourceBytesMax) {
    return fail(ErrorCode::kTooLarge, "larger than {}, generated or data", human_bytes(syntax::kSourceBytesMax));
  }
  if (bytes.substr(0, 8'192).find('\0') != std::string_view::npos) return fail(ErrorCode::kUnsupported, "a binary file");
  const auto lines = static_cast<std::size_t>(std::ranges::count(bytes, '\n')) + 1;
  if (bytes.size() >= kMinifiedBytesMin && bytes.size() / lines > kMinifiedLineBytes) {
    return fail(ErrorCode::kUnsupported, "minified: {} bytes in {} lines", bytes.size(), lines);
  }
  return {};
}

std::string_view file_stem(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.substr(0, name.find('.'));
}

/// config/app.php returns an array: one unit per top-level key.
void add_php_config(std::string_view path, Node root, CodeFile& out) {
  Node returned;
  for (const Node statement : root.children()) {
    if (statement.is("return_statement")) returned = statement.child("array_creation_expression");
  }
  for (const PhpEntry& entry : php_entries(returned)) {
    const auto key = php_string(entry.key, out.text);
    if (!key || out.units.size() >= kUnitsMax) continue;
    Unit unit{.type = SourceType::kConfig, .symbol = std::string(file_stem(path)) + "." + *key};
    unit.header = "config " + unit.symbol;
    unit.range = {entry.node.begin(), entry.node.end()};
    unit.first_line = entry.node.first_line();
    unit.last_line = entry.node.last_line();
    out.units.push_back(std::move(unit));
  }
}

void add_php(std::string_view path, SourceType type, Node root, CodeFile& out) {
  if (path.ends_with(".blade.php")) return add_whole_file(path, SourceType::kSymbol, "view", out);
  const PhpFile file = read_php(root, out.text);
  if (is_route_file(path)) add_route_units(path, root, file, out);
  if (type == SourceType::kConfig) add_php_config(path, root, out);
  for (const PhpClass& read : file.classes) {
    if (php_class_type(path, read) == SourceType::kMigration) add_migration_units(path, file, read, out);
  }
  add_php_units(path, file, out);
}

Grammar grammar_of(Language language) {
  switch (language) {
    case Language::kPhp: return Grammar::kPhp;
    case Language::kTypeScript:
    case Language::kVue: return Grammar::kTypeScript;
    case Language::kJavaScript: return Grammar::kTsx;
    case Language::kPython: return Grammar::kPython;
    case Language::kGo: return Grammar::kGo;
    case Language::kJava: return Grammar::kJava;
    case Language::kRust: return Grammar::kRust;
    case Language::kC:
    case Language::kCpp: return Grammar::kCpp;
    case Language::kNone:
    case Language::kSwift:
    case Language::kJson:
    case Language::kYaml:
    case Language::kMarkdown:
    case Language::kRuby: break;
  }
  return Grammar::kJson;
}

Result<void> add_parsed(std::string_view path, Detected detected, CodeFile& out, const CallContext& call) {
  const bool is_vue = detected.language == Language::kVue;
  const std::string script = is_vue ? vue_script(out.text) : std::string();
  FOOTNOTE_TRY(const syntax::Tree tree, syntax::parse(grammar_of(detected.language), is_vue ? std::string_view(script) : out.text, call));
  const Node root = tree.root();
  if (root.has_error()) out.warnings.emplace_back("not all of its syntax could be read");
  if (detected.language == Language::kPhp) {
    add_php(path, detected.type, root, out);
  } else if (is_vue) {
    add_vue_component(path, root, out);
  } else {
    add_definitions(path, root, out);
  }
  split_long_units(root, out);
  return {};
}

Result<void> add_data(std::string_view path, Detected detected, CodeFile& out, const CallContext& call) {
  const bool json = detected.language == Language::kJson;
  const bool is_api = out.text.substr(0, 4'096).find("openapi") != std::string::npos;
  if (!is_api && out.text.size() > kConfigBytesMax) return fail(ErrorCode::kUnsupported, "a data file");
  FOOTNOTE_TRY(const DataNode root, read_data(json ? DataFormat::kJson : DataFormat::kYaml, out.text, call));
  add_data_units(path, detected.type, root, out);
  split_long_units({}, out);
  return {};
}

/// At most that many bytes, and no half code point at the end, wherever the text was cut before.
void limit_text(std::string& text, std::size_t bytes_max) {
  if (text.size() > bytes_max) text.resize(bytes_max);
  text.resize(first_invalid_utf8(text));
}

/// Past a limit, units, references and facts are left out.
void limit_units(CodeFile& out) {
  if (out.units.size() >= kUnitsMax) {
    out.units.resize(kUnitsMax);
    out.warnings.push_back("more than " + std::to_string(kUnitsMax) + " definitions: the rest is left out");
  }
  for (Unit& unit : out.units) {
    limit_text(unit.symbol, kSymbolBytesMax);
    limit_text(unit.header, kHeaderBytesMax);
    if (unit.references.size() > kReferencesMax) unit.references.resize(kReferencesMax);
    for (Reference& reference : unit.references) limit_text(reference.target, kSymbolBytesMax);
    for (auto& [name, values] : unit.facts) {
      if (values.size() > kFactsMax) values.resize(kFactsMax);
      for (std::string& value : values) limit_text(value, kSymbolBytesMax);
    }
  }
}

}  // namespace

Result<CodeFile> read_code(std::string_view path, std::string_view bytes, const CallContext& call) {
  const Detected detected = detect(path);
  if (detected.language == Language::kNone) return fail(ErrorCode::kUnsupported, "not a file that project memory reads");
  FOOTNOTE_CHECK(check_text(bytes));
  CodeFile out{.language = detected.language, .text = chunk::normalise_text(bytes)};
  if (detected.language == Language::kJson || detected.language == Language::kYaml) {
    FOOTNOTE_CHECK(add_data(path, detected, out, call));
  } else if (detected.language == Language::kMarkdown) {
    FOOTNOTE_CHECK(add_prose_units(path, detected.type, out, call));
    split_long_units({}, out);
  } else if (detected.type == SourceType::kPackage) {
    add_whole_file(path, SourceType::kPackage, "", out);
    split_long_units({}, out);
  } else if (detected.language == Language::kSwift) {
    add_swift_units(path, out);
    split_long_units({}, out);
  } else {
    FOOTNOTE_CHECK(add_parsed(path, detected, out, call));
  }
  limit_units(out);
  return out;
}

}  // namespace footnote::code
