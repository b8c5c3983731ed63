#include "ingest/upload_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/fake_embedder.h"
#include "fakes/memory_store.h"
#include "support/temp_folder.h"

namespace footnote::ingest {
namespace {

using footnote::test::TempFolder;

class UploadFilesTest : public testing::Test {
 protected:
  UploadedFile put(std::string key, std::string_view bytes) {
    UploadedFile out{.file = {}, .key = std::move(key), .media_type = {}, .bytes = static_cast<std::int64_t>(bytes.size())};
    AtomicFile file = files_.create(out.file).value();
    EXPECT_TRUE(file.write(std::as_bytes(std::span(bytes))).has_value());
    EXPECT_TRUE(file.commit().has_value());
    return out;
  }
  Job job_of(const std::vector<UploadedFile>& files) {
    return {.id = {1}, .workspace = workspace_, .corpus = corpus_.id, .source = {}, .kind = "upload", .input = to_job_input(files)};
  }
  Result<JobProgress> run(const Job& job) {
    return ingest_uploads({}, job, files_, ingestor_, store_, {.originals = Originals::kKeep},
                          [](const JobProgress&) { return Result<void>{}; });
  }
  std::size_t left() const {
    std::size_t out = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path() / "uploads")) out += entry.exists() ? 1 : 0;
    return out;
  }

  const TempFolder folder_;
  const UploadFiles files_{folder_.path() / "uploads"};
  SystemClock clock_;
  fakes::MemoryStore store_{clock_};
  fakes::FakeEmbedder embedder_;
  Ingestor ingestor_{store_, embedder_, nullptr};
  WorkspaceId workspace_ = store_.find_workspace({}, kDefaultWorkspace).value().id;
  Corpus corpus_ = store_.ensure_corpus({}, workspace_, "docs", embedder_.space()).value();
};

TEST_F(UploadFilesTest, FilesBecomeDocumentsAndAreRemoved) {
  const Job job = job_of({put("a.md", "# A\n\nText of a."), put("b.md", "# B\n\nText of b."), put("c.bin", std::string("\0\1\2\3", 4))});
  const auto done = run(job).value();
  EXPECT_EQ(done.added, 2);
  EXPECT_EQ(done.failed, 1);
  EXPECT_EQ(done.done, done.total);
  EXPECT_EQ(left(), 0U);
  const DocumentId id = store_.find_document({}, corpus_.id, "a.md").value()->id;
  EXPECT_EQ(store_.original({}, workspace_, id, 0)->bytes, "# A\n\nText of a.");
  EXPECT_EQ(run(job)->failed, 3) << "begun again after a crash at the end: nothing is lost, the files are gone";
}

TEST_F(UploadFilesTest, FilesStayUntilTheirJobIsDone) {
  const Job job = job_of({put("a.md", "# A\n\nText of a.")});
  embedder_.faults().fail_after(0, ErrorCode::kUnavailable, 1);
  EXPECT_EQ(run(job).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(left(), 1U);
  EXPECT_EQ(run(job)->added, 1);
  EXPECT_EQ(left(), 0U);
}

TEST_F(UploadFilesTest, AFileWithASecretIsNotKeptWhole) {
  const Job job = job_of({put("a.md", std::string("# A\n\nThe key is AKIA") + "QYLPMN5HFIQR7XYA here.\n\n# B\n\nOther text.")});
  ASSERT_EQ(run(job)->added, 1);
  const DocumentId id = store_.find_document({}, corpus_.id, "a.md").value()->id;
  EXPECT_EQ(store_.original({}, workspace_, id, 0).error().code, ErrorCode::kFailedPrecondition);
}

TEST_F(UploadFilesTest, KeysStayInTheirFolder) {
  EXPECT_EQ(upload_key("a.pdf").value(), "a.pdf");
  EXPECT_EQ(upload_key("docs/./a.pdf").value(), "docs/a.pdf");
  EXPECT_EQ(upload_key("/abs/a.pdf").value(), "abs/a.pdf");
  EXPECT_EQ(upload_key("C:\\fakepath\\a.pdf").value(), "a.pdf");
  for (const char* wrong : {"", "..", "../a", "a/../../b", "/", "a\nb"}) EXPECT_FALSE(upload_key(wrong).has_value()) << wrong;
}

TEST_F(UploadFilesTest, NamesOfOthersAreNotRead) {
  folder_.write("secret", "x");
  EXPECT_FALSE(files_.read("../secret").has_value());
  EXPECT_FALSE(files_.read(std::string(32, '.')).has_value());
  files_.remove("../secret");
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "secret"));
}

TEST_F(UploadFilesTest, WhatIsLeftForLongIsRemoved) {
  const UploadedFile fresh = put("a.md", "x");
  const UploadedFile old = put("b.md", "y");
  folder_.write("uploads/half.tmp", "z");
  std::filesystem::last_write_time(folder_.path() / "uploads" / old.file,
                                   std::filesystem::file_time_type::clock::now() - 2 * kUploadAgeMax);
  files_.tidy();
  EXPECT_EQ(left(), 1U);
  EXPECT_TRUE(files_.read(fresh.file).has_value());
}

}  // namespace
}  // namespace footnote::ingest
