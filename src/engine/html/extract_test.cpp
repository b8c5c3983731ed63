#include "engine/html/extract.h"

#include <gtest/gtest.h>
#include <libxml/xmlmemory.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

#include <chrono>
#include <new>
#include <random>

#include "base/utf8.h"
#include "engine/html/dom.h"
#include "engine/html/guard.h"

namespace footnote::html {
namespace {

Page read(std::string_view html, Region region = Region::kContent) {
  auto page = extract(html, {.region = region});
  EXPECT_TRUE(page.has_value());
  return page ? *page : Page{};
}

/// One line per block: "h1:Title", "p:Words", "li:- Words".
std::string outline(const Page& page) {
  std::string out;
  for (const Block& block : page.blocks) {
    switch (block.kind) {
      case BlockKind::kHeading: out += "h" + std::to_string(block.level); break;
      case BlockKind::kParagraph: out += "p"; break;
      case BlockKind::kListItem: out += "li"; break;
      case BlockKind::kTableRow: out += "tr"; break;
      case BlockKind::kCode: out += "pre"; break;
      case BlockKind::kQuote: out += "q"; break;
    }
    out += ":" + page.text.substr(block.begin, block.end - block.begin) + "\n";
  }
  return out;
}

void check(std::string_view html, std::string_view expected) { EXPECT_EQ(outline(read(html)), expected) << html; }

TEST(Extract, BlocksKeepTheirKind) {
  check("<h1>Returns</h1><p>Within 30 days.</p>", "h1:Returns\np:Within 30 days.\n");
  check("<h2>A <em>b</em></h2>text<div>more</div>", "h2:A b\np:text\np:more\n");
  check("<ul><li>one<li>two<ol><li>inner</ol></ul>", "li:- one\nli:- two\nli:  1. inner\n");
  check("<ol><li><p>first</p><p>still first</p><li>second</ol>", "li:1. first\nli:still first\nli:2. second\n");
  check("<blockquote><p>said</p></blockquote>after", "q:said\np:after\n");
  check("<dl><dt>Term<dd>Meaning</dl>", "p:Term\np:Meaning\n");
}

TEST(Extract, CodeIsVerbatim) {
  check("<pre>\n  if (a &lt; b)\n\n    go();\n</pre>", "pre:  if (a < b)\n\n    go();\n");
  check("<pre><code><span>x</span> = 1<br>y = 2</code></pre>", "pre:x = 1\ny = 2\n");
  check("<pre>   \n </pre>after", "p:after\n");
  check("<p>Run <code>make  all</code> now</p>", "p:Run make all now\n");
}

TEST(Extract, TablesOfDataBecomeRows) {
  check("<table><tr><th>Plan<th>Price<tr><td>Free<td>0 &euro;</table>", "tr:Plan | Price\ntr:Free | 0 \xE2\x82\xAC\n");
  check("<table><caption>Plans</caption><tr><td>a<td><p>b</p><p>c</p></table>", "tr:Plans\ntr:a | b c\n");
  check("<table><tr><td><h2>Left</h2>text</td><td>right</td></tr></table>", "h2:Left\np:text\np:right\n");
  check("<table><tr><td>only column</td></tr></table>", "p:only column\n");
}

TEST(Extract, WhiteSpaceFoldsAsInABrowser) {
  check(
      "<p>  a \n\t b <b> c</b>d&nbsp;&nbsp;e\xC2\xAD"
      "f </p>",
      "p:a b cd ef\n");
  check("<p>one<br>two<br><br>three</p>", "p:one\ntwo\np:three\n");
  check("a<span>b</span> c", "p:ab c\n");
}

TEST(Extract, EntitiesAreDecoded) {
  check("<p>&lt;T&gt; &amp; &quot;x&quot; &#8364; &#x1F600; &hellip;</p>", "p:<T> & \"x\" \xE2\x82\xAC \xF0\x9F\x98\x80 \xE2\x80\xA6\n");
}

TEST(Extract, DropsWhatNobodyReads) {
  check("<script>var a = '<p>no</p>';</script><style>p{}</style><p>yes</p><!-- no -->", "p:yes\n");
  check("<nav><a href=/>Home</a></nav><p>yes</p><footer>no</footer><aside>no</aside><form>no</form>", "p:yes\n");
  check("<p hidden>no</p><p aria-hidden=true>no</p><p style='display : none'>no</p><p>yes</p>", "p:yes\n");
  check("<template><p>no</p></template><noscript>no</noscript><svg><text>no</text></svg><p>yes</p>", "p:yes\n");
  check("<h2>Install <a class=headerlink href=#i>\xC2\xB6</a></h2>", "h2:Install\n");
}

const std::string kProse = "<p>The warranty covers parts and labour for two years from the day of purchase, in every country.</p>";

TEST(Extract, PrefersMainAndArticle) {
  check("<div>teaser teaser teaser</div><main>" + kProse + "<ul><li><a href=x>A link</a></ul></main><div>other</div>",
        "p:The warranty covers parts and labour for two years from the day of purchase, in every country.\nli:- A link\n");
  check("<body><article><header><h1>Warranty</h1></header>" + kProse + "</article><div class=sidebar>x</div>",
        "h1:Warranty\np:The warranty covers parts and labour for two years from the day of purchase, in every country.\n");
}

TEST(Extract, FindsTheDensestBlock) {
  const std::string links = "<div class=x><ul><li><a href=a>Products and more</a><li><a href=b>About us all</a></ul></div>";
  check("<body>" + links + "<div><div id=content>" + kProse + kProse + "</div></div>" + links + "</body>",
        "p:The warranty covers parts and labour for two years from the day of purchase, in every country.\n"
        "p:The warranty covers parts and labour for two years from the day of purchase, in every country.\n");
}

TEST(Extract, MainHeadingOutsideTheContentIsKept) {
  for (const std::string& page : {"<pre>make<h1>Warranty</h1>install</pre>" + kProse, "<h1>Open<article>Warranty " + kProse,
                                  "<table><tr><th>A</th><th>B</th></tr><tr><td><h1>Warranty</h1></td><td>2</td></tr></table>" + kProse}) {
    const std::string text = read(page).text;
    EXPECT_EQ(text.find("Warranty"), text.rfind("Warranty")) << "a heading that the text holds already is not said twice: " << text;
  }
  const Page page = read("<header><h1>Warranty</h1></header><main>" + kProse + "</main>");
  EXPECT_EQ(outline(page).substr(0, 12), "h1:Warranty\n");
  EXPECT_TRUE(page.text.starts_with("Warranty\n\nThe warranty"));
}

TEST(Extract, PagesOfLinksAndWholePageFormsAreStillRead) {
  check("<ul><li><a href=a>Chapter one</a><li><a href=b>Chapter two</a></ul>", "li:- Chapter one\nli:- Chapter two\n");
  check("<body><form id=aspnet>" + kProse + "</form></body>",
        "p:The warranty covers parts and labour for two years from the day of purchase, in every country.\n");
}

TEST(Extract, BodyRegionKeepsNavigation) {
  EXPECT_EQ(outline(read("<nav>Home</nav><p>Text</p><script>x</script>", Region::kBody)), "p:Home\np:Text\n");
}

TEST(Extract, ReadsHead) {
  const Page page = read(
      "<!doctype html><html lang=en-GB><head><title> A\n title </title><link rel=Canonical href='https://e.org/a'>"
      "<meta name=description content='About a'></head><body><p>x</p></body></html>");
  EXPECT_EQ(page.title, "A title");
  EXPECT_EQ(page.language, "en-gb");
  EXPECT_EQ(page.canonical_url, "https://e.org/a");
  EXPECT_EQ(page.description, "About a");
  EXPECT_EQ(read("<link rel=canonical href='javascript:alert(1)'><p>x").canonical_url, "");
}

TEST(Extract, WhatIsNoLanguageOrAddressIsLeftOut) {
  for (std::string_view lang : {"en\rGB", "en <b>", "\xC3\xA9", ""}) {
    EXPECT_EQ(read(fmt::format("<html lang='{}'><p>x", lang)).language, "") << lang;
  }
  EXPECT_EQ(read("<html lang='" + std::string(kLanguageBytesMax, 'a') + "'><p>x").language, std::string(kLanguageBytesMax, 'a'));
  EXPECT_EQ(read("<html lang='" + std::string(kLanguageBytesMax + 1, 'a') + "'><p>x").language, "");
  for (std::string_view url : {"https://a/b c", "https://a/\nb", "https://a/\x7F"}) {
    EXPECT_EQ(read(fmt::format("<link rel=canonical href='{}'><p>x", url)).canonical_url, "") << url;
  }
}

TEST(Extract, InvalidBytesAreRepaired) {
  const Page page = read("<meta charset=latin1><p>caf\xE9 \xC3\xA9t\xC3\xA9</p>");
  EXPECT_EQ(page.text, "caf\xEF\xBF\xBD \xC3\xA9t\xC3\xA9");
  EXPECT_EQ(read(std::string("<p>a\0b</p>", 10)).text,
            "a\xEF\xBF\xBD"
            "b");
}

TEST(Extract, EmptyAndBrokenInput) {
  for (std::string_view html : {"", " ", "<", "<p", "<!--", "<script>", "</div>", "<html>", "<a b='", "<!doctype", "&#0;", "<table><td>"}) {
    EXPECT_TRUE(extract(html).has_value()) << html;
  }
  EXPECT_EQ(read("plain words").text, "plain words");
}

TEST(Extract, SizeBound) {
  const std::string at_limit = "<p>x</p>" + std::string(kInputBytesMax - 8, ' ');
  EXPECT_EQ(read(at_limit).text, "x");
  const std::string words(kInputBytesMax - 8, 'x');
  EXPECT_EQ(read("<p>" + words).text, words);
  const auto over = extract(at_limit + " ");
  ASSERT_FALSE(over.has_value());
  EXPECT_EQ(over.error().code, ErrorCode::kTooLarge);
}

TEST(Extract, EndsWithItsCall) {
  std::stop_source stop;
  stop.request_stop();
  CallContext cancelled;
  cancelled.stop = stop.get_token();
  CallContext late;
  late.deadline = {};
  std::string elements, words;
  for (int i = 0; i < 100'000; ++i) {
    elements += "<p>a";
    words += "a &amp; ";
  }
  for (const std::string& html : {elements, words}) {
    // Noticed while the tree is built, not only between the steps.
    EXPECT_EQ(Dom::parse(html, cancelled).error().code, ErrorCode::kCancelled);
    EXPECT_EQ(extract(html, {}, late).error().code, ErrorCode::kDeadlineExceeded);
  }
  EXPECT_TRUE(Dom::parse("<p>a", cancelled).has_value());
}

/// Makes the n-th allocation of libxml2 fail while this object lives. libxml2 itself then leaks a few bytes.
class FailingXmlMemory {
 public:
  explicit FailingXmlMemory(int number) {
#ifdef __SANITIZE_ADDRESS__
    __lsan_disable();
#endif
    left_ = number;
    EXPECT_EQ(xmlMemGet(&free_, &malloc_, &realloc_, &strdup_), 0);
    xmlMemSetup(
        free_, [](std::size_t size) { return fails() ? nullptr : malloc_(size); },
        [](void* block, std::size_t size) { return fails() ? nullptr : realloc_(block, size); },
        [](const char* text) { return fails() ? nullptr : strdup_(text); });
  }
  ~FailingXmlMemory() {
    xmlMemSetup(free_, malloc_, realloc_, strdup_);
#ifdef __SANITIZE_ADDRESS__
    __lsan_enable();
#endif
  }
  FailingXmlMemory(const FailingXmlMemory&) = delete;
  FailingXmlMemory& operator=(const FailingXmlMemory&) = delete;

