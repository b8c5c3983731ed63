#include "engine/html/links.h"

#include <gtest/gtest.h>

namespace footnote::html {
namespace {

TEST(Links, AreReadFromTags) {
  const PageLinks links = read_links(R"(<!doctype html><HTML><head><base href="/docs/"><link rel="canonical" href="https://a.example/x">
    <link rel=alternate type="text/markdown" href=x.md><META NAME=Robots CONTENT="NoIndex, nofollow"></head>
    <body><a href="one?a=1&amp;b=2">1</a><A HREF='two' rel="NoFollow ugc">2</A><a name=x>none</a><area href = three></body>)");
  EXPECT_EQ(links.base, "/docs/");
  EXPECT_EQ(links.canonical, "https://a.example/x");
  EXPECT_EQ(links.robots, "noindex, nofollow");
  ASSERT_EQ(links.anchors.size(), 3u);
  EXPECT_EQ(links.anchors[0].href, "one?a=1&b=2");
  EXPECT_EQ(links.anchors[1].href, "two");
  EXPECT_EQ(links.anchors[1].rel, "nofollow ugc");
  EXPECT_EQ(links.anchors[2].href, "three");
  ASSERT_EQ(links.alternates.size(), 1u);
  EXPECT_EQ(links.alternates[0].href, "x.md");
  EXPECT_EQ(links.alternates[0].type, "text/markdown");
}

TEST(Links, OfScriptsCommentsAndTemplatesAreNone) {
  const PageLinks links = read_links(
      "<!-- <a href=c> --><script>var x = '<a href=s>'</script><style><a href=t></style><template><a href=m></template>"
      "<textarea><a href=a></textarea><a href=real>");
  ASSERT_EQ(links.anchors.size(), 1u);
  EXPECT_EQ(links.anchors[0].href, "real");
}

TEST(Links, BrokenTagsAreSkipped) {
  EXPECT_TRUE(read_links("<a href=\"unclosed").anchors.empty());
  EXPECT_TRUE(read_links("<a href").anchors.empty());
  EXPECT_TRUE(read_links("< a href=x>").anchors.empty());
  EXPECT_EQ(read_links("<a =x href=y>").anchors.size(), 1u);
  EXPECT_EQ(read_links("<a href='&#x41;&#66;&#xFFFFFFF;&unknown;'>").anchors.at(0).href.substr(0, 2), "AB");
}

TEST(Links, HaveALimit) {
  std::string page;
  for (std::size_t i = 0; i <= kLinksMax; ++i) page += "<a href=x>";
  EXPECT_EQ(read_links(page).anchors.size(), kLinksMax);
  EXPECT_TRUE(read_links("<a href='" + std::string(9 << 10, 'x') + "'>").anchors.empty());
}

}  // namespace
}  // namespace footnote::html
