#include "code/definitions.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"

namespace footnote::code {
namespace {

using syntax::Node;
using syntax::Walk;

struct Rule {
  std::string_view node;
  std::string_view kind;
  bool is_container = false;  ///< Its methods are units of their own.
};

constexpr Rule kRules[] = {
    // TypeScript and JavaScript.
    {"function_declaration", "function"},
    {"generator_function_declaration", "function"},
    {"class_declaration", "class", true},
    {"abstract_class_declaration", "class", true},
    {"method_definition", "method"},
    {"interface_declaration", "interface", true},
    {"type_alias_declaration", "type"},
    {"enum_declaration", "enum", true},
    // Python.
    {"function_definition", "function"},
    {"class_definition", "class", true},
    // Go and Java.
    {"method_declaration", "method"},
    {"constructor_declaration", "method"},
    {"record_declaration", "class", true},
    {"annotation_type_declaration", "interface"},
    {"type_spec", "type"},
    {"type_alias", "type"},
    // Rust.
    {"function_item", "function"},
    {"struct_item", "struct"},
    {"enum_item", "enum"},
    {"union_item", "struct"},
    {"trait_item", "trait", true},
    {"impl_item", "impl", true},
    {"type_item", "type"},
    {"macro_definition", "macro"},
    // C and C++.
    {"class_specifier", "class", true},
    {"struct_specifier", "struct", true},
    {"union_specifier", "struct", true},
    {"enum_specifier", "enum"},
    {"concept_definition", "concept"},
};

/// Nodes around definitions that add nothing to their names.
constexpr std::string_view kWrappers[] = {"export_statement", "decorated_definition",   "template_declaration", "preproc_if",
                                          "preproc_ifdef",    "preproc_else",           "preproc_elif",         "linkage_specification",
                                          "type_declaration", "expression_statement",   "ambient_declaration",  "declaration_list",
                                          "statement_block",  "field_declaration_list", "class_body",           "interface_body",
                                          "enum_body",        "enum_body_declarations", "declaration",          "block"};
/// Nodes around definitions whose name becomes a part of theirs.
constexpr std::string_view kNameSpaces[] = {"namespace_definition", "internal_module", "module", "mod_item"};

template <std::size_t N>
bool is_one_of(Node node, const std::string_view (&kinds)[N]) {
  return std::ranges::find(kinds, node.kind()) != std::end(kinds);
}

const Rule* rule_of(Node node) {
  const auto found = std::ranges::find(kRules, node.kind(), &Rule::node);
  return found == std::end(kRules) ? nullptr : &*found;
}

/// The name below a C++ declarator: "X::n" of "int *X<int>::n(int)". Template arguments are left out.
std::string declarator_name(Node node, std::string_view source) {
  for (int i = 0; i < kContainersMax && node; ++i) {
    const Node inner = node.field("declarator");
    if (!inner) break;
    node = inner;
  }
  if (node.is("reference_declarator") || node.is("pointer_declarator")) {
    const auto parts = node.children();
    if (!parts.empty()) return declarator_name(parts.back(), source);
  }
  std::string out;
  int angle = 0;
  const std::string_view text = node.text(source);
  const bool is_operator = text.find("operator") != std::string_view::npos;
  for (const char c : text) {
    if (c == '<' && !is_operator) ++angle;
    if (angle == 0 && !is_ascii_space(c)) out += c;
    if (c == '>' && !is_operator) --angle;
  }
  return out;
}

class DefinitionReader {
 public:
  DefinitionReader(std::string_view path, CodeFile& out) : path_(path), out_(out), source_(out.text) {}

  void scan(Node parent, const std::string& prefix, bool in_type, int depth) {
    Node comment;
    for (const Node child : parent.children()) {
      if (out_.units.size() >= kUnitsMax) return;
      if (child.kind().find("comment") != std::string_view::npos) {
        // Lines of one comment are one comment each.
        if (!comment || comment_end_ + 1 < child.first_line()) comment = child;
        comment_end_ = child.last_line();
        continue;
      }
      const bool documented = comment && comment_end_ + 1 >= child.first_line();
      visit(child, documented ? comment : child, prefix, in_type, depth, false);
      comment = {};
    }
  }