  static bool has_failed() { return left_ <= 0; }

 private:
  static bool fails() { return --left_ == 0; }
  inline static int left_ = 0;
  inline static xmlFreeFunc free_ = nullptr;
  inline static xmlMallocFunc malloc_ = nullptr;
  inline static xmlReallocFunc realloc_ = nullptr;
  inline static xmlStrdupFunc strdup_ = nullptr;
};

TEST(Extract, APageIsReadAsAWholeOrThereIsNoMemory) {
  std::string html = "<html lang=en><head><title>T</title></head><body><main><h1>Head</h1>";
  for (int i = 0; i < 30; ++i) html += "<section><p class=a>Some words <a href='x'>in a link</a> &amp; more of them.</p></section>";
  const Page whole = read(html);
  int failures = 0;
  for (int number = 1;; ++number) {
    const FailingXmlMemory memory(number);
    try {
      const auto page = extract(html);
      if (!FailingXmlMemory::has_failed()) break;
      ASSERT_TRUE(page.has_value());
      EXPECT_EQ(page->text, whole.text) << number;
      EXPECT_EQ(page->title, whole.title) << number;
      EXPECT_EQ(page->cut, whole.cut) << number;
    } catch (const std::bad_alloc&) {
      ++failures;
    }
  }
  EXPECT_GT(failures, 100);
}

double seconds_for(const std::string& html) {
  const auto start = std::chrono::steady_clock::now();
  (void)extract(html);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string repeat(std::string_view unit, std::size_t bytes) {
  std::string out;
  while (out.size() + unit.size() <= bytes) out += unit;
  return out;
}

TEST(Extract, DepthBound) {
  std::string deep;
  for (int i = 0; i < 300'000; ++i) deep += "<div>";
  deep += "bottom";
  EXPECT_LT(seconds_for("<p>top</p>" + deep), 20.0);
  const Page page = read("<p>top</p>" + deep);
  EXPECT_TRUE(page.cut);
  EXPECT_EQ(page.text, "top");
  std::string fine;
  for (int i = 0; i < 200; ++i) fine += "<div>";
  EXPECT_EQ(read(fine + "bottom").text, "bottom");
  EXPECT_FALSE(read(fine + "bottom").cut);
}

TEST(Extract, HostilePagesEndSoon) {
  std::string names;
  for (int i = 0; names.size() < (2u << 20); ++i) names += " a" + std::to_string(i);
  constexpr std::size_t kBytes = 2u << 20;
  // Not a benchmark: quadratic time would take minutes.
  constexpr double kLimit = 20.0;
  EXPECT_LT(seconds_for("<p" + names + ">x"), kLimit) << "attributes";
  for (std::string_view unit : {"<",        "<!--", "<a ",  "<a b='",       "</b>",     "<b></i>", "<p>",   "<table>",          "<tr><td>",
                                "<ul><li>", "&",    "&amp", "<![CDATA[",    "<script>", "<a><b>",  "<pre>", "<select><option>", "<h1>",
                                "<br>",     "<!",   "<?",   "\"<a href=\"", "<font>x"}) {
    EXPECT_LT(seconds_for(repeat(unit, kBytes)), kLimit) << unit;
  }
  EXPECT_LT(seconds_for(repeat("<div>", 200 * 5) + repeat("</b>", kBytes)), kLimit) << "unmatched ends";
}

TEST(Guard, WritesTagsInOnePlainForm) {
  EXPECT_EQ(guarded("<DIV  Class='a \"b\"' x=1 @y='>' class=c hidden/ >x</DIV junk>").html,
            "<div class=\"a &quot;b&quot;\" hidden>x</div>");
  EXPECT_EQ(guarded("<br/><a href=x/>1 < 2 <3").html, "<br/><a>1 &lt; 2 &lt;3");
  EXPECT_EQ(guarded("<script>a<b c d</script><p>").html, "<script></script><p>");
  EXPECT_EQ(guarded("<p>a<p class=\"never closed").html, "<p>a");
  for (std::string_view hidden :
       {"<!-- <p> -->", "<!-- --!>", "<!-->", "<!--->", "<!DOCTYPE html \">", "<!x>", "<?php ?>", "</>", "</3>"}) {
    EXPECT_EQ(guarded("a" + std::string(hidden) + "b").html, "ab") << hidden;
  }
  EXPECT_EQ(guarded("<html lang=en><html a=1 lang=de><body><body id=2>x").html, "<html lang=\"en\"><body>x");
}

TEST(Guard, CutsPagesWithTooManyTags) {
  constexpr std::size_t kBytes = 1'000'000;
  const auto page = [](std::size_t tags) {
    const std::string out = repeat("<p>", 3 * tags);
    return out + std::string(kBytes - out.size(), ' ');
  };
  EXPECT_FALSE(guarded(page(nodes_max(kBytes))).cut);
  EXPECT_TRUE(guarded(page(nodes_max(kBytes) + 1)).cut);
  EXPECT_TRUE(read(page(nodes_max(kBytes) + 1)).cut);
}

TEST(Guard, NoQuoteOrCommentHidesAttributesFromIt) {
  std::string names;
  for (int i = 0; i < 300'000; ++i) names += " a" + std::to_string(i);
  for (std::string_view before :
       {"<!-- --!>", "<!DOCTYPE \">", "<!DOCTYPE html PUBLIC \"<a b='\">", "<?x \">", "<!-->", "<x/='>", "</x \">", "<![CDATA["}) {
    const GuardedPage safe = guarded(std::string(before) + "<div" + names + ">x");
    EXPECT_LT(safe.html.size(), 100u) << before;
  }
}

/// The line of the file that these words are on, according to the page.
int line_of_words(const Page& page, std::string_view words) {
  const std::size_t at = page.text.find(words);
  int line = 0;
  std::size_t from = 0;
  for (const LineMark& mark : page.lines) {
    if (mark.offset > at) break;
    line = mark.line;
    from = mark.offset;
  }
  return line + static_cast<int>(std::count(page.text.begin() + static_cast<long>(from), page.text.begin() + static_cast<long>(at), '\n'));
}

/// Each word that starts with "@" is on the line that the page says.
void check_lines(std::string_view html, int words) {
  const Page page = read(html);
  int line = 1;
  int found = 0;
  for (std::size_t at = 0; at < html.size(); ++at) {
    if (html[at] == '\n') ++line;
    if (html[at] != '@') continue;
    EXPECT_EQ(line_of_words(page, html.substr(at, 2)), line) << html.substr(at, 2) << "\n" << page.text;
    ++found;
  }
  EXPECT_EQ(found, words);
}

TEST(Extract, LinesAreTheFilesOwn) {
  check_lines(R"(<!DOCTYPE html>
<html lang="en"><head><title>T</title>
<style>
p { color: red }
</style><script>
let a = "<p>";
</script>
<!-- a comment
of two lines --></head><body><main
  class="wide"
  data-x="1
  2"><h1>
  @a heading</h1>
<p>@b begins
  @c goes on <b>@d
@e</b> and <!--
--> ends</p><p>@f first<br>@g
<br>

@h</p>
<ul><li>@i</li>
  <li>@j <a href="x"
   >@k</a></li></ul>
<pre>

  @l code
  @m code</pre>
<table><tr><th>@n</th><th>b</th></tr>
<tr><td>
  @o</td><td>c</td></tr></table>
<p>&amp; @p &lt; end</p></main></body></html>)",
              16);
}

TEST(Extract, AHeadingFromOutsideTheContentKeepsItsLine) {
  const Page page = read("<body><header>\n<h1>Terms</h1></header>\n<main>\n<p>Words of the page.</p></main>");
  EXPECT_EQ(line_of_words(page, "Terms"), 2);
  EXPECT_EQ(line_of_words(page, "Words"), 4);
}

TEST(Extract, RandomSoupGivesValidOrderedBlocks) {
  const std::vector<std::string> parts = {"<div>",      "</div>",       "<p>",      "</p>",      "<ul>",          "<li>",     "</ul>",
                                          "<table>",    "<tr>",         "<td>",     "</table>",  "<pre>",         "</pre>",   "<h1>",
                                          "</h2>",      "words ",       "\n",       "&amp;",     "<br>",          "\xC3\xA9", "\xFF",
                                          "<a href=x>", "</a>",         "<main>",   "</main>",   "<!--",          "-->",      "<nav>",
                                          "</nav>",     "<blockquote>", "<script>", "</script>", "<span hidden>", "</span>",  "<"};
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string html;
    for (unsigned i = random() % 60; i > 0; --i) html += parts[random() % parts.size()];
    const Page page = read(html);
    ASSERT_TRUE(is_valid_utf8(page.text)) << html;
    std::size_t last = 0;
    for (const Block& block : page.blocks) {
      ASSERT_LE(last, block.begin) << html;
      ASSERT_LT(block.begin, block.end) << html;
      ASSERT_LE(block.end, page.text.size()) << html;
      last = block.end;
    }
    for (std::size_t i = 0; i < page.lines.size(); ++i) {
      ASSERT_LT(page.lines[i].offset, page.text.size()) << html;
      ASSERT_TRUE(i == 0 || page.lines[i - 1].offset < page.lines[i].offset) << html;
    }
    ASSERT_EQ(outline(page), outline(read(html)));
  }
}

TEST(Extract, APageNeedsNoBodyTag) {
  const auto page =
      extract("<!doctype html><title>T</title><nav><a href=/>Home</a></nav><main><p>The kiln is lit at six every morning.</p></main>");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->text, "The kiln is lit at six every morning.");
  EXPECT_EQ(page->title, "T");
  const auto late = extract("<title>T</title><header>x</header><body class=a><p>The kiln is lit at six.</p></body>");
  EXPECT_NE(late->text.find("The kiln is lit at six."), std::string::npos);
}

}  // namespace
}  // namespace footnote::html
