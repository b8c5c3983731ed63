#include "providers/local/late_models.h"

#include <algorithm>

#include "base/file.h"

// Built-in models: files of models/late, made by `footnote models fit`.
asm(R"(
  .pushsection .rodata
  .balign 16
footnote_late_minilm_begin:
  .incbin ")" FOOTNOTE_LATE_FOLDER R"(/all-MiniLM-L6-v2.bin"
footnote_late_minilm_end:
  .popsection
)");
extern "C" {
extern const std::byte footnote_late_minilm_begin[];
extern const std::byte footnote_late_minilm_end[];
}

namespace footnote {
namespace {

constexpr std::size_t kProbeNumbers = 16;
constexpr std::uint64_t kLateFileBytesMax = 64 << 20;

}  // namespace

Result<std::vector<float>> probe_of(const nn::ModelFiles& files) {
  FOOTNOTE_TRY(auto numbers, files.weights.read_floats(files.prefix + "embeddings.LayerNorm.weight", {files.shape.hidden}));
  numbers.resize(std::min(numbers.size(), kProbeNumbers));
  return numbers;
}

Result<std::optional<late::LateModel>> find_late_model(const nn::ModelFiles& files) {
  FOOTNOTE_TRY(const auto probe, probe_of(files));
  const auto path = files.folder / kLateFile;
  if (const auto bytes = read_file(path, kLateFileBytesMax)) {
    auto model = late::LateModel::from_bytes(std::as_bytes(std::span(*bytes)));
    if (!model) return std::unexpected(with_context(std::move(model).error(), path.string()));
    if (model->probe != probe || model->hidden() != files.shape.hidden) {
      return fail(ErrorCode::kCorrupted, "{} was created for other weights; remove it, or recreate it with `footnote models fit`",
                  path.string());
    }
    return *std::move(model);
  } else if (bytes.error().code != ErrorCode::kNotFound) {
    return std::unexpected(bytes.error());
  }
  FOOTNOTE_TRY(auto known, late::LateModel::from_bytes({footnote_late_minilm_begin, footnote_late_minilm_end}));
  if (known.probe != probe || known.hidden() != files.shape.hidden) return std::nullopt;
  return known;
}

}  // namespace footnote