 private:
  /// `start` is where the unit begins: its comment, its decorator or itself.
  void visit(Node node, Node start, const std::string& prefix, bool in_type, int depth, bool exported) {
    if (depth > kContainersMax) return;
    if (const Rule* rule = rule_of(node)) return add(node, *rule, start, prefix, in_type, depth, exported);
    if (is_one_of(node, kNameSpaces)) {
      const std::string name(node.field("name").text(source_));
      const Node body = node.field("body");
      return scan(body ? body : node, name.empty() ? prefix : prefix + name + std::string(separator()), in_type, depth + 1);
    }
    if (node.is("lexical_declaration") || node.is("variable_declaration")) return add_variables(node, start, prefix, exported);
    if (node.is("assignment_expression")) return add_assignment(node, start);
    if (!is_one_of(node, kWrappers)) return;
    const bool exports = exported || node.is("export_statement");
    Node comment;
    bool first = true;
    bool found = false;
    for (const Node child : node.children()) {
      if (child.kind().find("comment") != std::string_view::npos) continue;
      const Node from = first || node.is("decorated_definition") || node.is("template_declaration") || exports ? start : child;
      const std::size_t before = out_.units.size();
      visit(child, from, prefix, in_type, depth + 1, exports);
      found = found || out_.units.size() > before;
      first = false;
    }
    if (node.is("export_statement") && !found) add_default_export(node, start);
  }

  std::string_view separator() const {
    return out_.language == Language::kRust || out_.language == Language::kCpp || out_.language == Language::kC ? "::" : ".";
  }

  std::string name_of(Node node, const Rule& rule) const {
    if (const Node name = node.field("name")) return std::string(name.text(source_)).substr(0, kSymbolBytesMax);
    if (rule.node == "impl_item") return std::string(node.field("type").text(source_)).substr(0, kSymbolBytesMax);
    if (rule.node == "function_definition") return declarator_name(node.field("declarator"), source_).substr(0, kSymbolBytesMax);
    return {};
  }

  /// Go: "T." for a method of *T.
  std::string receiver_of(Node node) const {
    Walk walk(node.field("receiver"));
    while (const Node inner = walk.next()) {
      if (inner.is("type_identifier")) return std::string(inner.text(source_)) + ".";
    }
    return {};
  }

  void add(Node node, const Rule& rule, Node start, const std::string& prefix, bool in_type, int depth, bool exported) {
    std::string name = name_of(node, rule);
    if (name.empty() && exported) name = "default";
    const bool has_body = static_cast<bool>(node.field("body"));
    // "struct A;" and "struct A a;" declare, they do not define.
    if (name.empty() || (rule.node.ends_with("_specifier") && !has_body)) return;
    Unit unit{.kind = std::string(in_type && rule.kind == "function" ? "method" : rule.kind), .symbol = prefix + receiver_of(node) + name};
    if (rule.kind == "function" && has_jsx(node) && is_ascii_upper(name.front())) unit.kind = "component";
    unit.range = {start.begin(), node.end()};
    unit.first_line = start.first_line();
    unit.last_line = node.last_line();
    if (exported) unit.facts["exported"] = {"true"};
    const std::size_t at = out_.units.size();
    const std::string own_prefix = unit.symbol + std::string(separator());
    finish(std::move(unit), node);
    if (!rule.is_container) return;
    const Node body = node.field("body");
    scan(body, own_prefix, true, depth + 1);
    cut_header(at, own_prefix);
  }

