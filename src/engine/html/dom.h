#pragma once

#include <libxml/HTMLparser.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "base/call_context.h"
#include "base/result.h"

namespace footnote::html {

/// A parsed page. It owns its nodes.
class Dom {
 public:
  /// kCancelled or kDeadlineExceeded once `call` ended; throws std::bad_alloc without memory for the tree. REQUIRES: `html` is a guarded
  /// page (guard.h).
  static Result<Dom> parse(std::string_view html, const CallContext& call);

  const xmlNode* root() const { return root_; }
  /// The first <body>, else the root; null for an empty page.
  const xmlNode* body() const { return body_; }
  const xmlNode* head() const { return head_; }
  bool cut() const { return cut_; }
  /// Elements are numbered from 0 in document order: see ordinal_of.
  std::size_t element_count() const { return element_count_; }

 private:
  struct Free {
    void operator()(xmlDoc* document) const { xmlFreeDoc(document); }
  };
  std::unique_ptr<xmlDoc, Free> document_;
  const xmlNode* root_ = nullptr;
  const xmlNode* body_ = nullptr;
  const xmlNode* head_ = nullptr;
  bool cut_ = false;
  std::size_t element_count_ = 0;
};

/// An element's name in lower case ("div"); empty for other nodes.
std::string_view name_of(const xmlNode* node);
/// The line that an element's start tag ends on.
int line_of(const xmlNode* element);
/// An element's number in its Dom.
std::size_t ordinal_of(const xmlNode* element);
/// A text or CDATA node's characters; empty for other nodes.
std::string_view text_of(const xmlNode* node);
/// An attribute's value, "" when missing. A view into the Dom.
std::string_view attribute(const xmlNode* node, const char* name);
bool has_attribute(const xmlNode* node, const char* name);
/// The text of all nodes below, in order, unmodified.
std::string raw_text(const xmlNode* node);

/// A set of element names: `constexpr auto kBlocks = name_set("div", "p")`, `kBlocks.contains(name)`.
template <std::size_t count>
struct NameSet {
  std::array<std::string_view, count> names;  ///< Sorted.
  bool contains(std::string_view name) const { return std::ranges::binary_search(names, name); }
};

template <class... Names>
consteval NameSet<sizeof...(Names)> name_set(Names... names) {
  NameSet<sizeof...(Names)> out{{std::string_view(names)...}};
  std::ranges::sort(out.names);
  return out;
}

}  // namespace footnote::html
