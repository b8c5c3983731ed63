#pragma once

#include <libxml/HTMLparser.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace footnote::html {

/// A parsed page. It owns its nodes.
class Dom {
 public:
  /// REQUIRES: `html` was returned by guarded_copy().
  static Result<Dom> parse(std::string_view html);

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
/// An element's number in its Dom.
std::size_t ordinal_of(const xmlNode* element);
/// A text or CDATA node's characters; empty for other nodes.
std::string_view text_of(const xmlNode* node);
/// An attribute's value, "" when missing. A view into the Dom.
std::string_view attribute(const xmlNode* node, const char* name);
bool has_attribute(const xmlNode* node, const char* name);
/// The text of all nodes below, in order, unmodified.
std::string raw_text(const xmlNode* node);

/// A sorted set of element names: `kBlocks.contains(name)`.
struct NameSet {
  std::vector<std::string_view> names;  ///< Sorted.
  bool contains(std::string_view name) const;
};

}  // namespace footnote::html
