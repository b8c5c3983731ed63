#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

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
  if (::geteuid() == 0) return;  // root may read everything
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

}  // namespace
}  // namespace footnote
