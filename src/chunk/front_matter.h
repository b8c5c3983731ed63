#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/document.h"

namespace footnote::chunk {

/// A longer front matter block is treated as text.
inline constexpr std::size_t kFrontMatterBytesMax = 64u << 10;
/// List items past this many are dropped.
inline constexpr std::size_t kFrontMatterItemsMax = 256;

/// The metadata at the start of a Markdown file: between two lines of `---`, a subset of YAML (scalars, quoted strings, inline and block
/// lists; other constructs and unknown names are skipped).
struct FrontMatter {
  bool present = false;  ///< A closed and parseable block was found.
  std::string id;
  std::string slug;  ///< [a-z0-9][a-z0-9-]*
  std::string title;
  std::string type;  ///< As written; see `canonical`.
  std::string summary;
  std::string url;       ///< `url` or `canonical`: a page's address, or empty.
  std::string language;  ///< Two or three letters.
  std::optional<DocumentStatus> status;
  std::optional<EvidenceTier> evidence;
  std::optional<int> retrieval_priority;  ///< 0..100
  std::optional<UtcTime> updated_at;      ///< `updated`, `lastmod` or `date`.
  std::vector<std::string> tags;
  std::vector<std::string> owners;
  std::vector<std::string> related;  ///< Slugs or paths, without the [[ ]] of wiki links.
  std::vector<std::string> supersedes;
  std::vector<std::string> superseded_by;
  /// `type` is a known type, and every other given value is valid. Only then is the type used.
  bool canonical = false;
  /// Messages for the author about invalid values. They never exclude a document.
  std::vector<std::string> warnings;
  /// Where the document's text starts: after the block, or 0 if there is none or it can't be parsed (then it stays in the text).
  std::size_t body_offset = 0;
};

/// Never fails. REQUIRES: `text` is well-formed UTF-8 with "\n" line ends.
FrontMatter parse_front_matter(std::string_view text);

/// The types of canonical documents: "project-index", "decision", "runbook" ...
bool is_canonical_type(std::string_view type);

}  // namespace footnote::chunk
