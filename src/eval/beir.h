#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "eval/metrics.h"

namespace footnote::eval {

/// Limit on the documents of a corpus.
inline constexpr std::size_t kBeirDocumentsMax = 10'000'000;

struct BeirDocument {
  std::string id;
  std::string title;
  std::string text;

  /// The searched text: title and text as one passage.
  std::string passage() const { return title.empty() ? text : title + "\n" + text; }
};

struct BeirQuestion {
  std::string id;
  std::string text;
  Grades grades;
};

/// A retrieval set in BEIR format:
///   corpus.jsonl {"_id","title","text"}, queries.jsonl {"_id","text"}, qrels/test.tsv query-id corpus-id score
/// Questions without a relevant document are omitted; the others keep the order of queries.jsonl.
struct BeirSet {
  std::vector<BeirDocument> documents;
  std::vector<BeirQuestion> questions;
  std::string corpus_hash;  ///< SHA-256 of corpus.jsonl.
};

/// kNotFound names the missing file. kInvalidArgument names file and line.
Result<BeirSet> read_beir(const std::filesystem::path& folder);

}  // namespace footnote::eval
