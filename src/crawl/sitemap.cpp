#include "crawl/sitemap.h"

#include <zlib.h>

#include "base/text.h"
#include "formats/xml_reader.h"

namespace footnote::crawl {

namespace {

using formats::XmlReader;

/// One <url> or <sitemap>, up to its end.
Result<SitemapEntry> read_entry(XmlReader& reader) {
  SitemapEntry entry;
  const std::string element(reader.name());
  for (;;) {
    FOOTNOTE_TRY(const XmlReader::Event event, reader.next());
    if (event == XmlReader::Event::kDone || (event == XmlReader::Event::kEnd && reader.name() == element)) return entry;
    if (event != XmlReader::Event::kStart) continue;
    const std::string name(reader.name());
    if (name == "loc" || name == "lastmod") {
      FOOTNOTE_TRY(const std::string text, reader.inner_text());
      (name == "loc" ? entry.url : entry.modified) = trim(text);
    } else {
      FOOTNOTE_CHECK(reader.skip());
    }
  }
}

Result<void> read_xml(XmlReader& reader, Sitemap& out) {
  bool saw_root = false;
  for (;;) {
    FOOTNOTE_TRY(const XmlReader::Event event, reader.next());
    if (event == XmlReader::Event::kDone) return {};
    if (event != XmlReader::Event::kStart) continue;
    if (!saw_root) {
      saw_root = true;
      if (reader.name() == "urlset" || reader.name() == "sitemapindex") continue;
      return fail(ErrorCode::kUnsupported, "not a sitemap: its first element is '{}'", reader.name().substr(0, 60));
    }
    const bool is_page = reader.name() == "url";
    if (!is_page && reader.name() != "sitemap") {
      FOOTNOTE_CHECK(reader.skip());
      continue;
    }
    FOOTNOTE_TRY(SitemapEntry entry, read_entry(reader));
    auto& list = is_page ? out.pages : out.sitemaps;
    if (out.pages.size() + out.sitemaps.size() >= kSitemapEntriesMax) {
      out.cut = true;
      return {};
    }
    if (!entry.url.empty()) list.push_back(std::move(entry));
  }
}

Result<Sitemap> read_lines(std::string_view text) {
  Sitemap out;
  for (const std::string_view line : split(text, '\n')) {
    const std::string_view url = trim(line);
    if (url.empty()) continue;
    if (!starts_with_ignoring_case(url, "http://") && !starts_with_ignoring_case(url, "https://")) {
      if (out.pages.empty()) return fail(ErrorCode::kUnsupported, "not a sitemap: neither XML nor a list of addresses");
      out.cut = true;
      continue;
    }
    if (out.pages.size() >= kSitemapEntriesMax) {
      out.cut = true;
      break;
    }
    out.pages.push_back({std::string(url), {}});
  }
  return out;
}

}  // namespace

Result<Sitemap> parse_sitemap(std::string_view bytes) {
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  bytes = trim(bytes);
  if (!bytes.starts_with('<')) return read_lines(bytes.substr(0, kSitemapBytesMax));
  Sitemap out;
  FOOTNOTE_TRY(const auto reader, XmlReader::open(std::string(bytes.substr(0, kSitemapBytesMax))));
  if (const auto read = read_xml(*reader, out); !read) {
    if (out.pages.empty() && out.sitemaps.empty()) return std::unexpected(read.error());
    out.cut = true;
  }
  return out;
}

Result<std::string> unpack_gzip(std::string_view bytes, std::size_t bytes_max) {
  if (!bytes.starts_with("\x1F\x8B")) {
    if (bytes.size() > bytes_max) return fail(ErrorCode::kTooLarge, "larger than {}", human_bytes(bytes_max));
    return std::string(bytes);
  }
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) return fail(ErrorCode::kResourceExhausted, "no memory to unpack");
  struct End {
    z_stream& stream;
    ~End() { inflateEnd(&stream); }
  } const end{stream};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(std::min<std::size_t>(bytes.size(), 1u << 30));
  std::string out;
  std::string part(64u << 10, '\0');
  for (int state = Z_OK; state != Z_STREAM_END;) {
    stream.next_out = reinterpret_cast<Bytef*>(part.data());
    stream.avail_out = static_cast<uInt>(part.size());
    state = inflate(&stream, Z_NO_FLUSH);
    if (state != Z_OK && state != Z_STREAM_END) return fail(ErrorCode::kUnsupported, "a damaged gzip file");
    out.append(part, 0, part.size() - stream.avail_out);
    if (out.size() > bytes_max) return fail(ErrorCode::kTooLarge, "unpacks to more than {}", human_bytes(bytes_max));
  }
  return out;
}

}  // namespace footnote::crawl
