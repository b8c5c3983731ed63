#pragma once

#include <libxml/xmlreader.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/package.h"

namespace footnote::formats {

/// A streaming XML reader, for a part of a package or a text. Names are local names without a prefix. Documents with a DOCTYPE are refused,
/// so that no entity can be declared. libxml2 limits nesting (256) and the size of one text node (10 MB).
class XmlReader {
 public:
  enum class Event { kStart, kEnd, kText, kDone };

  static Result<std::unique_ptr<XmlReader>> open(PartStream part);
  static Result<std::unique_ptr<XmlReader>> open(std::string text);
  ~XmlReader();
  XmlReader(const XmlReader&) = delete;
  XmlReader& operator=(const XmlReader&) = delete;

  /// An empty element gives both a start and an end. kUnsupported: malformed, or has a DOCTYPE; also the errors of the part.
  Result<Event> next();
  /// Name of the current start or end. Valid until next().
  std::string_view name() const { return name_; }
  /// Content of the current text. Valid until next().
  std::string_view text() const;
  /// An attribute of the current start by its local name; empty if missing. "r:id" is the id of a relation, whatever its prefix.
  std::string attribute(std::string_view name) const;
  /// Number of open elements.
  int depth() const { return depth_; }

  /// Call after a start: skips to its end.
  Result<void> skip();
  /// Call after a start: returns the text up to its end.
  Result<std::string> inner_text();

 private:
  XmlReader() = default;
  static int read_part(void* context, char* out, int bytes);

  PartStream part_;
  std::string whole_;
  std::size_t at_ = 0;
  bool is_part_ = false;
  xmlTextReader* reader_ = nullptr;
  std::string name_;
  int depth_ = 0;
  bool end_is_due_ = false;  ///< An empty element was started, so its end comes next.
};

}  // namespace footnote::formats
