// Index files with valid checksums and arbitrary contents: whatever loads must be safe to search, change and save.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "providers/local/local_keyword_index.h"
#include "providers/local/local_vector_store.h"

namespace {

using footnote::CorpusId;
using footnote::IndexChanges;
using footnote::IndexFileReader;
using footnote::IndexFileWriter;
using footnote::IndexHead;
using footnote::IndexRow;

constexpr CorpusId kCorpus{1};
constexpr footnote::Generation kGeneration = 5;
constexpr std::size_t kHeadBytes = 4;

const std::string& path() {
  static const std::string name = (std::filesystem::temp_directory_path() / ("footnote_fuzz_index_" + std::to_string(::getpid()))).string();
  return name;
}

/// The input as the sections of a file, followed by raw data for vectors: its first two bytes give the length of the first section, the
/// next two that of the raw data.
bool write(std::span<const std::byte> input, footnote::IndexKind kind) {
  const auto number_at = [&](std::size_t i) {
    return std::to_integer<std::size_t>(input[i]) << 8 | std::to_integer<std::size_t>(input[i + 1]);
  };
  const auto content = input.subspan(kHeadBytes);
  const auto documents = content.first(std::min(number_at(0), content.size()));
  const std::size_t left = content.size() - documents.size();
  const auto raw = content.last(std::min(number_at(2), left));
  const auto rows = content.subspan(documents.size(), left - raw.size());
  const auto all_of = [](std::span<const std::byte> bytes) { return [bytes](footnote::ByteSink& sink) { return sink.write(bytes); }; };
  std::filesystem::remove(path());
  auto file = IndexFileWriter::create(path(), {.corpus = kCorpus, .space = {"m", 4}, .generation = kGeneration});
  if (!file || !file->section(all_of(documents)) || !file->section(all_of(rows))) return false;
  return (kind != footnote::IndexKind::kVectors || file->raw(all_of(raw))) && file->commit();
}

template <class Index>
bool load(Index& index) {
  auto file = IndexFileReader::open(path());
  return file && index.load(*file);
}

/// A change that affects every row.
IndexChanges next_step() {
  IndexChanges changes{kGeneration, kGeneration + 1, {}, {}};
  IndexRow row;
  row.chunk = {1'000'000};
  row.document = {1};
  row.born = kGeneration + 1;
  row.text = "alpha beta";
  row.vectors = {{1, 0, 0, 0}};
  changes.added.push_back(row);
  for (std::int64_t chunk = 0; chunk < 8; ++chunk) changes.removed.push_back({{chunk}, kGeneration + 1});
  return changes;
}

template <class Index>
void change_and_save(Index& index) {
  if (index.apply({}, kCorpus, next_step())) (void)index.forget({}, kCorpus, kGeneration + 1);
  const auto generation = index.generation({}, kCorpus).value();
  if (!index.save({}, path(), {.corpus = kCorpus, .space = {"m", 4}, .generation = generation})) std::abort();
  Index again;
  if (!load(again)) std::abort();  // we must be able to read what we save
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < kHeadBytes || !write(std::as_bytes(std::span(data, size)), footnote::IndexKind::kVectors)) return 0;
  const footnote::Filter filter{.tags = {"a"}};
  const footnote::ChunkId chunks[] = {{1}, {2}};
  if (footnote::LocalVectorStore vectors; load(vectors)) {
    for (const std::size_t dimension : {1U, 2U, 4U, 16U, 17U}) {
      const std::vector<float> asked(dimension, 1.0F);
      (void)vectors.search({}, {kCorpus, kGeneration, asked, 10, nullptr});
      (void)vectors.search({}, {kCorpus, kGeneration, asked, 10, &filter});
      (void)vectors.search({}, {.corpus = kCorpus, .generation = kGeneration, .vector = asked, .limit = 10, .space = "n"});
      (void)vectors.score({}, {kCorpus, kGeneration, asked, 10, nullptr}, chunks);
    }
    change_and_save(vectors);
  }
  if (!write(std::as_bytes(std::span(data, size)), footnote::IndexKind::kKeywords)) return 0;
  if (footnote::LocalKeywordIndex keywords; load(keywords)) {
    (void)keywords.search({}, {kCorpus, kGeneration, "alpha beta a b", 10, nullptr});
    (void)keywords.search({}, {kCorpus, kGeneration, "alpha beta a b", 10, &filter});
    (void)keywords.coverage({}, {kCorpus, kGeneration, "alpha beta a b", 10, nullptr}, chunks);
    change_and_save(keywords);
  }
  return 0;
}