  /// A type's own unit ends before its first method.
  void cut_header(std::size_t at, const std::string& prefix) {
    Unit& unit = out_.units[at];
    for (std::size_t i = at + 1; i < out_.units.size(); ++i) {
      const Unit& inner = out_.units[i];
      if (!inner.symbol.starts_with(prefix) || inner.range.begin <= unit.range.begin) continue;
      const std::string_view text = trim(source_.substr(unit.range.begin, inner.range.begin - unit.range.begin));
      unit.range.end = unit.range.begin + text.size();
      unit.last_line = unit.first_line + static_cast<int>(std::ranges::count(text, '\n'));
      std::erase_if(unit.references, [&](const Reference& reference) { return text.find(reference.target) == std::string_view::npos; });
      return;
    }
  }

  void add_variables(Node node, Node start, const std::string& prefix, bool exported) {
    for (const Node declarator : node.children()) {
      const Node name = declarator.field("name");
      const Node value = declarator.field("value");
      if (!name.is("identifier")) continue;
      const bool is_function = value.is("arrow_function") || value.is("function_expression") || value.is("function");
      const bool is_class = value.is("class");
      if (!exported && !is_function && !is_class) continue;
      Unit unit{.kind = is_function ? "function" : is_class ? "class" : "variable", .symbol = prefix + std::string(name.text(source_))};
      if (is_function && has_jsx(value) && is_ascii_upper(name.text(source_).front())) unit.kind = "component";
      unit.range = {start.begin(), node.end()};
      unit.first_line = start.first_line();
      unit.last_line = node.last_line();
      if (exported) unit.facts["exported"] = {"true"};
      finish(std::move(unit), declarator);
      return;
    }
  }

  /// module.exports = ..., exports.name = ..., Type.prototype.name = function.
  void add_assignment(Node node, Node start) {
    const std::string left(node.field("left").text(source_));
    const Node right = node.field("right");
    std::string name;
    if (left == "module.exports") {
      name = right.field("name") ? std::string(right.field("name").text(source_)) : "default";
    } else if (left.starts_with("module.exports.") || left.starts_with("exports.")) {
      name = left.substr(left.rfind('.') + 1);
    } else if (right.is("function_expression") || right.is("arrow_function")) {
      name = left;
    }
    if (name.empty() || name.size() > kSymbolBytesMax || name.find_first_of(" \n\t[(") != std::string::npos) return;
    if (left == "module.exports" && (right.is("identifier") || right.is("call_expression"))) return;
    Unit unit{.kind = right.is("object") ? "object" : "function", .symbol = name};
    unit.range = {start.begin(), node.end()};
    unit.first_line = start.first_line();
    unit.last_line = node.last_line();
    if (left.find("exports") != std::string::npos) unit.facts["exported"] = {"true"};
    finish(std::move(unit), node);
  }

  /// export default <expression>
  void add_default_export(Node node, Node start) {
    const Node value = node.field("value");
    if (!value || value.is("identifier")) return;
    Unit unit{.kind = "default", .symbol = "default"};
    if (value.text(source_).starts_with("defineComponent")) unit.kind = "component";
    unit.range = {start.begin(), node.end()};
    unit.first_line = start.first_line();
    unit.last_line = node.last_line();
    unit.facts["exported"] = {"true"};
    finish(std::move(unit), node);
  }

  static bool has_jsx(Node node) {
    Walk walk(node);
    while (const Node inner = walk.next()) {
      if (inner.kind().starts_with("jsx_")) return true;
    }
    return false;
  }

  void finish(Unit unit, Node node) {
    const int count = ++seen_[unit.symbol];
    if (count > 1) unit.symbol += " #" + std::to_string(count);
    const Node body = node.field("body");
    std::string signature =
        fold_spaces(source_.substr(node.begin(), (body ? body.begin() : std::min(node.end(), node.begin() + 200)) - node.begin()));
    unit.header = std::string(path_) + ": " + unit.kind + " " + unit.symbol;
    unit.facts["signature"] = {signature.substr(0, kSymbolBytesMax)};
    add_names(node, unit);
    out_.units.push_back(std::move(unit));
  }

