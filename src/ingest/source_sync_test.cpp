#include "ingest/source_sync.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/fake_embedder.h"
#include "fakes/memory_job_store.h"
#include "fakes/memory_source_store.h"
#include "fakes/memory_store.h"
#include "ingest/time_to_go.h"
#include "support/temp_folder.h"

namespace footnote::ingest {
namespace {

using footnote::test::TempFolder;
using testing::ElementsAre;
using testing::IsEmpty;

/// A source whose items the test decides.
struct ScriptedItems {
  SourceItems listed;
  std::map<std::string, ItemRead> reads;
  std::vector<std::string> read_keys;
};

class ScriptedReader final : public SourceReader {
 public:
  explicit ScriptedReader(ScriptedItems& script) : script_(script) {}
  Result<SourceItems> list(const CallContext&) override { return script_.listed; }
  Result<ItemRead> read(const CallContext&, const SourceItem& item) override {
    script_.read_keys.push_back(item.key);
    const auto found = script_.reads.find(item.key);
    if (found != script_.reads.end()) return found->second;
    return ItemRead{.document = {.key = item.key, .media_type = "text/plain", .content = "Text of " + item.key + "."}};
  }

 private:
  ScriptedItems& script_;
};

class ScriptedKind final : public SourceKindReader {
 public:
  explicit ScriptedKind(ScriptedItems& script) : script_(script) {}
  Result<SourceSpec> accept(SourceSpec spec) const override { return spec; }
  Result<std::unique_ptr<SourceReader>> open(const CallContext&, const SourceRecord&,
                                             const std::map<std::string, std::string>&) const override {
    return std::make_unique<ScriptedReader>(script_);
  }
  Origin origin() const override { return Origin::kUpload; }

 private:
  ScriptedItems& script_;
};

class SourceSyncTest : public testing::Test {
 protected:
  SourceSyncTest() {
    kinds_[SourceKind::kFolder] = std::make_unique<FolderSourceKind>(std::vector<std::filesystem::path>{folder_.path()}, clock_);
    kinds_[SourceKind::kText] = std::make_unique<TextSourceKind>();
    kinds_[SourceKind::kUrl] = std::make_unique<ScriptedKind>(script_);
  }

