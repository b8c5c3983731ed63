#include "code/data_tree.h"

#include "engine/syntax/tree.h"

namespace footnote::code {
namespace {

using syntax::Node;

class Reader {
 public:
  explicit Reader(std::string_view source) : source_(source) {}

  DataNode read(Node node, int depth = 0) const {
    while (node.is("block_node") || node.is("flow_node")) {
      const auto inner = node.children();
      Node next;
      for (const Node child : inner) {
        if (!child.is("comment") && !child.is("anchor") && !child.is("tag")) next = child;
      }
      if (!next) break;
      node = next;
    }
    DataNode out;
    set_place(node, out);
    if (depth >= kDataDepthMax) return out;
    if (node.is("object") || node.is("block_mapping") || node.is("flow_mapping")) {
      out.kind = DataNode::Kind::kMap;
      for (const Node pair : node.children()) add_member(pair, depth, out);
    } else if (node.is("array") || node.is("block_sequence") || node.is("flow_sequence")) {
      out.kind = DataNode::Kind::kList;
      for (const Node item : node.children()) add_item(item, depth, out);
    } else {
      out.scalar = scalar_text(node);
    }
    return out;
  }

 private:
  static void set_place(Node node, DataNode& out) {
    out.range = {node.begin(), node.end()};
    out.first_line = node.first_line();
    out.last_line = node.last_line();
  }

  void add_member(Node pair, int depth, DataNode& out) const {
    const Node key = pair.field("key");
    if (!key) return;
    DataNode value;
    if (const Node given = pair.field("value")) value = read(given, depth + 1);
    set_place(pair, value);
    out.members.emplace_back(read(key, depth + 1).scalar, std::move(value));
  }

  void add_item(Node item, int depth, DataNode& out) const {
    if (item.is("comment")) return;
    if (!item.is("block_sequence_item")) {
      out.items.push_back(read(item, depth + 1));
      return;
    }
    for (const Node child : item.children()) {
      if (!child.is("comment")) out.items.push_back(read(child, depth + 1));
    }
  }

  std::string scalar_text(Node node) const {
    std::string_view text = node.text(source_);
    if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front())
      text = text.substr(1, text.size() - 2);
    return std::string(text);
  }

  const std::string_view source_;
};

}  // namespace

const DataNode* DataNode::find(std::string_view key) const {
  for (const auto& [name, value] : members) {
    if (name == key) return &value;
  }
  return nullptr;
}

Result<DataNode> read_data(DataFormat format, std::string_view text, const CallContext& call) {
  FOOTNOTE_TRY(const syntax::Tree tree,
               syntax::parse(format == DataFormat::kJson ? syntax::Grammar::kJson : syntax::Grammar::kYaml, text, call));
  Node root = tree.root();
  if (format == DataFormat::kYaml) root = root.child("document");
  for (const Node child : root.children()) {
    if (!child.is("comment") && !child.is("ERROR")) return Reader(text).read(child);
  }
  return DataNode{};
}

}  // namespace footnote::code
