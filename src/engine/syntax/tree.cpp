#include "engine/syntax/tree.h"

#include <tree_sitter/api.h>

#include <bit>
#include <cstring>

extern "C" {
const TSLanguage* tree_sitter_php(void);
const TSLanguage* tree_sitter_typescript(void);
const TSLanguage* tree_sitter_tsx(void);
const TSLanguage* tree_sitter_python(void);
const TSLanguage* tree_sitter_go(void);
const TSLanguage* tree_sitter_java(void);
const TSLanguage* tree_sitter_rust(void);
const TSLanguage* tree_sitter_cpp(void);
const TSLanguage* tree_sitter_json(void);
const TSLanguage* tree_sitter_yaml(void);
}

namespace footnote::syntax {

struct NodeAccess {
  static_assert(sizeof(TSNode) == sizeof(Node::raw_));
  static TSNode get(const Node& node) { return std::bit_cast<TSNode>(node.raw_); }
  static Node make(TSNode raw) {
    Node out;
    if (!ts_node_is_null(raw)) out.raw_ = std::bit_cast<decltype(out.raw_)>(raw);
    return out;
  }
};

namespace {

const TSLanguage* language_of(Grammar grammar) {
  switch (grammar) {
    case Grammar::kPhp: return tree_sitter_php();
    case Grammar::kTypeScript: return tree_sitter_typescript();
    case Grammar::kTsx: return tree_sitter_tsx();
    case Grammar::kPython: return tree_sitter_python();
    case Grammar::kGo: return tree_sitter_go();
    case Grammar::kJava: return tree_sitter_java();
    case Grammar::kRust: return tree_sitter_rust();
    case Grammar::kCpp: return tree_sitter_cpp();
    case Grammar::kJson: return tree_sitter_json();
    case Grammar::kYaml: return tree_sitter_yaml();
  }
  return nullptr;
}

struct ParserFree {
  void operator()(TSParser* parser) const { ts_parser_delete(parser); }
};

struct Progress {
  const CallContext* call;
  std::string_view source;
};

bool has_ended(TSParseState* state) { return !static_cast<Progress*>(state->payload)->call->check(); }

const char* read_source(void* payload, std::uint32_t offset, TSPoint, std::uint32_t* bytes) {
  const std::string_view source = static_cast<Progress*>(payload)->source;
  if (offset >= source.size()) {
    *bytes = 0;
    return "";
  }
  *bytes = static_cast<std::uint32_t>(source.size() - offset);
  return source.data() + offset;
}

std::vector<Node> list_children(TSNode parent, bool named_only) {
  std::vector<Node> out;
  if (ts_node_is_null(parent)) return out;
  TSTreeCursor cursor = ts_tree_cursor_new(parent);
  for (bool more = ts_tree_cursor_goto_first_child(&cursor); more && out.size() < kChildrenMax;
       more = ts_tree_cursor_goto_next_sibling(&cursor)) {
    const TSNode child = ts_tree_cursor_current_node(&cursor);
    if (!named_only || ts_node_is_named(child)) out.push_back(NodeAccess::make(child));
  }
  ts_tree_cursor_delete(&cursor);
  return out;
}

}  // namespace

Node::operator bool() const { return !ts_node_is_null(NodeAccess::get(*this)); }

std::string_view Node::kind() const { return *this ? ts_node_type(NodeAccess::get(*this)) : std::string_view{}; }

bool Node::is_named() const { return *this && ts_node_is_named(NodeAccess::get(*this)); }

std::size_t Node::begin() const { return *this ? ts_node_start_byte(NodeAccess::get(*this)) : 0; }

std::size_t Node::end() const { return *this ? ts_node_end_byte(NodeAccess::get(*this)) : 0; }

int Node::first_line() const { return *this ? static_cast<int>(ts_node_start_point(NodeAccess::get(*this)).row) + 1 : 0; }

int Node::last_line() const {
  if (!*this) return 0;
  const TSPoint end = ts_node_end_point(NodeAccess::get(*this));
  // A node that ends with a line end has its end point at the start of the next line.
  const int line = static_cast<int>(end.row) + 1;
  return end.column == 0 && line > first_line() ? line - 1 : line;
}

Node Node::field(std::string_view name) const {
  if (!*this) return {};
  return NodeAccess::make(ts_node_child_by_field_name(NodeAccess::get(*this), name.data(), static_cast<std::uint32_t>(name.size())));
}

std::vector<Node> Node::children() const { return *this ? list_children(NodeAccess::get(*this), true) : std::vector<Node>{}; }

std::vector<Node> Node::tokens() const { return *this ? list_children(NodeAccess::get(*this), false) : std::vector<Node>{}; }

Node Node::child(std::string_view kind) const {
  if (!*this) return {};
  TSTreeCursor cursor = ts_tree_cursor_new(NodeAccess::get(*this));
  Node found;
  for (bool more = ts_tree_cursor_goto_first_child(&cursor); more; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
    const TSNode child = ts_tree_cursor_current_node(&cursor);
    if (!ts_node_is_named(child) || kind != ts_node_type(child)) continue;
    found = NodeAccess::make(child);
    break;
  }
  ts_tree_cursor_delete(&cursor);
  return found;
}

bool Node::has_error() const { return *this && ts_node_has_error(NodeAccess::get(*this)); }

bool Node::operator==(const Node& other) const {
  if (!*this || !other) return !*this && !other;
  return ts_node_eq(NodeAccess::get(*this), NodeAccess::get(other));
}

Tree::Tree(TSTree* tree) : tree_(tree) {}
Tree::Tree(Tree&&) noexcept = default;
Tree& Tree::operator=(Tree&&) noexcept = default;
Tree::~Tree() = default;
void Tree::Free::operator()(TSTree* tree) const { ts_tree_delete(tree); }

Node Tree::root() const { return NodeAccess::make(ts_tree_root_node(tree_.get())); }

Result<Tree> parse(Grammar grammar, std::string_view source, const CallContext& call, const ParseLimits& limits) {
  if (source.size() > limits.bytes_max) {
    return fail(ErrorCode::kTooLarge, "larger than {} bytes, which is the most that is parsed", limits.bytes_max);
  }
  const std::unique_ptr<TSParser, ParserFree> parser(ts_parser_new());
  if (!ts_parser_set_language(parser.get(), language_of(grammar))) {
    return fail(ErrorCode::kInternal, "a grammar does not fit the runtime of tree-sitter: check package.json");
  }
  const CallContext bounded = call.narrowed(limits.time_max);
  FOOTNOTE_CHECK(bounded.check());
  Progress progress{&bounded, source};
  const TSInput input{.payload = &progress, .read = read_source, .encoding = TSInputEncodingUTF8, .decode = nullptr};
  TSTree* tree =
      ts_parser_parse_with_options(parser.get(), nullptr, input, TSParseOptions{.payload = &progress, .progress_callback = has_ended});
  if (tree == nullptr) {
    FOOTNOTE_CHECK(call.check());
    return fail(ErrorCode::kDeadlineExceeded, "parsing took longer than {} ms", limits.time_max.count());
  }
  return Tree(tree);
}

struct Walk::Cursor {
  explicit Cursor(TSNode root) : raw(ts_tree_cursor_new(root)) {}
  ~Cursor() { ts_tree_cursor_delete(&raw); }
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;
  TSTreeCursor raw;
};

Walk::Walk(Node root) : cursor_(root ? std::make_unique<Cursor>(NodeAccess::get(root)) : nullptr) {}
Walk::Walk(Walk&&) noexcept = default;
Walk::~Walk() = default;

Node Walk::next() {
  if (cursor_ == nullptr) return {};
  TSTreeCursor* cursor = &cursor_->raw;
  if (!started_) {
    started_ = true;
    return NodeAccess::make(ts_tree_cursor_current_node(cursor));
  }
  bool enter = !skip_ && depth_ < kWalkDepthMax;
  skip_ = false;
  while (true) {
    if (enter && ts_tree_cursor_goto_first_child(cursor)) {
      ++depth_;
    } else {
      while (!ts_tree_cursor_goto_next_sibling(cursor)) {
        if (depth_ == 0 || !ts_tree_cursor_goto_parent(cursor)) {
          cursor_.reset();
          return {};
        }
        --depth_;
      }
    }
    const TSNode node = ts_tree_cursor_current_node(cursor);
    if (ts_node_is_named(node)) return NodeAccess::make(node);
    enter = false;
  }
}

}  // namespace footnote::syntax
