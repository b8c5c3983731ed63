// Speed and size of the keyword index over real passages and questions, one thread.
//   bm25_bench PASSAGES QUESTIONS
// PASSAGES: JSON lines, each with a member "text". QUESTIONS: one per line. Times are CPU times of the thread, so that other load on the
// machine matters less; "build" is analysis and indexing in batches of 1,000 rows.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/bm25/analyzer.h"
#include "engine/bm25/bm25_index.h"

namespace {

using namespace footnote;
using namespace footnote::bm25;

constexpr std::size_t kBatchRows = 1000;
constexpr std::uint32_t kGroups = 100;

double processor_seconds() {
  std::timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

Bm25Index build(const std::vector<std::string>& passages) {
  Bm25Index index;
  Analyzer analyzer;
  const double begin = processor_seconds();
  double analysis = 0;
  for (std::size_t row = 0; row < passages.size();) {
    const double batch_begin = processor_seconds();
    Batch batch;
    for (const std::size_t end = std::min(passages.size(), row + kBatchRows); row < end; ++row) {
      batch.begin_row({.label = static_cast<std::int64_t>(row), .group = static_cast<std::uint32_t>(row) % kGroups, .born = 1});
      analyzer.analyze(passages[row], [&](const Term& term) { batch.add_term(term.text, term.position); });
    }
    analysis += processor_seconds() - batch_begin;
    index.apply(batch, {});
  }
  const double all = processor_seconds() - begin;
  const auto rows = static_cast<double>(passages.size());
  fmt::print("{} rows in {} segments: {:.1f} us a row, {:.1f} of them analysis; {:.1f} bytes a row\n", passages.size(),
             index.segment_count(), 1e6 * all / rows, 1e6 * analysis / rows, static_cast<double>(index.byte_count()) / rows);
  return index;
}

using Terms = std::vector<QueryTerm>;

std::vector<Terms> read_questions(std::span<const std::string_view> lines) {
  std::vector<Terms> out;
  Analyzer analyzer;
  const double begin = processor_seconds();
  for (const std::string_view line : lines) {
    std::map<std::string, float> counts;
    for (std::string& term : analyzer.terms(line)) counts[std::move(term)] += 1;
    Terms& terms = out.emplace_back();
    for (const auto& [text, count] : counts) terms.push_back({.text = text, .weight = count});
  }
  fmt::print("{} questions, {:.1f} us each to analyse\n", lines.size(),
             1e6 * (processor_seconds() - begin) / static_cast<double>(lines.size()));
  return out;
}

void measure(std::string_view name, const Bm25Index& index, std::span<const Terms> questions, Bm25Query query) {
  std::vector<double> times;
  double sum = 0;  // The same with and without pruning.
  for (const Terms& terms : questions) {
    query.terms = terms;
    const double begin = processor_seconds();
    const auto hits = index.search(query);
    times.push_back(processor_seconds() - begin);
    for (const auto& hit : hits) sum += hit.score;
  }
  std::ranges::sort(times);
  double total = 0;
  for (const double time : times) total += time;
  const auto at = [&](double share) { return 1e6 * times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))]; };
  fmt::print("{:<28} top {:>3}: p50 {:6.1f} us, p99 {:7.1f}, mean {:6.1f}  (sum of scores {:.3f})\n", name, query.limit, at(0.5), at(0.99),
             1e6 * total / static_cast<double>(times.size()), sum);
}

void measure_all(const Bm25Index& index, std::span<const Terms> questions) {
  rows::GroupMask one(kGroups, 0);
  one[17] = 1;
  std::vector<std::int64_t> tenant;  // A tenant's rows are adjacent.
  for (std::size_t row = index.row_count() / 2; tenant.size() < index.row_count() / 100; ++row)
    tenant.push_back(static_cast<std::int64_t>(row));
  for (const std::size_t limit : {std::size_t{18}, std::size_t{100}}) {
    measure("exhaustive", index, questions, {.generation = 1, .limit = limit, .pruning = Pruning::kOff});
    measure("pruned", index, questions, {.generation = 1, .limit = limit});
    measure("1 % of the rows, scattered", index, questions, {.generation = 1, .limit = limit, .filter = {.groups = &one}});
    measure("1 % of the rows, together", index, questions, {.generation = 1, .limit = limit, .filter = {.labels = tenant}});
  }
}

Result<void> run(const char* passages_file, const char* questions_file) {
  constexpr std::uint64_t kFileBytesMax = std::uint64_t{1} << 32;
  FOOTNOTE_TRY(const std::string lines, read_file(passages_file, kFileBytesMax));
  std::vector<std::string> passages;
  for (const std::string_view line : split(lines, '\n')) {
    if (line.empty()) continue;
    FOOTNOTE_TRY(const Json value, parse_json(line));
    FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(value));
    FOOTNOTE_TRY(passages.emplace_back(), reader.required_string("text", line.size()));
  }
  const Bm25Index index = build(passages);
  FOOTNOTE_TRY(const std::string question_text, read_file(questions_file, kFileBytesMax));
  const auto questions = read_questions(split(question_text, '\n'));
  measure_all(index, questions);
  BufferSink saved;
  FOOTNOTE_CHECK(index.save(saved));
  const double bytes = static_cast<double>(saved.bytes.size());
  BufferSource source(saved.bytes);
  const double begin = processor_seconds();
  FOOTNOTE_TRY(const Bm25Index loaded, Bm25Index::load(source, {.born_last = 1, .group_count = kGroups}));
  fmt::print("saved in {:.1f} MB, loaded in {:.1f} ms\n", bytes / 1e6, 1e3 * (processor_seconds() - begin));
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: {} PASSAGES QUESTIONS\n", argv[0]);
    return 2;
  }
  const auto done = run(argv[1], argv[2]);
  if (!done) fmt::print(stderr, "{}\n", done.error().message);
  return done ? 0 : 1;
}
