#include "code/php_file.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace footnote::code {
namespace {

using syntax::Node;
using syntax::Walk;

constexpr std::size_t kChainCallsMax = 200;

std::string without_lead(std::string_view name) {
  if (name.starts_with('\\')) name.remove_prefix(1);
  return std::string(name);
}

void add_import(PhpNames& names, Node clause, std::string_view prefix, std::string_view source) {
  const auto children = clause.children();
  if (children.empty()) return;
  std::string full = without_lead(children.front().text(source));
  if (!prefix.empty()) full = std::string(prefix) + "\\" + full;
  const Node alias = clause.field("alias");
  const std::string name(alias ? alias.text(source) : last_name(full));
  names.imports[name] = full;
}

void read_imports(PhpNames& names, Node declaration, std::string_view source) {
  std::string prefix;
  for (const Node child : declaration.children()) {
    if (child.is("namespace_name")) prefix = child.text(source);
    if (child.is("namespace_use_clause")) add_import(names, child, "", source);
    if (!child.is("namespace_use_group")) continue;
    for (const Node clause : child.children()) add_import(names, clause, prefix, source);
  }
}

/// From the start of the doc comment right above the node to the node's end.
struct Extent {
  TextRange range;
  int first_line = 1;
  int last_line = 1;
};

Extent extent_of(Node node, Node comment) {
  const bool documented = comment && comment.last_line() + 1 >= node.first_line();
  return {
      {documented ? comment.begin() : node.begin(), node.end()}, documented ? comment.first_line() : node.first_line(), node.last_line()};
}

std::vector<std::string> type_names(Node type, std::string_view source, const PhpNames& names) {
  std::vector<std::string> out;
  Walk walk(type);
  while (const Node node = walk.next()) {
    if (!node.is("named_type")) continue;
    out.push_back(names.full_name(node.text(source)));
    walk.skip();
  }
  return out;
}

std::string signature_of(Node node, Node body, std::string_view source) {
  const std::size_t end = body ? body.begin() : node.end();
  return fold_spaces(source.substr(node.begin(), end - node.begin()));
}

PhpMethod read_method(Node node, Node comment, std::string_view source, const PhpNames& names) {
  PhpMethod out{.name = std::string(node.field("name").text(source)), .node = node};
  const Extent extent = extent_of(node, comment);
  out.range = extent.range;
  out.first_line = extent.first_line;
  out.last_line = extent.last_line;
  if (const Node visibility = node.child("visibility_modifier")) out.visibility = visibility.text(source);
  for (const Node parameter : node.field("parameters").children()) {
    const Node name = parameter.field("name");
    if (!name) continue;
    out.parameters.push_back({std::string(name.text(source)), type_names(parameter.field("type"), source, names)});
  }
  out.signature = signature_of(node, node.field("body"), source);
  return out;
}

void read_members(PhpClass& out, std::string_view source, const PhpNames& names) {
  Node comment;
  for (const Node member : out.node.field("body").children()) {
    if (member.is("comment")) {
      comment = member;
      continue;
    }
    if (member.is("method_declaration")) out.methods.push_back(read_method(member, comment, source, names));
    if (member.is("use_declaration")) {
      for (const Node name : member.children()) {
        if (name.is("name") || name.is("qualified_name")) out.traits.push_back(names.full_name(name.text(source)));
      }
    }
    if (member.is("property_declaration")) {
      for (const Node element : member.children()) {
        if (!element.is("property_element")) continue;
        out.properties[std::string(element.field("name").text(source))] = element.field("default_value");
      }
    }
    comment = {};
  }
}

PhpClass read_class(Node node, Node comment, std::string_view kind, std::string_view source, const PhpNames& names) {
  PhpClass out{.kind = std::string(kind), .node = node};
  if (const Node name = node.field("name")) {
    out.name = names.space.empty() ? std::string(name.text(source)) : names.space + "\\" + std::string(name.text(source));
  }
  const Extent extent = extent_of(node, comment);
  out.range = extent.range;
  out.first_line = extent.first_line;
  out.last_line = extent.last_line;
  for (const Node base : node.child("base_clause").children()) {
    if (out.base.empty()) out.base = names.full_name(base.text(source));
  }
  for (const Node interface : node.child("class_interface_clause").children()) {
    out.interfaces.push_back(names.full_name(interface.text(source)));
  }
  out.signature = signature_of(node, node.field("body"), source);
  read_members(out, source, names);
  return out;
}

std::string_view class_kind(Node node) {
  if (node.is("class_declaration")) return "class";
  if (node.is("anonymous_class")) return "class";
  if (node.is("interface_declaration")) return "interface";
  if (node.is("trait_declaration")) return "trait";
  if (node.is("enum_declaration")) return "enum";
  return {};
}

void read_statements(PhpFile& out, Node parent, std::string_view source) {
  Node comment;
  for (const Node node : parent.children()) {
    if (node.is("comment")) {
      comment = node;
      continue;
    }
    if (node.is("namespace_definition")) {
      out.names.space = node.field("name").text(source);
      if (const Node body = node.field("body")) read_statements(out, body, source);
    } else if (node.is("namespace_use_declaration")) {
      read_imports(out.names, node, source);
    } else if (node.is("function_definition")) {
      PhpMethod function = read_method(node, comment, source, out.names);
      if (!out.names.space.empty()) function.name = out.names.space + "\\" + function.name;
      out.functions.push_back(std::move(function));
    } else if (const std::string_view kind = class_kind(node); !kind.empty()) {
      out.classes.push_back(read_class(node, comment, kind, source, out.names));
    } else if (node.is("return_statement")) {
      Walk walk(node);
      while (const Node inner = walk.next()) {
        if (!inner.is("anonymous_class")) continue;
        out.classes.push_back(read_class(inner, comment, "class", source, out.names));
        break;
      }
    }
    comment = {};
  }
}

bool is_class_keyword(std::string_view name) { return name == "self" || name == "static" || name == "parent"; }

bool is_call(Node node) {
  return node.is("member_call_expression") || node.is("nullsafe_member_call_expression") || node.is("scoped_call_expression");
}

}  // namespace

