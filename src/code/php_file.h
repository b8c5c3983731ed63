#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "code/unit.h"
#include "engine/syntax/tree.h"

namespace footnote::code {

/// The names that a PHP file knows: its namespace and its imports.
struct PhpNames {
  std::string space;                           ///< "App\Models"; empty: none.
  std::map<std::string, std::string> imports;  ///< Alias to full name.

  /// The full name of a class as it is written here, without a leading backslash.
  std::string full_name(std::string_view written) const;
};

struct PhpParameter {
  std::string name;
  std::vector<std::string> types;  ///< Full names of classes.
};

struct PhpMethod {
  std::string name;
  std::string visibility = "public";
  syntax::Node node;  ///< The declaration.
  TextRange range;    ///< With its doc comment and attributes.
  int first_line = 1;
  int last_line = 1;
  std::vector<PhpParameter> parameters;
  std::string signature;  ///< "public function store(StoreInvoice $request): RedirectResponse"
};

struct PhpClass {
  std::string kind;  ///< "class", "interface", "trait", "enum".
  std::string name;  ///< The full name; empty for an anonymous class.
  std::string base;  ///< The full name of what it extends; empty: nothing.
  std::vector<std::string> interfaces;
  std::vector<std::string> traits;
  syntax::Node node;
  TextRange range;  ///< With its doc comment.
  int first_line = 1;
  int last_line = 1;
  std::string signature;  ///< "final class Invoice extends Model"
  std::vector<PhpMethod> methods;
  std::map<std::string, syntax::Node> properties;  ///< Name to default value, null without one.
};

struct PhpFile {
  PhpNames names;
  std::vector<PhpClass> classes;
  std::vector<PhpMethod> functions;
};

/// Classes and functions of a file. Borrows the tree and the source.
PhpFile read_php(syntax::Node root, std::string_view source);

/// The value of a string literal without variables; nullopt for anything else.
std::optional<std::string> php_string(syntax::Node node, std::string_view source);
/// The full class name in `Name::class`; nullopt for anything else.
std::optional<std::string> php_class_constant(syntax::Node node, std::string_view source, const PhpNames& names);
/// The expressions of a call's arguments.
std::vector<syntax::Node> php_arguments(syntax::Node call);
/// Strings in a literal, or in the elements of an array of literals: 'a' and ['a', 'b'].
std::vector<std::string> php_strings(syntax::Node node, std::string_view source);

/// An entry of an array literal; a null key for a plain element.
struct PhpEntry {
  syntax::Node key;
  syntax::Node value;
  syntax::Node node;
};
std::vector<PhpEntry> php_entries(syntax::Node array);

/// A chain of calls, first call first: Route::get(...)->name(...). `scope` is the class before "::", or the variable "$table".
struct PhpCall {
  std::string name;
  syntax::Node node;
};
struct PhpChain {
  std::string scope;
  std::vector<PhpCall> calls;
};
/// nullopt if the node is no call, or the chain is longer than any that people write.
std::optional<PhpChain> php_chain(syntax::Node call, std::string_view source);

/// References to classes in a body: new, static calls, ::class, instanceof, types. Each once.
std::vector<Reference> php_class_references(syntax::Node body, std::string_view source, const PhpNames& names);

}  // namespace footnote::code
