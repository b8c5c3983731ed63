#include "providers/sqlite/sqlite_point_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "providers/sqlite/store_for_test.h"

namespace footnote {
namespace {

using contract::draft_of;
using ::testing::IsEmpty;

class SqlitePointStoreTest : public SqliteStoreTest {
 protected:
  std::vector<PointId> ids() {
    std::vector<PointId> out;
    const auto found = SqlitePointStore(*store_).scroll(call_, corpus_, {}, 100, PointVectors::kLeftOut).value();
    for (const Point& point : found) out.push_back(point.id);
    return out;
  }
};

TEST_F(SqlitePointStoreTest, PassagesOfBeforeBecomePoints) {
  ASSERT_TRUE(commit({draft_of("a.md", {"one", "two"}), draft_of("b.md", {"three"})}).has_value());
  ASSERT_TRUE(commit({draft_of("a.md", {"one", "four"})}).has_value());
  const auto before = ids();
  ASSERT_EQ(before.size(), 3U);
  execute(kUndoJobs);
  execute(kUndoPoints);
  open();
  EXPECT_EQ(ids(), before);
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(SqlitePointStoreTest, DocumentsOfOneAddressHavePointsOfTheirOwn) {
  DocumentDraft first = draft_of("a.md", {"one"});
  DocumentDraft second = draft_of("b.md", {"two"});
  first.attributes.url = second.attributes.url = "https://example.org/";
  ASSERT_TRUE(commit({first, second}).has_value());
  const auto found_ids = ids();
  EXPECT_THAT(found_ids, ::testing::UnorderedElementsAre(point_of_passage("https://example.org/", 0), point_of_passage("b.md", 0)));
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(SqlitePointStoreTest, PassagesOfLabelledDocumentsAreNotShown) {
  DocumentDraft secret = draft_of("secret.md", {"one", "two"});
  secret.attributes.acl_labels = {"hr"};
  DocumentDraft open_one = draft_of("open.md", {"three"});
  open_one.attributes.title = R"("acl_labels":["hr"])";
  ASSERT_TRUE(commit({secret, open_one}).has_value());
  EXPECT_THAT(ids(), ::testing::ElementsAre(point_of_passage("open.md", 0)));
}

TEST_F(SqlitePointStoreTest, AChunkThatIsNoPointIsFound) {
  ASSERT_TRUE(commit({draft_of("a.md", {"one"})}).has_value());
  execute("DELETE FROM points");
  EXPECT_THAT(found(), ::testing::Contains("points"));
}

}  // namespace
}  // namespace footnote
