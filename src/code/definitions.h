#pragma once

#include <string_view>

#include "code/code_file.h"
#include "engine/syntax/tree.h"

namespace footnote::code {

/// Definitions nested in more containers (classes, namespaces, modules) than this are part of the outer one.
inline constexpr int kContainersMax = 16;

/// Units of the definitions of a source in TypeScript, JavaScript, Python, Go, Java, Rust, C or C++: functions, methods, and the header of
/// each type up to its first method. JavaScript and TypeScript: whether a definition is exported is a fact.
void add_definitions(std::string_view path, syntax::Node root, CodeFile& out);

/// A Vue component: the whole file as one unit, with the names that its script and template use. `script` is the tree of its script.
void add_vue_component(std::string_view path, syntax::Node script, CodeFile& out);

/// Swift types and functions at the top level, found by a scanner of comments, strings and braces.
void add_swift_units(std::string_view path, CodeFile& out);

/// Everything of a Vue file but its script replaced by spaces, so that offsets and lines stay. Sets whether the script is TypeScript.
std::string vue_script(std::string_view text);

}  // namespace footnote::code
