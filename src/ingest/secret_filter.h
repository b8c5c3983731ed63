#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "chunk/chunker.h"
#include "ingest/report.h"
#include "ingest/secret_scan.h"

namespace footnote::ingest {

/// Keeps secrets of one document out of the store: masks them in its text and attributes, and drops the passages that contain one.
class SecretFilter {
 public:
  /// Masks text, headings, title, address, tags and references. REQUIRES: called before the document is chunked.
  void mask_document(chunk::ParsedDocument& document);
  void drop_pieces(std::vector<chunk::Piece>& pieces);

  bool found_any() const { return !kinds_.empty(); }
  std::size_t passages() const { return passages_; }
  /// "2 passages kept out: AWS key, private key". REQUIRES: found_any().
  std::string reason() const;

 private:
  std::vector<Secret> in_text_;
  std::set<SecretKind> kinds_;
  std::size_t passages_ = 0;
};

}  // namespace footnote::ingest
