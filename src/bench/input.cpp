#include "bench/input.h"

#include <algorithm>
#include <array>
#include <fstream>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/cpu/cpu_level.h"

namespace footnote::bench {
namespace {

constexpr std::size_t kLineBytesMax = 16u << 20;
constexpr std::size_t kBlockRows = 256;

Result<std::string> text_of(std::string_view line) {
  FOOTNOTE_TRY(const Json row, parse_json(trim(line)));
  FOOTNOTE_TRY(const auto reader, JsonReader::of(row));
  FOOTNOTE_TRY(const auto text, reader.optional_string("text", kLineBytesMax));
  if (!text) return fail_field(ErrorCode::kInvalidArgument, "text", "expected an object with \"text\"");
  return *text;
}

}  // namespace

Result<VectorRows> read_vectors(const std::filesystem::path& path, std::size_t dimension, std::size_t rows_max) {
  FOOTNOTE_TRY(InputFile file, InputFile::open(path));
  const std::uint64_t row_bytes = dimension * sizeof(float);
  const std::uint64_t rows = file.size() / row_bytes;
  if (file.size() == 0 || file.size() % row_bytes != 0) {
    return fail(ErrorCode::kInvalidArgument, "{}: {} bytes are not whole rows of {} floats", path.string(), file.size(), dimension);
  }
  if (rows < rows_max) return fail(ErrorCode::kInvalidArgument, "{}: {} rows, but {} were requested", path.string(), rows, rows_max);
  VectorRows out{dimension, HugePageFloats((rows_max == 0 ? rows : rows_max) * dimension)};
  FOOTNOTE_CHECK(file.read(std::as_writable_bytes(std::span(out.values))));
  return out;
}

Result<std::vector<std::string>> read_texts(const std::filesystem::path& path, std::size_t lines_max) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(ErrorCode::kNotFound, "{}: can't be read", path.string());
  std::vector<std::string> out;
  std::string line;
  int number = 0;
  while ((lines_max == 0 || out.size() < lines_max) && std::getline(file, line)) {
    ++number;
    auto text = text_of(line);
    if (!text) return with_context(std::move(text).error(), fmt::format("{}:{}", path.string(), number));
    if (!trim(*text).empty()) out.push_back(*std::move(text));
  }
  if (out.empty()) return fail(ErrorCode::kInvalidArgument, "{}: no texts", path.string());
  return out;
}

Result<ExactScan> ExactScan::over(const VectorRows& rows) {
  if (rows.dimension % ann::kFloatPadding != 0) {
    return fail(ErrorCode::kInvalidArgument, "vectors of {} numbers: only multiples of {} can be measured", rows.dimension,
                ann::kFloatPadding);
  }
  return ExactScan(rows, ann::kernels_of(cpu::best_cpu_level()).dot);
}

std::vector<rows::ScoredLabel> ExactScan::nearest(std::span<const float> query, std::size_t limit) const {
  rows::TopK top(limit);
  std::array<float, kBlockRows> scores;
  for (std::size_t begin = 0; begin < rows_->count(); begin += kBlockRows) {
    const std::size_t count = std::min(kBlockRows, rows_->count() - begin);
    dot_(query.data(), rows_->row(begin).data(), rows_->dimension, count, scores.data());
    for (std::size_t i = 0; i < count; ++i) {
      if (scores[i] >= top.floor()) top.offer(static_cast<std::int64_t>(begin + i), scores[i]);
    }
  }
  return top.take();
}

std::vector<std::vector<rows::ScoredLabel>> ExactScan::nearest_of_each(const VectorRows& queries, std::size_t limit,
                                                                       const std::function<bool(std::size_t)>& keep) const {
  std::vector<rows::TopK> tops(queries.count(), rows::TopK(limit));
  for (std::size_t row = 0; row < rows_->count(); ++row) {
    if (!keep(row)) continue;
    // The queries stay in the CPU cache, so this reads the rows once. A kernel compares one vector with many: here the row is the one.
    std::array<float, kBlockRows> scores;
    for (std::size_t begin = 0; begin < queries.count(); begin += kBlockRows) {
      const std::size_t count = std::min(kBlockRows, queries.count() - begin);
      dot_(rows_->row(row).data(), queries.row(begin).data(), queries.dimension, count, scores.data());
      for (std::size_t i = 0; i < count; ++i) tops[begin + i].offer(static_cast<std::int64_t>(row), scores[i]);
    }
  }
  std::vector<std::vector<rows::ScoredLabel>> out;
  for (rows::TopK& top : tops) out.push_back(top.take());
  return out;
}

float ExactScan::score(std::span<const float> query, std::size_t row) const {
  float out = 0;
  dot_(query.data(), rows_->row(row).data(), rows_->dimension, 1, &out);
  return out;
}

}  // namespace footnote::bench