std::string PhpNames::full_name(std::string_view written) const {
  if (written.starts_with('?')) written.remove_prefix(1);
  if (written.starts_with('\\')) return std::string(written.substr(1));
  if (written.starts_with("namespace\\")) return space + std::string(written.substr(9));
  const std::size_t at = written.find('\\');
  if (const auto found = imports.find(std::string(written.substr(0, at))); found != imports.end()) {
    return at == std::string_view::npos ? found->second : found->second + std::string(written.substr(at));
  }
  return space.empty() ? std::string(written) : space + "\\" + std::string(written);
}

PhpFile read_php(Node root, std::string_view source) {
  PhpFile out;
  read_statements(out, root, source);
  return out;
}

std::optional<std::string> php_string(Node node, std::string_view source) {
  if (!node.is("string") && !node.is("encapsed_string")) return std::nullopt;
  std::string out;
  for (const Node part : node.children()) {
    if (part.is("string_content")) {
      out += part.text(source);
    } else if (part.is("escape_sequence")) {
      out += part.text(source).substr(1);
    } else {
      return std::nullopt;
    }
  }
  return out;
}

std::optional<std::string> php_class_constant(Node node, std::string_view source, const PhpNames& names) {
  if (!node.is("class_constant_access_expression")) return std::nullopt;
  const auto parts = node.children();
  if (parts.size() != 2 || parts[1].text(source) != "class") return std::nullopt;
  return names.full_name(parts[0].text(source));
}

std::vector<Node> php_arguments(Node call) {
  std::vector<Node> out;
  Node arguments = call.field("arguments");
  if (!arguments) arguments = call.child("arguments");
  for (const Node argument : arguments.children()) {
    if (!argument.is("argument")) continue;
    const auto parts = argument.children();
    if (!parts.empty()) out.push_back(parts.back());
  }
  return out;
}

std::vector<PhpEntry> php_entries(Node array) {
  std::vector<PhpEntry> out;
  if (!array.is("array_creation_expression")) return out;
  for (const Node element : array.children()) {
    if (!element.is("array_element_initializer")) continue;
    const auto parts = element.children();
    if (parts.size() == 1) out.push_back({{}, parts[0], element});
    if (parts.size() >= 2) out.push_back({parts.front(), parts.back(), element});
  }
  return out;
}

std::vector<std::string> php_strings(Node node, std::string_view source) {
  std::vector<std::string> out;
  if (const auto single = php_string(node, source)) out.push_back(*single);
  for (const PhpEntry& entry : php_entries(node)) {
    if (const auto text = php_string(entry.value, source)) out.push_back(*text);
  }
  return out;
}

std::optional<PhpChain> php_chain(Node call, std::string_view source) {
  PhpChain out;
  while (is_call(call)) {
    if (out.calls.size() >= kChainCallsMax) return std::nullopt;
    out.calls.push_back({std::string(call.field("name").text(source)), call});
    if (call.is("scoped_call_expression")) {
      out.scope = last_name(call.field("scope").text(source));
      break;
    }
    call = call.field("object");
    if (!is_call(call)) out.scope = call.text(source).substr(0, kSymbolBytesMax);
  }
  if (out.calls.empty()) return std::nullopt;
  std::ranges::reverse(out.calls);
  return out;
}

std::vector<Reference> php_class_references(Node body, std::string_view source, const PhpNames& names) {
  std::set<std::string> found;
  const auto add = [&](Node name) {
    if (!name.is("name") && !name.is("qualified_name") && !name.is("named_type")) return;
    const std::string_view written = name.text(source);
    if (!is_class_keyword(written) && found.size() < kReferencesMax) found.insert(names.full_name(written));
  };
  Walk walk(body);
  while (const Node node = walk.next()) {
    if (node.is("object_creation_expression") || node.is("class_constant_access_expression")) {
      const auto parts = node.children();
      if (!parts.empty()) add(parts.front());
    } else if (node.is("scoped_call_expression") || node.is("scoped_property_access_expression")) {
      add(node.field("scope"));
    } else if (node.is("named_type")) {
      add(node);
    } else if (node.is("binary_expression") && node.field("operator").text(source) == "instanceof") {
      add(node.field("right"));
    }
  }
  std::vector<Reference> out;
  for (const std::string& name : found) out.push_back({RefKind::kClass, name});
  return out;
}

}  // namespace footnote::code
