#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "base/ids.h"

namespace footnote {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  FileTest() : folder_(fs::temp_directory_path() / ("footnote_file_" + random_base62(8))) { fs::create_directories(folder_); }
  ~FileTest() override { fs::remove_all(folder_); }

  fs::path path(std::string_view name) const { return folder_ / name; }
  void check_error(const fs::path& file, ErrorCode code, std::uint64_t bytes_max = 1000) const {
    const auto text = read_file(file, bytes_max);
    ASSERT_FALSE(text) << file;
    EXPECT_EQ(text.error().code, code) << text.error().message;
    EXPECT_NE(text.error().message.find(file.string()), std::string::npos) << text.error().message;
  }
  std::size_t files() const { return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {})); }

  const fs::path folder_;
};

TEST_F(FileTest, WritesAndReadsBack) {
  const std::string bytes("a\0b\n\xff", 5);
  ASSERT_TRUE(write_file_atomically(path("x"), bytes));
  EXPECT_EQ(*read_file(path("x"), 5), bytes);
  ASSERT_TRUE(write_file_atomically(path("x"), ""));
  EXPECT_EQ(*read_file(path("x"), 0), "");
  EXPECT_EQ(files(), 1u) << "no temporary file stays";
}

TEST_F(FileTest, TheLimitIsInclusive) {
  ASSERT_TRUE(write_file_atomically(path("x"), std::string(100, 'x')));
  EXPECT_TRUE(read_file(path("x"), 100));
  check_error(path("x"), ErrorCode::kTooLarge, 99);
}

TEST_F(FileTest, ReadsFilesWhoseSizeIsNotKnownBefore) { EXPECT_FALSE(read_file("/proc/self/status", 1 << 20)->empty()); }

TEST_F(FileTest, TheLimitHoldsForFilesWhoseSizeIsNotKnownBefore) { check_error("/proc/self/status", ErrorCode::kTooLarge, 10); }

TEST_F(FileTest, TellsWhyAFileCantBeRead) {
  check_error(path("missing"), ErrorCode::kNotFound);
  check_error(folder_, ErrorCode::kInvalidArgument);
  fs::create_symlink(path("loop"), path("loop"));
  check_error(path("loop"), ErrorCode::kInvalidArgument);
  if (::geteuid() == 0) return;  // root may read everything.
  ASSERT_TRUE(write_file_atomically(path("secret"), "x"));
  fs::permissions(path("secret"), fs::perms::none);
  check_error(path("secret"), ErrorCode::kPermissionDenied);
}

TEST_F(FileTest, NeverWaitsForAFifoOrSocket) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  check_error(path("fifo"), ErrorCode::kInvalidArgument);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = path("socket").string();
  ASSERT_LT(name.size(), sizeof(address.sun_path));
  std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  check_error(path("socket"), ErrorCode::kInvalidArgument);
  ::close(socket);
}

TEST_F(FileTest, AFailedWriteLeavesTheOldBytesAndNoLitter) {
  fs::create_directories(path("taken/inside"));
  EXPECT_FALSE(write_file_atomically(path("taken"), "new"));
  EXPECT_TRUE(fs::is_directory(path("taken")));
  EXPECT_EQ(files(), 1u);
  const auto written = write_file_atomically(path("missing/x"), "new");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::kNotFound);
}

TEST_F(FileTest, AFileOnItsWayShowsOnlyWhenItIsWhole) {
  ASSERT_TRUE(write_file_atomically(path("x"), "old"));
  const std::vector<std::byte> bulk(600 << 10, std::byte{7});  // Larger than the buffer.
  {
    auto file = AtomicFile::create(path("x")).value();
    ASSERT_TRUE(file.write(bulk));
    EXPECT_EQ(*read_file(path("x"), 100), "old");
    EXPECT_EQ(files(), 2u);
  }
  EXPECT_EQ(*read_file(path("x"), 100), "old") << "given up";
  EXPECT_EQ(files(), 1u);
  auto file = AtomicFile::create(path("x")).value();
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(file.write(std::span(bulk).first(1000)));
  ASSERT_TRUE(file.write(bulk));
  ASSERT_TRUE(file.commit());
  EXPECT_EQ(fs::file_size(path("x")), 1'000'000U + bulk.size());
  EXPECT_EQ(files(), 1u);
}

TEST_F(FileTest, ReadsPieceByPiece) {
  std::string bytes(700'000, ' ');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7 + i / 255);
  ASSERT_TRUE(write_file_atomically(path("x"), bytes));
  auto file = InputFile::open(path("x")).value();
  EXPECT_EQ(file.size(), bytes.size());
  std::string out(bytes.size(), '\0');
  const std::size_t ends[] = {1, 9, 300'000, 300'001, 690'000, bytes.size()};
  std::size_t at = 0;
  for (const std::size_t end : ends) {
    ASSERT_TRUE(file.read(std::as_writable_bytes(std::span(out).subspan(at, end - at))));
    at = end;
  }
  EXPECT_EQ(out, bytes);
  std::byte more{};
  EXPECT_EQ(file.read({&more, 1}).error().code, ErrorCode::kCorrupted);
  EXPECT_EQ(InputFile::open(folder_).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(InputFile::open(path("missing")).error().code, ErrorCode::kNotFound);
}

TEST_F(FileTest, AMappedFileStaysWhenAnotherTakesItsName) {
  const auto text_of = [](const FileMapping& mapping) {
    return std::string(reinterpret_cast<const char*>(mapping.bytes().data()), mapping.bytes().size());
  };
  auto file = AtomicFile::create(path("x"));
  ASSERT_TRUE(file && file->write(std::as_bytes(std::span(std::string_view("first")))));
  const auto written = file->map();
  ASSERT_TRUE(written && file->commit());
  const auto read = InputFile::open(path("x"))->map();
  ASSERT_TRUE(read.has_value());
  ASSERT_TRUE(write_file_atomically(path("x"), "second"));
  EXPECT_EQ(text_of(*written), "first");
  EXPECT_EQ(text_of(*read), "first");
  EXPECT_EQ(text_of(*InputFile::open(path("x"))->map()), "second");
  ASSERT_TRUE(write_file_atomically(path("x"), ""));
  EXPECT_TRUE(InputFile::open(path("x"))->map()->bytes().empty());
}

TEST_F(FileTest, MakesFoldersOnce) {
  EXPECT_EQ(make_folders(path("a/b/c/")), true);
  EXPECT_EQ(fs::status(path("a/b/c")).permissions(), fs::perms::owner_all);
  EXPECT_EQ(make_folders(path("a/b/c")), false);
  ASSERT_TRUE(write_file_atomically(path("file"), "x"));
  EXPECT_EQ(make_folders(path("file")).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(make_folders(path("file/below")).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(FileTest, AFileThatMayNotGrowIsAFullDisk) {
  // A file-size limit of this process fails writes as a full disk or an exhausted quota does.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto ignore_signal = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto refused = write_file_atomically(path("x"), std::string(5000, 'x'));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, ignore_signal);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kStorageFull);
  EXPECT_EQ(files(), 0u);
  EXPECT_TRUE(write_file_atomically(path("x"), std::string(5000, 'x')));
}

}  // namespace
}  // namespace footnote
