#include "api/upload_routes.h"

#include "api/multipart.h"
#include "base/json.h"
#include "base/log.h"
#include "ingest/walk.h"

namespace footnote::api {
namespace {

using access::Caller;

constexpr std::chrono::minutes kUploadTimeout{10};

/// What callers are told of a full or broken disk; the path is the operator's.
std::unexpected<Error> not_stored(const Error& error) {
  log(LogLevel::kWarn, "http", "an upload can't be stored", {{"error", error.message}});
  const bool full = error.code == ErrorCode::kStorageFull;
  return fail(full ? ErrorCode::kStorageFull : ErrorCode::kUnavailable, "the upload can't be stored{}; try again later",
              full ? ": the server's disk is full" : "");
}

/// A body on its way: to a temporary file, not to memory.
class UploadBody final : public http::BodySink {
 public:
  explicit UploadBody(AtomicFile file) : file_(std::move(file)) {}
  Result<void> write(std::string_view bytes) override {
    auto written = file_.write(std::as_bytes(std::span(bytes)));
    if (!written) return not_stored(written.error());
    return {};
  }
  Result<FileMapping> map() { return file_.map(); }

 private:
  AtomicFile file_;
};

/// Writes the file parts of a body to files of their own.
class PartWriter {
 public:
  explicit PartWriter(const ingest::UploadFiles& files) : files_(files) {}
  /// Files of a request that failed are of no use.
  ~PartWriter() {
    if (kept_) return;
    for (const ingest::UploadedFile& file : written_) files_.remove(file.file);
  }
  PartWriter(const PartWriter&) = delete;
  PartWriter& operator=(const PartWriter&) = delete;

  Result<void> run(std::string_view boundary, std::string_view body) {
    MultipartParser parser(boundary, {.begin = [this](const PartHead& head) { return begin(head); },
                                      .data = [this](std::string_view bytes) { return data(bytes); },
                                      .end = [this] { return end(); }});
    FOOTNOTE_CHECK(parser.feed(body));
    FOOTNOTE_CHECK(parser.finish());
    if (written_.empty())
      return fail_field(ErrorCode::kInvalidArgument, "file", "the body has no file; send at least one part with a filename");
    return {};
  }
  const std::vector<ingest::UploadedFile>& files() const { return written_; }
  void keep() { kept_ = true; }

 private:
  Result<void> begin(const PartHead& head) {
    if (head.file_name.empty()) return {};  // a plain field
    if (written_.size() == ingest::kUploadFilesMax) {
      return fail(ErrorCode::kTooLarge, "an upload has at most {} files; send the rest in another", ingest::kUploadFilesMax);
    }
    ingest::UploadedFile made;
    FOOTNOTE_TRY(made.key, ingest::upload_key(head.file_name));
    made.media_type = head.media_type == "application/octet-stream" ? "" : head.media_type.substr(0, kMediaTypeBytesMax);
    auto file = files_.create(made.file);
    if (!file) return not_stored(file.error());
    file_.emplace(*std::move(file));
    current_ = std::move(made);
    return {};
  }

  Result<void> data(std::string_view bytes) {
    if (!file_) return {};
    current_.bytes += static_cast<std::int64_t>(bytes.size());
    if (static_cast<std::uint64_t>(current_.bytes) > ingest::kFileBytesMax) {
      return fail_field(ErrorCode::kTooLarge, "file", "'{}' is larger than {} bytes; split it", current_.key, ingest::kFileBytesMax);
    }
    auto written = file_->write(std::as_bytes(std::span(bytes)));
    if (!written) return not_stored(written.error());
    return {};
  }

  Result<void> end() {
    if (!file_) return {};
    auto stored = file_->commit();
    file_.reset();
    if (!stored) return not_stored(stored.error());
    written_.push_back(std::move(current_));
    return {};
  }

  static constexpr std::size_t kMediaTypeBytesMax = 200;

  const ingest::UploadFiles& files_;
  std::optional<AtomicFile> file_;
  ingest::UploadedFile current_;
  std::vector<ingest::UploadedFile> written_;
  bool kept_ = false;
};

Result<http::Response> upload(const UploadServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const std::string boundary, multipart_boundary(request.headers.find("content-type").value_or("")));
  PartWriter writer(services.files);
  if (auto* const sink = dynamic_cast<UploadBody*>(request.body_sink.get()); sink != nullptr) {
    const auto mapped = sink->map();
    if (!mapped) return not_stored(mapped.error());
    const auto bytes = mapped->bytes();
    FOOTNOTE_CHECK(writer.run(boundary, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  } else {
    FOOTNOTE_CHECK(writer.run(boundary, request.body));
  }
  const std::string_view name = request.query_value("project_key").value_or(kDefaultCorpus);
  FOOTNOTE_TRY(const Corpus corpus, services.catalog.ensure_corpus(call, caller.workspace, name, services.embedder.space()));
  Job wanted{.id = {}, .workspace = caller.workspace, .corpus = corpus.id, .source = {}, .kind = std::string(kUploadJob), .input = ""};
  wanted.input = ingest::to_job_input(writer.files());
  for (const ingest::UploadedFile& file : writer.files()) wanted.progress.total += file.bytes;
  FOOTNOTE_TRY(const Job job, services.jobs.enqueue(call, wanted, JobStore::Join::kNo));
  writer.keep();
  services.wake();
  return http::Response::json(202, JsonObject{{"job", render_job(call, services.catalog, job)}});
}

}  // namespace

std::vector<Route> make_upload_routes(const UploadServices& services) {
  const auto sink = [services](const http::Request&) -> Result<std::unique_ptr<http::BodySink>> {
    std::string name;
    auto file = services.files.create(name);
    if (!file) return not_stored(file.error());
    return std::make_unique<UploadBody>(*std::move(file));
  };
  return {{.access = Access::with(KeyScope::kIngest),
           .method = http::Method::kPost,
           .pattern = "/api/kb/uploads",
           .handler = bind(services, upload),
           .body_bytes_max = services.bytes_max,
           .timeout = kUploadTimeout,
           .summary = "Upload files (multipart/form-data); they are ingested in the background",
           .body_sink = sink}};
}

}  // namespace footnote::api
