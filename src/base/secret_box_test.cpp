#include "base/secret_box.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/temp_folder.h"

namespace footnote {
namespace {

TEST(SecretBox, OpensWhatItSealedAndNothingElse) {
  test::TempFolder folder;
  const auto box = SecretBox::open(folder.path() / "key");
  ASSERT_TRUE(box.has_value()) << box.error().message;
  for (const std::string text : {"", "x", "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"}) {
    const std::string sealed = box->seal(text, "7").value();
    EXPECT_TRUE(SecretBox::is_sealed(sealed));
    EXPECT_TRUE(text.size() < 2 || sealed.find(text) == std::string::npos);
    EXPECT_EQ(box->unseal(sealed, "7"), text);
    EXPECT_EQ(box->unseal(sealed, "8").error().code, ErrorCode::kCorrupted) << "of another context";
    EXPECT_NE(box->seal(text, "7").value(), sealed) << "a nonce of its own each time";
    std::string damaged = sealed;
    damaged.back() = damaged.back() == 'A' ? 'B' : 'A';
    EXPECT_FALSE(box->unseal(damaged, "7").has_value());
  }
  EXPECT_FALSE(box->unseal("plain", "7").has_value());
  EXPECT_FALSE(box->unseal("sealed1:AAAA", "7").has_value());
}

TEST(SecretBox, KeepsItsKeyInAPrivateFile) {
  test::TempFolder folder;
  const std::filesystem::path file = folder.path() / "key";
  const std::string sealed = SecretBox::open(file)->seal("words", "").value();
  struct stat status{};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(SecretBox::open(file)->unseal(sealed, ""), "words");
  EXPECT_FALSE(SecretBox::open(folder.path() / "other")->unseal(sealed, "").has_value());
  folder.write("key", "not a key");
  EXPECT_EQ(SecretBox::open(file).error().code, ErrorCode::kCorrupted);
}

}  // namespace
}  // namespace footnote