  SourceRecord add(SourceKind kind, std::string location, std::string content = "") {
    const SourceSpec spec{.corpus = corpus_.id, .kind = kind, .location = std::move(location), .title = "", .content = std::move(content)};
    return sources_.put({}, kinds_.at(kind)->accept(spec).value()).value().record;
  }
  SourceRecord add_folder() { return add(SourceKind::kFolder, folder_.path().string()); }
  Result<JobProgress> sync(const SourceRecord& source, Stamps stamps = Stamps::kTrust, const SourceSync::OnProgress& on_progress = {}) {
    return sync_.run({}, source, stamps, on_progress);
  }
  std::vector<std::string> keys() {
    std::vector<std::string> out;
    const auto all = store_.documents({}, corpus_.id, "", 1000).value();
    for (const Document& document : all) out.push_back(document.key);
    return out;
  }
  /// Files change on their own clock: theirs is the system's.
  const TempFolder folder_;
  SystemClock clock_;
  fakes::MemoryStore store_{clock_};
  fakes::MemoryJobStore jobs_{clock_};
  fakes::MemorySourceStore sources_{store_, &jobs_, clock_};
  fakes::FakeEmbedder embedder_;
  Ingestor ingestor_{store_, embedder_, nullptr};
  ScriptedItems script_;
  SourceKinds kinds_;
  SourceSync sync_{{ingestor_, store_, store_, sources_, kinds_, clock_}, {}};
  WorkspaceId workspace_ = store_.find_workspace({}, kDefaultWorkspace).value().id;
  Corpus corpus_ = store_.ensure_corpus({}, workspace_, "docs", embedder_.space()).value();
};

TEST_F(SourceSyncTest, AFolderIsFollowed) {
  folder_.write("a.md", "# A\n\nText of a.\n");
  folder_.write("sub/b.md", "# B\n\nText of b.\n");
  folder_.write("logo.png", "\x89PNG\r\n\x1a\n");
  const SourceRecord source = add_folder();
  const auto first = sync(source).value();
  EXPECT_EQ(first.added, 2);
  EXPECT_EQ(first.done, first.total);
  EXPECT_EQ(first.failed, 0);
  EXPECT_THAT(keys(), ElementsAre("a.md", "sub/b.md"));
  EXPECT_TRUE(sources_.source({}, workspace_, source.id)->synced_at.has_value());
  folder_.write("a.md", "# A\n\nOther text of a.\n");
  std::filesystem::rename(folder_.path() / "sub/b.md", folder_.path() / "sub/c.md");
  const auto second = sync(source).value();
  EXPECT_EQ(second.updated, 1);
  EXPECT_EQ(second.added, 1);
  EXPECT_EQ(second.deleted, 1);
  EXPECT_THAT(keys(), ElementsAre("a.md", "sub/c.md"));
  std::filesystem::remove(folder_.path() / "a.md");
  EXPECT_EQ(sync(source)->deleted, 1);
  EXPECT_THAT(keys(), ElementsAre("sub/c.md"));
}

TEST_F(SourceSyncTest, AFolderThatIsGoneDeletesNothing) {
  folder_.write("kb/a.md", "Text of a.\n");
  const SourceRecord source = add(SourceKind::kFolder, (folder_.path() / "kb").string());
  ASSERT_TRUE(sync(source).has_value());
  std::filesystem::rename(folder_.path() / "kb", folder_.path() / "elsewhere");
  const auto failed = sync(source);
  EXPECT_EQ(failed.error().code, ErrorCode::kPermissionDenied);
  EXPECT_FALSE(sources_.source({}, workspace_, source.id)->error.empty());
  EXPECT_THAT(keys(), ElementsAre("a.md"));
}

TEST_F(SourceSyncTest, OnlyAllowedFoldersAreAccepted) {
  const TempFolder outside;
  std::filesystem::create_directory_symlink(outside.path(), folder_.path() / "link");
  const FolderSourceKind kind({folder_.path()}, clock_);
  const auto code = [&](const std::filesystem::path& path) {
    const auto accepted = kind.accept({.corpus = corpus_.id, .kind = SourceKind::kFolder, .location = path.string()});
    return accepted ? "" : std::string(to_string(accepted.error().code));
  };
  EXPECT_EQ(code(folder_.path()), "");
  EXPECT_EQ(code(outside.path()), "permission_denied");
  EXPECT_EQ(code(folder_.path() / "link"), "permission_denied");
  EXPECT_EQ(code(folder_.path() / ".."), "permission_denied");
  EXPECT_EQ(code(folder_.path() / "none"), "permission_denied");
  EXPECT_EQ(code("relative"), "permission_denied");
  EXPECT_EQ(FolderSourceKind({}, clock_).accept({.location = folder_.path().string()}).error().code, ErrorCode::kPermissionDenied);
}

TEST_F(SourceSyncTest, ATextIsOneDocument) {
  const SourceRecord source = add(SourceKind::kText, "https://shop.example/returns", "Returns take 30 days.");
  ASSERT_EQ(sync(source)->added, 1);
  EXPECT_THAT(keys(), ElementsAre("https://shop.example/returns"));
  EXPECT_EQ(store_.documents({}, corpus_.id, "", 1)->at(0).attributes.url, "https://shop.example/returns");
  const SourceRecord again = add(SourceKind::kText, "https://shop.example/returns", "Returns take 14 days.");
  EXPECT_EQ(again.id, source.id);
  EXPECT_EQ(sync(again)->updated, 1);
  EXPECT_EQ(add(SourceKind::kText, "", "One text.").id, add(SourceKind::kText, "", "One text.").id) << "the same text is one source";
}

TEST_F(SourceSyncTest, AFailingDocumentHoldsUpNothingAndBacksOff) {
  script_.listed.items = {{.key = "a", .locator = "", .stamp = "1"}, {.key = "bad", .locator = "", .stamp = "1"}};
  script_.reads["bad"] = {.state = ItemRead::State::kFailed, .reason = "it times out"};
  const SourceRecord source = add(SourceKind::kUrl, "https://a.example/");
  const auto first = sync(source).value();
  EXPECT_EQ(first.added, 1);
  EXPECT_EQ(first.failed, 1);
  EXPECT_THAT(first.errors, ElementsAre(JobError{"bad", "it times out"}));
  script_.read_keys.clear();
  EXPECT_EQ(sync(source, Stamps::kIgnore)->failed, 1) << "still reported";
  EXPECT_THAT(script_.read_keys, ElementsAre("a")) << "but not tried again so soon";
  EXPECT_EQ(sources_.failures({}, source.id)->at(0).attempts, 1);
  script_.listed.items[1].stamp = "2";
  script_.reads.erase("bad");
  EXPECT_EQ(sync(source)->added, 1) << "another stamp is another content";
  EXPECT_THAT(*sources_.failures({}, source.id), IsEmpty());
}

TEST_F(SourceSyncTest, WhatKeptItsStampIsNotRead) {
  script_.listed.items = {{.key = "a", .locator = "", .stamp = "1"}, {.key = "b", .locator = "", .stamp = "1", .fresh = true}};
  const SourceRecord source = add(SourceKind::kUrl, "https://a.example/");
  ASSERT_TRUE(sync(source).has_value());
  script_.read_keys.clear();
  EXPECT_EQ(sync(source)->unchanged, 2);
  EXPECT_THAT(script_.read_keys, ElementsAre("b")) << "what changed a moment ago may have changed again";
  script_.read_keys.clear();
  ASSERT_TRUE(sync(source, Stamps::kIgnore).has_value());
  EXPECT_THAT(script_.read_keys, ElementsAre("a", "b")) << "a drift scan trusts nothing";
}

TEST_F(SourceSyncTest, PagesLeadToPages) {
  script_.listed.items = {{.key = "a", .locator = ""}};
  script_.reads["a"] = {.document = {.key = "a", .media_type = "text/plain", .content = "See b."},
                        .found = {{.key = "a", .locator = ""}, {.key = "b", .locator = ""}, {.key = "b", .locator = ""}}};
  const SourceRecord source = add(SourceKind::kUrl, "https://a.example/");
  EXPECT_EQ(sync(source)->added, 2);
  EXPECT_THAT(keys(), ElementsAre("a", "b"));
  script_.reads["a"].found.clear();
  EXPECT_EQ(sync(source)->deleted, 1) << "nothing leads to b any more";
}

TEST_F(SourceSyncTest, AnIncompleteListingDeletesOnlyWhatIsGone) {
  script_.listed.items = {{.key = "a", .locator = ""}, {.key = "b", .locator = ""}, {.key = "c", .locator = ""}};
  const SourceRecord source = add(SourceKind::kUrl, "https://a.example/");
  ASSERT_EQ(sync(source)->added, 3);
  script_.listed.items = {{.key = "a", .locator = ""}};
  script_.listed.complete = false;
  script_.reads["a"] = {.state = ItemRead::State::kGone};
  EXPECT_EQ(sync(source)->deleted, 1);
  EXPECT_THAT(keys(), ElementsAre("b", "c"));
}

TEST_F(SourceSyncTest, ItEndsWhenItsCallerSaysSo) {
  for (int i = 0; i < 100; ++i) script_.listed.items.push_back({.key = "k" + std::to_string(i), .locator = ""});
  const SourceRecord source = add(SourceKind::kUrl, "https://a.example/");
  int calls = 0;
  const auto stopped = sync(source, Stamps::kTrust, [&](const JobProgress&) -> Result<void> {
    return ++calls == 2 ? Result<void>(fail(ErrorCode::kCancelled, "enough")) : Result<void>{};
  });
  EXPECT_EQ(stopped.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(keys().size(), kBatchDocumentsMax) << "what was committed stays";
  EXPECT_EQ(sync(source)->added, static_cast<std::int64_t>(100 - kBatchDocumentsMax));
}

TEST_F(SourceSyncTest, UploadsAreNotSynced) {
  const Source upload = store_.ensure_source({}, corpus_.id, SourceKind::kUpload, "").value();
  EXPECT_EQ(sync(*sources_.source({}, workspace_, upload.id)).error().code, ErrorCode::kUnsupported);
}

TEST(TimeToGoTest, IsSteadyAndByAmount) {
  const auto start = std::chrono::steady_clock::now();
  TimeToGo time(start);
  const auto at = [&](int second) { return start + std::chrono::seconds{second}; };
  EXPECT_EQ(time.update(0, 10'000, start), std::nullopt);
  // 100 bytes a second, in uneven pieces.
  std::int64_t done = 0;
  for (int second = 1; second <= 60; ++second) {
    done += second % 10 == 0 ? 910 : 10;
    const auto left = time.update(done, 10'000, at(second));
    if (second < 40) continue;
    ASSERT_TRUE(left.has_value());
    const auto expected = (10'000 - done) / 100;
    EXPECT_NEAR(static_cast<double>(left->count()), static_cast<double>(expected), static_cast<double>(expected) * 0.35) << second;
  }
  EXPECT_EQ(time.update(10'000, 10'000, at(61)), std::chrono::seconds{0});
}

}  // namespace
}  // namespace footnote::ingest
