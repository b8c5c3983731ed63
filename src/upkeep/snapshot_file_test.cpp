#include "upkeep/snapshot_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "support/temp_folder.h"

namespace footnote::upkeep {
namespace {

using testing::HasSubstr;

class SnapshotFileTest : public testing::Test {
 protected:
  void add(const std::string& name, const std::string& bytes) { files_[name] = bytes; }

  SnapshotTotals pack() {
    auto writer = SnapshotWriter::create(path()).value();
    for (const auto& [name, bytes] : files_) {
      folder_.write("in/" + name, bytes);
      EXPECT_TRUE(writer.add({}, name, folder_.path() / "in" / name));
    }
    return writer.commit().value();
  }
  std::filesystem::path path() const { return folder_.path() / "snapshot"; }
  std::string packed() const { return read_file(path(), 64 << 20).value(); }

  Result<SnapshotTotals> unpack() {
    found_.clear();
    std::string name;
    return read_snapshot({}, path(),
                         {.start = [&](std::string_view started) -> Result<void> {
                            name = started;
                            found_[name];
                            return {};
                          },
                          .piece = [&](std::span<const std::byte> bytes) -> Result<void> {
                            found_[name].append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
                            return {};
                          }});
  }
  /// The error for a file with these bytes.
  Error refusal(std::string_view bytes) {
    folder_.write("snapshot", bytes);
    const auto read = unpack();
    EXPECT_FALSE(read.has_value());
    return read ? Error{} : read.error();
  }

  const test::TempFolder folder_;
  std::map<std::string, std::string> files_;
  std::map<std::string, std::string> found_;
};

TEST_F(SnapshotFileTest, GivesBackWhatWasPacked) {
  add("a.db", std::string(kSnapshotBlockBytes + 1, 'a'));
  add("b/one-block", std::string(kSnapshotBlockBytes, 'b'));
  add("empty", "");
  const SnapshotTotals totals = pack();
  EXPECT_EQ(totals.files, 3u);
  EXPECT_EQ(totals.bytes, 2 * kSnapshotBlockBytes + 1);
  const auto read = unpack();
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->bytes, totals.bytes);
  EXPECT_EQ(found_, files_);
}

TEST_F(SnapshotFileTest, WithoutItsEndThereIsNone) {
  add("a", "text");
  {
    auto writer = SnapshotWriter::create(path()).value();
  }
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(SnapshotFileTest, EveryCutIsFoundAndItsPlaceNamed) {
  add("a", "some text");
  pack();
  const std::string whole = packed();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Error error = refusal(whole.substr(0, size));
    EXPECT_EQ(error.code, ErrorCode::kCorrupted) << size;
    EXPECT_THAT(error.message, HasSubstr("is cut short at byte")) << size;
  }
}

TEST_F(SnapshotFileTest, AFlippedBitInAnyByteIsFound) {
  add("a", "some text");
  add("b", "some more");
  pack();
  const std::string whole = packed();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    EXPECT_EQ(refusal(damaged).code, ErrorCode::kCorrupted) << at;
  }
}

TEST_F(SnapshotFileTest, FramesOutOfTheirPlaceAreFound) {
  add("a", "12345678");
  pack();
  const std::string first = packed();
  files_ = {{"a", "87654321"}};
  pack();
  std::string mixed = packed();
  // The frame of the other snapshot fits at the same position: this requires deliberate tampering with two snapshots.
  EXPECT_EQ(mixed.size(), first.size());
  const std::size_t frame = 8 + 1 + 8;
  const std::size_t end_frame = 8 + 1 + 16;
  const std::string piece = mixed.substr(mixed.size() - end_frame - frame, frame);
  EXPECT_THAT(refusal(mixed.insert(mixed.size() - end_frame, piece)).message, HasSubstr("is damaged at byte")) << "doubled";
  EXPECT_THAT(refusal(first.substr(0, first.size() - end_frame - frame) + first.substr(first.size() - end_frame)).message,
              HasSubstr("(in a)"))
      << "left out";
  EXPECT_THAT(refusal(first + first).message, HasSubstr("has data after its end"));
}

TEST_F(SnapshotFileTest, OtherFilesAreNoSnapshots) {
  EXPECT_EQ(refusal(std::string(4096, '\0')).code, ErrorCode::kCorrupted);
  EXPECT_EQ(refusal("SQLite format 3" + std::string(4096, '\0')).code, ErrorCode::kCorrupted);
  std::filesystem::remove(path());
  EXPECT_EQ(unpack().error().code, ErrorCode::kNotFound);
}

TEST_F(SnapshotFileTest, AnErrorOfTheVisitorEndsIt) {
  add("a", "text");
  pack();
  const auto read = read_snapshot({}, path(),
                                  {.start = [](std::string_view) { return Result<void>(fail(ErrorCode::kStorageFull, "full")); },
                                   .piece = [](std::span<const std::byte>) { return Result<void>(); }});
  EXPECT_EQ(read.error().code, ErrorCode::kStorageFull);
}

TEST(SnapshotName, LeadsNowhereElse) {
  for (const char* good : {"footnote.db", "snapshots/1-6162/3-17-aB.snapshot", "a_b"}) EXPECT_TRUE(is_snapshot_name(good)) << good;
  for (const char* bad : {"", "/etc/passwd", "../x", "a/../b", "a//b", "a/", ".hidden", "a/.b", "a b", "a\\b", "a\nb"}) {
    EXPECT_FALSE(is_snapshot_name(bad)) << bad;
  }
  EXPECT_TRUE(is_snapshot_name(std::string(kSnapshotNameBytesMax, 'a')));
  EXPECT_FALSE(is_snapshot_name(std::string(kSnapshotNameBytesMax + 1, 'a')));
}

}  // namespace
}  // namespace footnote::upkeep
