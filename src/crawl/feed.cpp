#include "crawl/feed.h"

#include "base/text.h"
#include "formats/xml_reader.h"

namespace footnote::crawl {

namespace {

using formats::XmlReader;

/// One child of an entry, after its start.
Result<void> read_field(XmlReader& reader, FeedEntry& entry, std::string& guid) {
  const std::string name(reader.name());
  const std::string href = reader.attribute("href");
  const std::string rel = reader.attribute("rel");
  const bool is_permanent = reader.attribute("isPermaLink") != "false";
  const bool is_wanted = name == "link" || name == "title" || name == "guid" || name == "updated" || name == "published" ||
                         name == "pubDate" || name == "date";
  if (!is_wanted) return reader.skip();
  FOOTNOTE_TRY(const std::string inside, reader.inner_text());
  const std::string text = fold_spaces(inside);
  if (name == "link" && !href.empty()) {
    if (rel.empty() || rel == "alternate") entry.url = trim(href);
  } else if (name == "link" && entry.url.empty()) {
    entry.url = text;
  } else if (name == "title" && entry.title.empty()) {
    entry.title = text;
  } else if (name == "guid" && is_permanent && (text.starts_with("http://") || text.starts_with("https://"))) {
    guid = text;
  } else if (name == "updated" || ((name == "pubDate" || name == "date" || name == "published") && entry.updated.empty())) {
    entry.updated = text;
  }
  return {};
}

Result<FeedEntry> read_entry(XmlReader& reader) {
  FeedEntry entry;
  std::string guid;
  const std::string element(reader.name());
  for (;;) {
    FOOTNOTE_TRY(const XmlReader::Event event, reader.next());
    if (event == XmlReader::Event::kDone || (event == XmlReader::Event::kEnd && reader.name() == element)) break;
    if (event == XmlReader::Event::kStart) FOOTNOTE_CHECK(read_field(reader, entry, guid));
  }
  if (entry.url.empty()) entry.url = guid;
  return entry;
}

Result<void> read_feed(XmlReader& reader, Feed& out, bool& is_feed) {
  for (;;) {
    FOOTNOTE_TRY(const XmlReader::Event event, reader.next());
    if (event == XmlReader::Event::kDone) return {};
    if (event != XmlReader::Event::kStart) continue;
    const std::string name(reader.name());
    if (!is_feed) {
      is_feed = name == "rss" || name == "feed" || name == "RDF";
      if (is_feed) continue;
      return fail(ErrorCode::kUnsupported, "not a feed: its first element is '{}'", name.substr(0, 60));
    }
    if (name == "channel") continue;
    if (name == "title" && out.title.empty()) {
      FOOTNOTE_TRY(const std::string text, reader.inner_text());
      out.title = fold_spaces(text);
    } else if (name == "item" || name == "entry") {
      if (out.entries.size() >= kFeedEntriesMax) {
        out.cut = true;
        return {};
      }
      FOOTNOTE_TRY(FeedEntry entry, read_entry(reader));
      if (!entry.url.empty()) out.entries.push_back(std::move(entry));
    } else {
      FOOTNOTE_CHECK(reader.skip());
    }
  }
}

}  // namespace

Result<Feed> parse_feed(std::string_view bytes) {
  Feed out;
  bool is_feed = false;
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  FOOTNOTE_TRY(const auto reader, XmlReader::open(std::string(trim(bytes))));
  if (const auto read = read_feed(*reader, out, is_feed); !read) {
    if (!is_feed || out.entries.empty()) return fail(ErrorCode::kUnsupported, "not a feed: {}", read.error().message);
    out.cut = true;
  }
  return out;
}

}  // namespace footnote::crawl
