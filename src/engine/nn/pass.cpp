#include "engine/nn/pass.h"

#include <algorithm>

#include "base/assert.h"

namespace footnote::nn {
namespace {

// How threads divide a matrix product. With up to kShareRowsMax rows they split the rows, if each thread gets at least kRowsOfShareMin:
// with fewer, loading the weights takes longer than computing. Otherwise, with up to kColumnRowsMax rows, they split the columns.
constexpr std::size_t kShareRowsMax = 96;
constexpr std::size_t kRowsOfShareMin = 4;
constexpr std::size_t kColumnRowsMax = 48;
constexpr std::size_t kHeadsOfChunk = 4;
// Kernels read some rows past a sequence's end. Also, the distance between blocks of rows should not be a power of two.
constexpr std::size_t kSpareRows = 80;

// fp32 rows are padded beyond their width: at a power of two they would map to the same cache sets.
std::size_t padded(std::size_t width) { return width + 16; }

std::size_t chunk_count(std::size_t items, std::size_t of_chunk) { return (items + of_chunk - 1) / of_chunk; }

Rows take_rows(Layout& layout, Format format, std::size_t capacity, std::size_t width) {
  Rows out;
  switch (format) {
    case Format::kFloat: out.row_bytes = padded(width) * sizeof(float); break;
    case Format::kInt8: out.row_bytes = width; break;
    case Format::kBf16: out.row_bytes = 32 * sizeof(std::uint16_t); break;
  }
  if (format == Format::kBf16) out.block_bytes = capacity * out.row_bytes;
  out.values = layout.take(capacity * (format == Format::kBf16 ? width * sizeof(std::uint16_t) : out.row_bytes));
  if (format == Format::kInt8) {
    out.scale = layout.take_floats(capacity);
    out.offset = layout.take_floats(capacity);
    out.exact = layout.take_floats(kExactChannels * capacity);
  }
  return out;
}

}  // namespace

Result<Workspace> Workspace::make(const Transformer& transformer, std::size_t tokens_max) {
  const EncoderShape& shape = transformer.shape();
  const Format format = transformer.kernels().format;
  Workspace out;
  out.tokens_max_ = tokens_max;
  out.capacity_ = (tokens_max + 15) / 16 * 16 + kSpareRows;
  const auto lay_out = [&](Layout layout) {
    out.hidden_ = layout.take_floats(out.capacity_ * shape.hidden);
    out.mixed_ = layout.take_floats(out.capacity_ * shape.hidden);
    out.wide_ = layout.take_floats(kColumnRowsMax * padded(std::max(3 * shape.hidden, shape.intermediate)));
    if (format == Format::kFloat) {
      out.hidden_rows_ = Rows{.values = reinterpret_cast<std::byte*>(out.hidden_), .row_bytes = shape.hidden * sizeof(float)};
      out.mixed_rows_ = Rows{.values = reinterpret_cast<std::byte*>(out.mixed_), .row_bytes = shape.hidden * sizeof(float)};
    } else {
      out.hidden_rows_ = take_rows(layout, format, out.capacity_, shape.hidden);
      out.mixed_rows_ = take_rows(layout, format, out.capacity_, shape.hidden);
    }
    if (format == Format::kInt8) {
      const std::size_t row_bytes = shape.head_size() * sizeof(std::int16_t);
      out.projected_ = Rows{.values = layout.take(3 * shape.heads * out.capacity_ * row_bytes),
                            .row_bytes = row_bytes,
                            .block_bytes = out.capacity_ * row_bytes,
                            .scale = layout.take_floats(3 * out.capacity_)};
    } else {
      out.projected_ = take_rows(layout, format, out.capacity_, 3 * shape.hidden);
    }
    out.feed_rows_ = take_rows(layout, format, out.capacity_, shape.intermediate);
    return layout.used();
  };
  FOOTNOTE_TRY(out.memory_, MemoryBlock::allocate(lay_out(Layout())));
  lay_out(Layout(out.memory_.data()));
  return out;
}

Pass::Pass(const Transformer& transformer, std::span<const TokenSpan> sequences, Workspace& workspace, std::size_t threads)
    : transformer_(transformer), sequences_(sequences), workspace_(workspace), threads_(threads) {
  first_row_.push_back(0);
  for (const TokenSpan& sequence : sequences) first_row_.push_back(first_row_.back() + sequence.ids.size());
  FOOTNOTE_ASSERT(first_row_.back() <= workspace.tokens_max());
  const std::size_t rows = first_row_.back();
  const std::size_t heads = transformer.shape().heads;
  head_groups_ = std::min(heads, 2 * threads);
  if (threads > 1 && is_int8() && rows >= kRowsOfShareMin * threads && rows <= kShareRowsMax) {
    plan_by_shares();
  } else if (threads > 1 && rows <= kColumnRowsMax) {
    plan_by_columns();
  } else {
    head_groups_ = chunk_count(heads, kHeadsOfChunk);
    plan_by_rows();
  }
}

std::size_t Pass::scratch_bytes(const Transformer& transformer, std::size_t tokens_max) {
  const EncoderShape& shape = transformer.shape();
  const std::size_t rows = std::max(transformer.kernels().block_rows, kShareRowsMax / 2);
  const std::size_t wide = rows * padded(std::max(3 * shape.hidden, shape.intermediate)) * sizeof(float);
  return std::max(wide, attention_scratch_bytes(tokens_max, shape.head_size()));
}

void Pass::plan_by_rows() {
  const auto blocks = static_cast<std::uint32_t>(chunk_count(first_row_.back(), transformer_.kernels().block_rows));
  const auto heads = static_cast<std::uint32_t>(sequences_.size() * head_groups_);
  stages_.push_back({Step::kEmbed, 0, blocks});
  for (std::uint16_t layer = 0; layer < transformer_.layers().size(); ++layer) {
    stages_.push_back({Step::kProject, layer, blocks});
    stages_.push_back({Step::kAttend, layer, heads});
    stages_.push_back({Step::kOutput, layer, blocks});
    stages_.push_back({Step::kFeedIn, layer, blocks});
    stages_.push_back({Step::kFeedOut, layer, blocks});
  }
}

// Threads synchronise at attention only.
void Pass::plan_by_shares() {
  const auto shares = static_cast<std::uint32_t>(threads_);
  const auto heads = static_cast<std::uint32_t>(sequences_.size() * head_groups_);
  stages_.push_back({Step::kToFirstAttention, 0, shares});
  for (std::uint16_t layer = 0; layer < transformer_.layers().size(); ++layer) {
    stages_.push_back({Step::kAttend, layer, heads});
    stages_.push_back({Step::kToNextAttention, layer, shares});
  }
}

void Pass::plan_by_columns() {
  const EncoderShape& shape = transformer_.shape();
  const auto blocks = static_cast<std::uint32_t>(chunk_count(first_row_.back(), transformer_.kernels().block_rows));
  const auto heads = static_cast<std::uint32_t>(sequences_.size() * head_groups_);
  stages_.push_back({Step::kEmbed, 0, blocks});
  for (std::uint16_t layer = 0; layer < transformer_.layers().size(); ++layer) {
    stages_.push_back({Step::kProjectColumns, layer, column_chunks(3 * shape.hidden)});
    if (is_int8()) stages_.push_back({Step::kSplitHeads, layer, 2});
    stages_.push_back({Step::kAttend, layer, heads});
    if (is_int8()) stages_.push_back({Step::kPrepareMixed, layer, 1});
    stages_.push_back({Step::kOutputColumns, layer, column_chunks(shape.hidden)});
    stages_.push_back({Step::kOutputNorm, layer, 1});
    stages_.push_back({Step::kFeedInColumns, layer, column_chunks(shape.intermediate)});
    if (is_int8()) stages_.push_back({Step::kPrepareFeed, layer, 2});
    stages_.push_back({Step::kFeedOutColumns, layer, column_chunks(shape.hidden)});
    stages_.push_back({Step::kFeedOutNorm, layer, 1});
  }
}

// Two per thread, so that a delayed thread does not hold up the others for long.
std::uint32_t Pass::column_chunks(std::size_t columns) const {
  return static_cast<std::uint32_t>(std::min(columns / transformer_.kernels().panel_columns, 2 * threads_));
}

Pass::Range Pass::columns_of(const Matrix& matrix, std::size_t chunk, std::size_t chunks) const {
  const std::size_t panel = transformer_.kernels().panel_columns;
  const std::size_t panels = matrix.columns / panel;
  return {panels * chunk / chunks * panel, panels * (chunk + 1) / chunks * panel};
}

Pass::Range Pass::rows_of(std::size_t chunk) const {
  const std::size_t block = transformer_.kernels().block_rows;
  return {chunk * block, std::min((chunk + 1) * block, first_row_.back())};
}

void Pass::run(std::size_t stage_index, std::size_t chunk, std::byte* scratch) const {
  const Stage& stage = stages_[stage_index];
  const Transformer::Layer& layer = transformer_.layers()[stage.layer];
  const std::size_t width = transformer_.shape().hidden;
  const Range all{0, first_row_.back()};
  const Range rows = rows_of(chunk);
  auto* wide = reinterpret_cast<float*>(scratch);
  const Epilogue to_feed = writes_rows() ? Epilogue::kGeluRows : Epilogue::kGelu;
  const auto columns = [&](const Matrix& matrix) { return columns_of(matrix, chunk, stage.chunks); };
  const auto share = [&] { return Range{all.end * chunk / stage.chunks, all.end * (chunk + 1) / stage.chunks}; };
  switch (stage.step) {
    case Step::kEmbed: return embed(rows);
    case Step::kProject: return project(layer, rows, wide);
    case Step::kAttend: return attend(chunk, scratch);
    case Step::kOutput: return output(layer, rows);
    case Step::kFeedIn: return feed_in(layer, rows, wide);
    case Step::kFeedOut: return feed_out(layer, rows);

    case Step::kToFirstAttention: embed(share()); return project(layer, share(), wide);
    case Step::kToNextAttention:
      output(layer, share());
      feed_in(layer, share(), wide);
      feed_out(layer, share());
      if (stage_index + 1 < stages_.size()) project(transformer_.layers()[stage.layer + 1], share(), wide);
      return;

    case Step::kProjectColumns: {
      const bool in_place = transformer_.kernels().format == Format::kFloat;
      float* out = in_place ? reinterpret_cast<float*>(workspace_.projected_.values) : workspace_.wide_;
      const std::size_t stride = in_place ? workspace_.projected_.row_bytes / sizeof(float) : wide_stride();
      return multiply(workspace_.hidden_rows_, layer.query_key_value, all, columns(layer.query_key_value),
                      writes_rows() ? Epilogue::kRows : Epilogue::kStore, out, stride, workspace_.projected_);
    }
    case Step::kSplitHeads: return split_heads(share(), workspace_.wide_ + share().begin * wide_stride());
    case Step::kPrepareMixed: return prepare_mixed(all);
    case Step::kOutputColumns:
      return multiply(workspace_.mixed_rows_, layer.attention_output, all, columns(layer.attention_output), Epilogue::kAdd,
                      workspace_.hidden_, width);
    case Step::kOutputNorm: return normalise(layer.attention_norm, all);
    case Step::kFeedInColumns: {
      const bool in_place = transformer_.kernels().format == Format::kFloat;
      float* out = in_place ? reinterpret_cast<float*>(workspace_.feed_rows_.values) : workspace_.wide_;
      const std::size_t stride = in_place ? workspace_.feed_rows_.row_bytes / sizeof(float) : wide_stride();
      return multiply(workspace_.hidden_rows_, layer.feed_forward_in, all, columns(layer.feed_forward_in), to_feed, out, stride,
                      workspace_.feed_rows_);
    }
    case Step::kPrepareFeed: return prepare_feed(layer.feed_forward_out, share(), workspace_.wide_ + share().begin * wide_stride());
    case Step::kFeedOutColumns:
      return multiply(workspace_.feed_rows_, layer.feed_forward_out, all, columns(layer.feed_forward_out), Epilogue::kAdd,
                      workspace_.hidden_, width);
    case Step::kFeedOutNorm: return normalise(layer.output_norm, all);
  }
}

void Pass::embed(Range rows) const {
  const std::size_t width = transformer_.shape().hidden;
  std::size_t sequence = static_cast<std::size_t>(std::ranges::upper_bound(first_row_, rows.begin) - first_row_.begin()) - 1;
  for (std::size_t row = rows.begin; row < rows.end; ++row) {
    while (row >= first_row_[sequence + 1]) ++sequence;
    transformer_.embed(sequences_[sequence], row - first_row_[sequence], workspace_.hidden_ + row * width);
  }
  normalise(transformer_.embedding_norm(), rows);
}

void Pass::project(const Transformer::Layer& layer, Range rows, float* wide) const {
  const Matrix& matrix = layer.query_key_value;
  const Range columns{0, matrix.columns};
  const Rows& projected = workspace_.projected_;
  switch (transformer_.kernels().format) {
    case Format::kFloat:
      return multiply(workspace_.hidden_rows_, matrix, rows, columns, Epilogue::kStore, reinterpret_cast<float*>(projected.values),
                      projected.row_bytes / sizeof(float));
    case Format::kBf16: return multiply(workspace_.hidden_rows_, matrix, rows, columns, Epilogue::kRows, nullptr, 0, projected);
    case Format::kInt8:
      multiply(workspace_.hidden_rows_.from(rows.begin), matrix, {0, rows.size()}, columns, Epilogue::kStore, wide, wide_stride());
      return split_heads(rows, wide);
  }
}

void Pass::split_heads(Range rows, float* wide) const {
  const EncoderShape& shape = transformer_.shape();
  transformer_.kernels().split_heads({.in = wide,
                                      .in_stride = wide_stride(),
                                      .count = rows.size(),
                                      .heads = shape.heads,
                                      .head_size = shape.head_size(),
                                      .capacity = workspace_.capacity_,
                                      .projected = workspace_.projected_.from(rows.begin)});
}

void Pass::attend(std::size_t chunk, std::byte* scratch) const {
  const EncoderShape& shape = transformer_.shape();
  const std::size_t sequence = chunk / head_groups_;
  const std::size_t group = chunk % head_groups_;
  const std::size_t first = first_row_[sequence];
  for (std::size_t head = shape.heads * group / head_groups_; head < shape.heads * (group + 1) / head_groups_; ++head) {
    transformer_.kernels().attend({.projected = workspace_.projected_.from(first),
                                   .length = first_row_[sequence + 1] - first,
                                   .head = head,
                                   .heads = shape.heads,
                                   .head_size = shape.head_size(),
                                   .capacity = workspace_.capacity_,
                                   .out = workspace_.mixed_ + first * shape.hidden,
                                   .out_stride = shape.hidden,
                                   .out_rows = workspace_.mixed_rows_.from(first),
                                   .scratch = scratch});
  }
}

void Pass::prepare_mixed(Range rows) const {
  const std::size_t width = transformer_.shape().hidden;
  transformer_.kernels().prepare({.in = workspace_.mixed_ + rows.begin * width,
                                  .in_stride = width,
                                  .count = rows.size(),
                                  .width = width,
                                  .after_gelu = false,
                                  .rows = workspace_.mixed_rows_.from(rows.begin)});
}

void Pass::output(const Transformer::Layer& layer, Range rows) const {
  const std::size_t width = transformer_.shape().hidden;
  if (is_int8()) prepare_mixed(rows);
  multiply(workspace_.mixed_rows_, layer.attention_output, rows, {0, width}, Epilogue::kAdd, workspace_.hidden_, width);
  normalise(layer.attention_norm, rows);
}

void Pass::feed_in(const Transformer::Layer& layer, Range rows, float* wide) const {
  const Matrix& matrix = layer.feed_forward_in;
  const Range columns{0, matrix.columns};
  const Rows& feed = workspace_.feed_rows_;
  switch (transformer_.kernels().format) {
    case Format::kFloat:
      return multiply(workspace_.hidden_rows_, matrix, rows, columns, Epilogue::kGelu, reinterpret_cast<float*>(feed.values),
                      feed.row_bytes / sizeof(float));
    case Format::kBf16: return multiply(workspace_.hidden_rows_, matrix, rows, columns, Epilogue::kGeluRows, nullptr, 0, feed);
    case Format::kInt8:
      multiply(workspace_.hidden_rows_.from(rows.begin), matrix, {0, rows.size()}, columns, Epilogue::kGelu, wide, wide_stride());
      return prepare_feed(layer.feed_forward_out, rows, wide);
  }
}

void Pass::prepare_feed(const Matrix& next, Range rows, float* wide) const {
  transformer_.kernels().prepare({.in = wide,
                                  .in_stride = wide_stride(),
                                  .count = rows.size(),
                                  .width = transformer_.shape().intermediate,
                                  .after_gelu = true,
                                  .exact_channels = next.exact_channels,
                                  .rows = workspace_.feed_rows_.from(rows.begin)});
}

void Pass::feed_out(const Transformer::Layer& layer, Range rows) const {
  const std::size_t width = transformer_.shape().hidden;
  multiply(workspace_.feed_rows_, layer.feed_forward_out, rows, {0, width}, Epilogue::kAdd, workspace_.hidden_, width);
  normalise(layer.output_norm, rows);
}

void Pass::normalise(const Norm& norm, Range rows) const {
  const std::size_t width = transformer_.shape().hidden;
  transformer_.kernels().normalise({.hidden = workspace_.hidden_ + rows.begin * width,
                                    .norm = norm,
                                    .count = rows.size(),
                                    .width = width,
                                    .rows = workspace_.hidden_rows_.from(rows.begin)});
}

void Pass::multiply(const Rows& left, const Matrix& matrix, Range rows, Range columns, Epilogue epilogue, float* out,
                    std::size_t out_stride, const Rows& out_rows) const {
  transformer_.kernels().multiply({.left = left.from(rows.begin),
                                   .matrix = matrix,
                                   .rows = rows.size(),
                                   .first_column = columns.begin,
                                   .end_column = columns.end,
                                   .epilogue = epilogue,
                                   .out = out == nullptr ? nullptr : out + rows.begin * out_stride,
                                   .out_stride = out_stride,
                                   .out_rows = out_rows.from(rows.begin)});
}

std::size_t Pass::wide_stride() const { return padded(std::max(3 * transformer_.shape().hidden, transformer_.shape().intermediate)); }

std::span<const float> Pass::hidden() const { return {workspace_.hidden_, first_row_.back() * transformer_.shape().hidden}; }

}  // namespace footnote::nn
