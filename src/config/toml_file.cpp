#include "config/toml_file.h"

#include <algorithm>
#include <tuple>

#include <toml++/toml.h>

#include "base/text.h"

namespace footnote {
namespace {

std::string kind_name(toml::node_type type) {
  switch (type) {
    case toml::node_type::string: return "a string";
    case toml::node_type::integer: return "an integer";
    case toml::node_type::floating_point: return "a float";
    case toml::node_type::boolean: return "a boolean";
    case toml::node_type::array: return "an array";
    case toml::node_type::table: return "a table";
    case toml::node_type::date:
    case toml::node_type::time:
    case toml::node_type::date_time: return "a date or time";
    case toml::node_type::none: break;
  }
  return "nothing";
}

TomlLeaf leaf_of(std::string key, const toml::node& node) {
  TomlLeaf leaf;
  leaf.key = std::move(key);
  leaf.kind_name = kind_name(node.type());
  leaf.line = static_cast<int>(node.source().begin.line);
  if (const auto* text = node.as_string()) {
    leaf.kind = TomlKind::kString;
    leaf.text = text->get();
  } else if (const auto* number = node.as_integer()) {
    leaf.kind = TomlKind::kInteger;
    leaf.text = fmt::format("{}", number->get());
  } else if (const auto* flag = node.as_boolean()) {
    leaf.kind = TomlKind::kBool;
    leaf.text = flag->get() ? "true" : "false";
  } else if (const auto* real = node.as_floating_point()) {
    leaf.kind = TomlKind::kFloat;
    leaf.text = fmt::format("{}", real->get());
  }
  return leaf;
}

void collect(const toml::table& table, const std::string& prefix, std::vector<TomlLeaf>& leaves) {
  for (const auto& [name, node] : table) {
    std::string key = prefix.empty() ? std::string(name.str()) : fmt::format("{}.{}", prefix, name.str());
    if (const auto* child = node.as_table()) {
      collect(*child, key, leaves);
    } else {
      leaves.push_back(leaf_of(std::move(key), node));
    }
  }
}

Result<void> check_lines(std::string_view text, std::string_view name) {
  int number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (line.size() <= kTomlLineBytesMax) continue;
    return fail(ErrorCode::kInvalidArgument, "{}:{}: the line is longer than {} bytes", name, number, kTomlLineBytesMax);
  }
  return {};
}

}  // namespace

Result<std::vector<TomlLeaf>> parse_toml(std::string_view text, std::string_view name) {
  FOOTNOTE_CHECK(check_lines(text, name));
  std::vector<TomlLeaf> leaves;
  try {
    const toml::table table = toml::parse(text);
    collect(table, {}, leaves);
  } catch (const toml::parse_error& error) {
    return fail(ErrorCode::kInvalidArgument, "{}:{}: not valid TOML: {}", name, error.source().begin.line, error.description());
  }
  std::sort(leaves.begin(), leaves.end(), [](const auto& a, const auto& b) { return std::tie(a.line, a.key) < std::tie(b.line, b.key); });
  return leaves;
}

}  // namespace footnote
