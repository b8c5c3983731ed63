#pragma once

#include <libxml/xmlreader.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/package.h"

namespace footnote::formats {

/// Reads XML element by element, without a tree: a part of a package, or a text. Names are local ones, without their prefix. A document
/// type is refused, so that no entity is ever declared; libxml2 bounds nesting (256) and the size of one text (10 MB).
class XmlReader {
 public:
  enum class Event { kStart, kEnd, kText, kDone };

  static Result<std::unique_ptr<XmlReader>> open(PartStream part);
  static Result<std::unique_ptr<XmlReader>> open(std::string text);
  ~XmlReader();
  XmlReader(const XmlReader&) = delete;
  XmlReader& operator=(const XmlReader&) = delete;

  /// An element without content has a start and an end too. kUnsupported: malformed, or with a document type; errors of the part.
  Result<Event> next();
  /// Of the start or end. Valid until next().
  std::string_view name() const { return name_; }
  /// Of the text. Valid until next().
  std::string_view text() const;
  /// An attribute of the start, by its local name; empty if there is none. "r:id" is the id of a relation, whatever its prefix.
  std::string attribute(std::string_view name) const;
  /// Elements around the next event.
  int depth() const { return depth_; }

  /// After a start: skips to its end.
  Result<void> skip();
  /// After a start: the text inside, up to its end.
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
  bool end_is_due_ = false;  ///< Of an element without content.
};

}  // namespace footnote::formats