 public:
  void add_names(Node node, Unit& unit) const {
    std::set<std::string> names;
    const std::string own(last_name(unit.symbol));
    const auto add = [&](Node name) {
      const std::string_view text = last_name(name.text(source_));
      if (text.size() < 2 || text.size() > 100 || text == own || text.find_first_of(" \n\t(") != std::string_view::npos) return;
      if (names.size() < kReferencesMax) names.emplace(text);
    };
    Walk walk(node);
    while (const Node inner = walk.next()) {
      if (inner.is("call_expression") || inner.is("call")) {
        const Node function = inner.field("function");
        add(function.field("property")    ? function.field("property")
            : function.field("attribute") ? function.field("attribute")
            : function.field("field")     ? function.field("field")
                                          : function);
      } else if (inner.is("method_invocation")) {
        add(inner.field("name"));
      } else if (inner.is("new_expression")) {
        add(inner.field("constructor"));
      } else if (inner.is("type_identifier")) {
        add(inner);
      } else if (inner.is("jsx_opening_element") || inner.is("jsx_self_closing_element")) {
        add(inner.field("name"));
      }
    }
    for (const std::string& name : names) unit.references.push_back({RefKind::kName, name});
  }

 private:
  const std::string_view path_;
  CodeFile& out_;
  const std::string_view source_;
  std::map<std::string, int> seen_;
  int comment_end_ = 0;
};

std::string_view component_name(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.substr(0, name.rfind('.'));
}

}  // namespace

void add_definitions(std::string_view path, Node root, CodeFile& out) { DefinitionReader(path, out).scan(root, "", false, 0); }

std::string vue_script(std::string_view text) {
  std::string out(text.size(), ' ');
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') out[i] = '\n';
  }
  for (std::size_t at = text.find("<script"); at != std::string_view::npos; at = text.find("<script", at + 1)) {
    const std::size_t open = text.find('>', at);
    const std::size_t close = text.find("</script", at);
    if (open == std::string_view::npos || close == std::string_view::npos || open >= close) break;
    std::copy(text.begin() + static_cast<std::ptrdiff_t>(open) + 1, text.begin() + static_cast<std::ptrdiff_t>(close),
              out.begin() + static_cast<std::ptrdiff_t>(open) + 1);
    at = close;
  }
  return out;
}

void add_vue_component(std::string_view path, Node script, CodeFile& out) {
  Unit unit{.kind = "component", .symbol = std::string(component_name(path))};
  unit.header = std::string(path) + ": component " + unit.symbol;
  const std::string_view text = trim(out.text);
  unit.range.begin = static_cast<std::size_t>(text.data() - out.text.data());
  unit.range.end = unit.range.begin + text.size();
  unit.first_line =
      1 + static_cast<int>(std::count(out.text.begin(), out.text.begin() + static_cast<std::ptrdiff_t>(unit.range.begin), '\n'));
  unit.last_line = unit.first_line + static_cast<int>(std::ranges::count(text, '\n'));
  unit.facts["exported"] = {"true"};
  DefinitionReader(path, out).add_names(script, unit);
  // Tags of the template that are components: <InvoiceRow ...>.
  std::set<std::string> tags;
  for (std::size_t at = out.text.find('<'); at != std::string::npos && tags.size() < kReferencesMax; at = out.text.find('<', at + 1)) {
    std::size_t end = at + 1;
    while (end < out.text.size() && is_ascii_alphanumeric(out.text[end])) ++end;
    if (end > at + 2 && is_ascii_upper(out.text[at + 1])) tags.insert(out.text.substr(at + 1, end - at - 1));
  }
  for (const std::string& tag : tags) {
    const Reference reference{RefKind::kName, tag};
    if (std::ranges::find(unit.references, reference) == unit.references.end()) unit.references.push_back(reference);
  }
  out.units.push_back(std::move(unit));
}

}  // namespace footnote::code
