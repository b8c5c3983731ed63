#include "models/copy.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/json_view.h"
#include "base/text.h"
#include "models/folder.h"

namespace footnote::models {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 3> kTokenizerNames{"tokenizer.json", "vocab.txt", "sentencepiece.bpe.model"};
constexpr std::array<std::string_view, 11> kNames{"config.json",
                                                  "tokenizer.json",
                                                  "vocab.txt",
                                                  "sentencepiece.bpe.model",
                                                  "tokenizer_config.json",
                                                  "special_tokens_map.json",
                                                  "modules.json",
                                                  "sentence_bert_config.json",
                                                  "config_sentence_transformers.json",
                                                  "1_Pooling/config.json",
                                                  kWeightsName};

/// A file to copy.
struct Piece {
  std::string name;
  fs::path from;
  std::uint64_t bytes = 0;
};

/// A temporary folder next to the model's destination; removed with its contents by the destructor.
class Stage {
 public:
  static Result<Stage> make(const fs::path& place) {
    std::string name = (place / ".adding-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) return fail(code_of_errno(errno), "can't create a folder in {}", place.string());
    return Stage(name);
  }
  explicit Stage(fs::path path) : path_(std::move(path)) {}
  ~Stage() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  Stage(Stage&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  Stage& operator=(Stage&&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

bool is_below(const fs::path& path, const fs::path& folder) { return std::ranges::mismatch(folder, path).in1 == folder.end(); }

/// `source` must have its links resolved, so that links inside it can be told from links out of it.
Result<std::vector<Piece>> find_pieces(const fs::path& source) {
  std::vector<Piece> out;
  for (const std::string_view name : kNames) {
    std::error_code error;
    const fs::path from = fs::canonical(source / name, error);
    if (error == std::errc::no_such_file_or_directory) continue;
    if (error) return fail(code_of_errno(error.value()), "can't read {}: {}", (source / name).string(), error.message());
    if (!is_below(from, source)) {
      return fail(ErrorCode::kInvalidArgument,
                  "{} is a link that leads out of the folder, to {}; copy the folder with its links resolved (cp -rL) and add the copy",
                  (source / name).string(), from.string());
    }
    if (!fs::is_regular_file(from, error)) return fail(ErrorCode::kInvalidArgument, "{} is not a file", from.string());
    const std::uint64_t bytes = fs::file_size(from, error);
    if (error) return fail(code_of_errno(error.value()), "can't read {}: {}", from.string(), error.message());
    const std::uint64_t bytes_max = name == kWeightsName ? kWeightsBytesMax : kModelFileBytesMax;
    if (bytes > bytes_max) return fail(ErrorCode::kTooLarge, "{} has more than {}", from.string(), human_bytes(bytes_max));
    out.push_back({std::string(name), from, bytes});
  }
  return out;
}

bool has(const std::vector<Piece>& pieces, std::string_view name) { return std::ranges::find(pieces, name, &Piece::name) != pieces.end(); }

Result<void> check_complete(const fs::path& source, const std::vector<Piece>& pieces) {
  if (!has(pieces, "config.json")) {
    return fail(ErrorCode::kFailedPrecondition, "{} is not a model folder: it has no config.json", source.string());
  }
  if (!has(pieces, kWeightsName)) {
    return fail(ErrorCode::kFailedPrecondition, "{} has no {}: weights in other forms, or in several files, can't be read", source.string(),
                kWeightsName);
  }
  if (std::ranges::none_of(kTokenizerNames, [&](std::string_view name) { return has(pieces, name); })) {
    return fail(ErrorCode::kFailedPrecondition, "{} has no tokenizer: neither tokenizer.json nor vocab.txt nor sentencepiece.bpe.model",
                source.string());
  }
  return {};
}

/// Rejects layers after the encoder that we do not run: the vectors would silently differ from the original model's.
Result<void> check_modules(const fs::path& source) {
  const auto text = read_file(source / "modules.json", kModelFileBytesMax);
  if (!text && text.error().code == ErrorCode::kNotFound) return {};
  if (!text) return std::unexpected(text.error());
  const auto modules = parse_json(*text);
  if (!modules || !modules->is_array()) return fail(ErrorCode::kCorrupted, "{} is not a list", (source / "modules.json").string());
  for (const Json& module : modules->get_array()) {
    const std::string_view type = text_at(module, "type");
    const std::string_view name = type.substr(type.rfind('.') + 1);
    if (name == "Transformer" || name == "Pooling" || name == "Normalize") continue;
    return fail(ErrorCode::kUnsupported, "the model has a module of type '{}'; Transformer, Pooling and Normalize can be run", type);
  }
  return {};
}

/// The model's destination; an error if it may not be written.
Result<fs::path> choose_target(const Settings& settings, const fs::path& place, const std::string& name, IfPresent if_present) {
  for (const fs::path& earlier : model_search_path(settings)) {
    std::error_code ignored;
    if (earlier == place) break;
    if (fs::exists(earlier / name, ignored)) {
      return fail(ErrorCode::kAlreadyExists, "{} takes precedence and can't be written; choose another name with --name",
                  (earlier / name).string());
    }
  }
  std::error_code ignored;
  if (if_present == IfPresent::kRefuse && fs::exists(fs::symlink_status(place / name, ignored))) {
    return fail(ErrorCode::kAlreadyExists, "a model {} already exists; choose another name with --name, or replace it with --replace",
                (place / name).string());
  }
  return place / name;
}

Result<void> check_room(const fs::path& place, std::uint64_t bytes) {
  std::error_code error;
  const auto space = fs::space(place, error);
  if (error || space.available >= bytes) return {};
  return fail(ErrorCode::kStorageFull, "the model has {}, and {} has {} left", human_bytes(bytes), place.string(),
              human_bytes(space.available));
}

/// Opens the copied files with the original weights, so that an unsupported model is reported before they are copied.
Result<void> check_runs(const fs::path& stage, const fs::path& weights) {
  std::error_code error;
  fs::create_symlink(weights, stage / kWeightsName, error);
  if (error) return fail(code_of_errno(error.value()), "can't write to {}: {}", stage.string(), error.message());
  auto opened = nn::ModelFiles::open(stage);
  fs::remove(stage / kWeightsName, error);
  if (!opened) {
    Error wrong = std::move(opened).error();
    wrong.message = without_advice(wrong.message);
    return std::unexpected(std::move(wrong));
  }
  return {};
}

class Copier {
 public:
  Copier(const CallContext& call, const fs::path& stage, const ModelChecksums& known, std::uint64_t total, const CopyProgress& on_progress)
      : call_(call), stage_(stage), known_(known), total_(total), on_progress_(on_progress) {}

  Result<void> copy(const Piece& piece) {
    const fs::path to = stage_ / piece.name;
    std::error_code error;
    fs::create_directories(to.parent_path(), error);
    if (error) return fail(code_of_errno(error.value()), "can't create {}: {}", to.parent_path().string(), error.message());
    FOOTNOTE_TRY(AtomicFile file, AtomicFile::create(to, Readers::kByUmask));
    const auto count = [this](std::uint64_t bytes) { on_progress_(done_ += bytes, total_); };
    FOOTNOTE_TRY(std::string sum, sum_file(call_, piece.from, count, &file));
    if (const auto known = known_.find(piece.name); known != known_.end() && known->second != sum) {
      return fail(ErrorCode::kCorrupted, "{} does not match its checksum in the folder's {}; download it again", piece.from.string(),
                  kChecksumsName);
    }
    FOOTNOTE_CHECK(file.commit());
    sums_.emplace(piece.name, std::move(sum));
    return {};
  }

  const ModelChecksums& sums() const { return sums_; }

 private:
  const CallContext& call_;
  const fs::path& stage_;
  const ModelChecksums& known_;
  const std::uint64_t total_;
  const CopyProgress& on_progress_;
  std::uint64_t done_ = 0;
  ModelChecksums sums_;
};

/// Copies everything into the stage and syncs it to disk.
Result<ModelChecksums> fill(const CallContext& call, const fs::path& source, const std::vector<Piece>& pieces, const fs::path& stage,
                            const CopyProgress& on_progress) {
  std::uint64_t total = 0;
  for (const Piece& piece : pieces) total += piece.bytes;
  FOOTNOTE_CHECK(check_room(stage, total));
  FOOTNOTE_TRY(const ModelChecksums known, read_model_checksums(source));
  Copier copier(call, stage, known, total, on_progress);
  for (const Piece& piece : pieces) {
    if (piece.name == kWeightsName) FOOTNOTE_CHECK(check_runs(stage, piece.from));
    FOOTNOTE_CHECK(copier.copy(piece));
  }
  FOOTNOTE_CHECK(write_file_atomically(stage / kChecksumsName, render_model_checksums(copier.sums()), Readers::kByUmask));
  // mkdtemp restricts it to this user, but a model is not secret, and a server may run as another user.
  std::error_code error;
  fs::permissions(stage, fs::perms(0755), error);
  FOOTNOTE_CHECK(sync_folder(stage));
  return copier.sums();
}

/// True if a model was there before; it is then in the stage.
Result<bool> put_in_place(const fs::path& stage, const fs::path& target, IfPresent if_present) {
  // rename() never replaces a folder that is not empty.
  if (::rename(stage.c_str(), target.c_str()) == 0) {
    FOOTNOTE_CHECK(sync_folder(target.parent_path()));
    return false;
  }
  const bool present = errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR;
  if (present && if_present == IfPresent::kRefuse) {
    return fail(ErrorCode::kAlreadyExists, "a model {} already exists; replace it with --replace", target.string());
  }
  if (!present || ::renameat2(AT_FDCWD, stage.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) != 0) {
    return fail(code_of_errno(errno), "can't put the model at {}; remove what is there and add it again", target.string());
  }
  FOOTNOTE_CHECK(sync_folder(target.parent_path()));
  return true;
}

}  // namespace

std::span<const std::string_view> model_file_names() { return kNames; }

Result<fs::path> place_for_models(const Settings& settings) {
  const auto places = model_search_path(settings);
  for (const fs::path& place : places) {
    std::error_code ignored;
    if (fs::is_directory(place, ignored) && ::access(place.c_str(), W_OK | X_OK) == 0) return place;
  }
  const fs::path& last = places.back();
  constexpr std::string_view kSayWhere = "no folder for models is writable; set one with --models or FOOTNOTE_MODELS";
  if (auto made = make_folders(last); !made) return with_context(std::move(made).error(), kSayWhere);
  if (::access(last.c_str(), W_OK | X_OK) != 0) return fail(ErrorCode::kPermissionDenied, "{}: {}", kSayWhere, last.string());
  return last;
}

Result<AddedModel> add_model(const CallContext& call, const Settings& settings, const fs::path& source, const AddOptions& options,
                             const CopyProgress& on_progress) {
  std::error_code error;
  const fs::path folder = fs::canonical(source, error);
  if (error || !fs::is_directory(folder, error)) return fail(ErrorCode::kInvalidArgument, "{} is not a folder", source.string());
  const std::string name = options.name.empty() ? folder.filename().string() : options.name;
  if (!is_model_name(name)) {
    return fail_field(ErrorCode::kInvalidArgument, "name", "'{}' can't name a model's folder; choose a name with --name", name);
  }
  FOOTNOTE_TRY(const auto pieces, find_pieces(folder));
  FOOTNOTE_CHECK(check_complete(folder, pieces));
  FOOTNOTE_CHECK(check_modules(folder));
  FOOTNOTE_TRY(const fs::path place, place_for_models(settings));
  FOOTNOTE_TRY(const fs::path target, choose_target(settings, place, name, options.if_present));
  if (fs::equivalent(folder, target, error)) {
    return fail(ErrorCode::kInvalidArgument, "{} is the destination itself; there is nothing to copy", folder.string());
  }
  FOOTNOTE_TRY(const Stage stage, Stage::make(place));
  FOOTNOTE_TRY(const ModelChecksums sums, fill(call, folder, pieces, stage.path(), on_progress));
  FOOTNOTE_TRY(const bool replaced, put_in_place(stage.path(), target, options.if_present));
  return AddedModel{describe_model(settings, target), sums, replaced};
}

}  // namespace footnote::models
