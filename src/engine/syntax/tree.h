#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "base/result.h"

struct TSTree;

namespace footnote::syntax {

/// kTsx also reads JavaScript and JSX, kCpp also reads C.
enum class Grammar { kPhp, kTypeScript, kTsx, kPython, kGo, kJava, kRust, kCpp, kJson, kYaml };
inline constexpr Grammar kAllGrammars[] = {Grammar::kPhp,  Grammar::kTypeScript, Grammar::kTsx, Grammar::kPython, Grammar::kGo,
                                           Grammar::kJava, Grammar::kRust,       Grammar::kCpp, Grammar::kJson,   Grammar::kYaml};

/// A tree takes about 20 times the memory of its text.
inline constexpr std::size_t kSourceBytesMax = 2u << 20;
inline constexpr std::chrono::milliseconds kParseTimeMax{5'000};
/// Nodes deeper than this below the start of a walk are not visited, and the children of one node past the second limit are not listed.
inline constexpr int kWalkDepthMax = 2'000;
inline constexpr std::size_t kChildrenMax = 100'000;

struct ParseLimits {
  std::size_t bytes_max = kSourceBytesMax;
  std::chrono::milliseconds time_max = kParseTimeMax;
};

/// One node of a Tree, which must outlive it. A null node is false; every call on it answers with an empty value.
class Node {
 public:
  Node() = default;

  explicit operator bool() const;
  /// The grammar's name for it: "method_declaration". Valid as long as the program.
  std::string_view kind() const;
  bool is(std::string_view name) const { return kind() == name; }
  bool is_named() const;
  /// Half-open range of bytes in the source.
  std::size_t begin() const;
  std::size_t end() const;
  /// Lines count from 1. The last line holds the node's last byte.
  int first_line() const;
  int last_line() const;
  /// The text of the node within the source that was parsed.
  std::string_view text(std::string_view source) const { return source.substr(begin(), end() - begin()); }
  /// The child with that field name; null if there is none.
  Node field(std::string_view name) const;
  /// Named children, comments included; at most kChildrenMax.
  std::vector<Node> children() const;
  /// All children, tokens included; at most kChildrenMax.
  std::vector<Node> tokens() const;
  /// The first named child of that kind; null if there is none.
  Node child(std::string_view kind) const;
  /// True when the source below this node could not be parsed completely.
  bool has_error() const;

  bool operator==(const Node& other) const;

 private:
  friend class Tree;
  friend struct NodeAccess;
  alignas(8) std::array<std::byte, 32> raw_{};
};

/// A parsed source. Parsing tolerates errors: what is wrong becomes nodes of kind "ERROR" between correct ones.
class Tree {
 public:
  Tree(Tree&&) noexcept;
  Tree& operator=(Tree&&) noexcept;
  ~Tree();

  Node root() const;

 private:
  friend Result<Tree> parse(Grammar, std::string_view, const CallContext&, const ParseLimits&);
  explicit Tree(TSTree* tree);
  struct Free {
    void operator()(TSTree* tree) const;
  };
  std::unique_ptr<TSTree, Free> tree_;
};

/// Parses a source; the tree does not refer to it afterwards. Any bytes are valid input. kTooLarge: longer than bytes_max.
/// kDeadlineExceeded: it takes longer than time_max or the call's deadline. kCancelled: the call's.
Result<Tree> parse(Grammar grammar, std::string_view source, const CallContext& call = {}, const ParseLimits& limits = {});

/// Visits the named nodes at and below `root` in source order, parents first, without recursion.
class Walk {
 public:
  explicit Walk(Node root);
  Walk(Walk&&) noexcept;
  ~Walk();

  /// The next node; null at the end.
  Node next();
  /// The children of the node that next() returned last are not visited.
  void skip() { skip_ = true; }
  /// Depth of the last node below the root of the walk, which has 0.
  int depth() const { return depth_; }

 private:
  struct Cursor;
  std::unique_ptr<Cursor> cursor_;
  int depth_ = 0;
  bool started_ = false;
  bool skip_ = false;
};

}  // namespace footnote::syntax
