#include "points/payload_filter.h"

#include <gtest/gtest.h>

#include "points/work.h"

#include <array>
#include <random>

#include "points/fusion.h"

namespace footnote::points {
namespace {

bool holds(const PayloadFilter& filter, std::string_view payload, PointId id = {std::uint64_t{1}}) {
  const Json value = parse_json(payload).value();
  return matches(filter, {.chunk = {1}, .id = id, .payload = payload, .vectors = {}}, value.get_object());
}

Condition field(const std::string& key, ValueTest test) { return FieldCondition{key, parse_json_path(key).value(), std::move(test)}; }
Condition equals(const std::string& key, std::int64_t value) { return field(key, MatchAny{{PayloadKey{value}}}); }

TEST(PayloadFilter, AnyElementOfAListMeetsACondition) {
  PayloadFilter filter{.must = {equals("n", 2)}};
  EXPECT_TRUE(holds(filter, R"({"n":2})"));
  EXPECT_TRUE(holds(filter, R"({"n":[1,2]})"));
  EXPECT_FALSE(holds(filter, R"({"n":[1,3]})"));
  EXPECT_FALSE(holds(filter, R"({"n":"2"})"));
  EXPECT_FALSE(holds(filter, R"({})"));
  filter.must = {field("n", MatchExcept{{PayloadKey{std::int64_t{2}}}})};
  EXPECT_TRUE(holds(filter, R"({"n":[1,2]})"));
  EXPECT_FALSE(holds(filter, R"({"n":2})"));
  EXPECT_FALSE(holds(filter, R"({})"));
}

TEST(PayloadFilter, EmptyNullAndCountsLookAtTheWholeKey) {
  const PayloadFilter empty{.must = {field("a", points::IsEmpty{})}};
  const PayloadFilter null{.must = {field("a", points::IsNull{})}};
  for (const char* payload : {R"({})", R"({"a":null})", R"({"a":[]})"}) EXPECT_TRUE(holds(empty, payload)) << payload;
  EXPECT_FALSE(holds(empty, R"({"a":0})"));
  EXPECT_FALSE(holds(empty, R"({"a":[null]})"));
  EXPECT_TRUE(holds(null, R"({"a":[1,null]})"));
  EXPECT_TRUE(holds(null, R"({"a":null})"));
  EXPECT_FALSE(holds(null, R"({})"));
  NumberRange two;
  two.gte = two.lte = 2;
  const PayloadFilter pair{.must = {field("a", ValuesCount{two})}};
  EXPECT_TRUE(holds(pair, R"({"a":[1,2]})"));
  EXPECT_FALSE(holds(pair, R"({"a":1})"));
  const PayloadFilter inner{.must = {field("l[].a", ValuesCount{two})}};
  EXPECT_TRUE(holds(inner, R"({"l":[{"a":[1,2,3]},{"a":[1,2]}]})"));
  EXPECT_FALSE(holds(inner, R"({"l":[{"a":1},{"a":1}]})")) << "counts of several values are not added";
}

TEST(PayloadFilter, WordsAreComparedWithoutCase) {
  EXPECT_EQ(words_of("Ärger, in Straße-7!"), (std::vector<std::string>{"ärger", "in", "straße", "7"}));
  const PayloadFilter phrase{.must = {field("t", MatchWords{MatchWords::Mode::kPhrase, words_of("the red fox")})}};
  EXPECT_TRUE(holds(phrase, R"({"t":"See The Red Fox run"})"));
  EXPECT_FALSE(holds(phrase, R"({"t":"the fox is red"})"));
}

TEST(PayloadFilter, ABoxMayLieAcrossTheDateLine) {
  const PayloadFilter box{.must = {field("p", GeoBox{{170, 10}, {-170, -10}})}};
  EXPECT_TRUE(holds(box, R"({"p":{"lon":175,"lat":0}})"));
  EXPECT_TRUE(holds(box, R"({"p":{"lon":-175,"lat":0}})"));
  EXPECT_FALSE(holds(box, R"({"p":{"lon":0,"lat":0}})"));
}

/// A random filter over the keys a, b and c, and its independently computed result for one point.
struct Sample {
  PayloadFilter filter;
  bool expected = false;
};

Sample random_filter(std::mt19937& random, const std::array<std::int64_t, 3>& point, int depth) {
  Sample out;
  std::array<int, 4> met{}, all{};
  const auto add = [&](std::vector<Condition>& list, std::size_t kind) {
    for (auto count = random() % 3; count > 0; --count) {
      bool holds_it = false;
      if (depth > 0 && random() % 3 == 0) {
        Sample inner = random_filter(random, point, depth - 1);
        holds_it = inner.expected;
        list.emplace_back(std::make_shared<const PayloadFilter>(std::move(inner.filter)));
      } else {
        const std::size_t key = random() % 3;
        const auto value = static_cast<std::int64_t>(random() % 3);
        holds_it = point[key] == value;
        list.push_back(equals(std::string(1, static_cast<char>('a' + key)), value));
      }
      ++all[kind];
      met[kind] += holds_it ? 1 : 0;
    }
  };
  add(out.filter.must, 0);
  add(out.filter.should, 1);
  add(out.filter.must_not, 2);
  add(out.filter.min_should, 3);
  out.filter.min_should_count = random() % 3;
  out.expected =
      met[0] == all[0] && (all[1] == 0 || met[1] > 0) && met[2] == 0 && static_cast<std::size_t>(met[3]) >= out.filter.min_should_count;
  return out;
}

TEST(PayloadFilter, AgreesWithWhatItsPartsSay) {
  std::mt19937 random(7);
  int met = 0;
  for (int i = 0; i < 5000; ++i) {
    std::array<std::int64_t, 3> point{};
    for (std::int64_t& value : point) value = static_cast<std::int64_t>(random() % 3);
    const Sample sample = random_filter(random, point, 3);
    ASSERT_EQ(holds(sample.filter, fmt::format(R"({{"a":{},"b":{},"c":{}}})", point[0], point[1], point[2])), sample.expected) << i;
    met += sample.expected ? 1 : 0;
  }
  EXPECT_GT(met, 100);
  EXPECT_LT(met, 4900);
}

TEST(PayloadFilter, SlicesShareOutAllPoints) {
  std::array<int, 4> counts{};
  for (std::uint64_t id = 0; id < 1000; ++id) ++counts[slice_of({id}, 4)];
  for (const int count : counts) EXPECT_GT(count, 150);
}

TEST(Fusion, RanksAndDistributions) {
  const std::vector<std::vector<ScoredChunk>> lists{{{{1}, 0.9}, {{2}, 0.5}}, {{{2}, 30}, {{3}, 10}}};
  const auto ranks = fuse(Fusion::kRanks, lists, 2, {});
  ASSERT_EQ(ranks.size(), 3U);
  EXPECT_EQ(ranks[0].chunk, ChunkId{2});
  EXPECT_DOUBLE_EQ(ranks[0].score, 1.0 / 3 + 1.0 / 2);
  EXPECT_EQ(fuse(Fusion::kDistributions, lists, 2, {})[0].chunk, ChunkId{2});
  const std::vector<double> weights{10, 1};
  const auto weighted = fuse(Fusion::kRanks, lists, 2, weights);
  EXPECT_EQ(weighted[1].chunk, ChunkId{1});
  EXPECT_DOUBLE_EQ(weighted[1].score, 1 / (1.0 / 10 + 1));
  EXPECT_DOUBLE_EQ(weighted[0].score, 1 / (2.0 / 10 + 1) + 1.0 / 2);
}

TEST(FilterRun, FindsTheWordsOfATextOnce) {
  PayloadFilter filter;
  for (int i = 0; i < 1000; ++i) filter.should.push_back(field("t", MatchWords{MatchWords::Mode::kAll, {"absent" + std::to_string(i)}}));
  const Json payload = JsonObject{{"t", std::string(16'000, 'x')}};
  const std::string text = to_text(payload);
  FilterRun run;
  EXPECT_FALSE(run.matches(filter, {.chunk = {1}, .id = {}, .payload = text, .vectors = {}}, payload.get_object()));
  // 1,000 steps for reading the text; per condition one for itself, one for the value and one for the word.
  EXPECT_LT(run.steps(), 5'000u);
}

TEST(FilterRun, StopsAtItsLimit) {
  PayloadFilter filter;
  for (int i = 0; i < 1000; ++i) filter.should.push_back(equals("n", i));
  const Json payload = JsonObject{{"n", JsonArray(1000, Json(-1))}};
  FilterRun run(10'000);
  EXPECT_FALSE(run.matches(filter, {.chunk = {1}, .id = {}, .payload = "", .vectors = {}}, payload.get_object()));
  EXPECT_GT(run.steps(), 10'000u);
  EXPECT_LT(run.steps(), 20'000u);
}

TEST(FilterRun, SearchesLongListsQuickly) {
  std::vector<PayloadKey> keys;
  for (std::int64_t i = 100'000; i > 0; --i) keys.emplace_back(i);
  keys.emplace_back(std::string("x"));
  keys.emplace_back(std::int64_t{7});
  const KeySet set(std::move(keys));
  EXPECT_EQ(set.keys().size(), 100'001u);
  EXPECT_TRUE(set.contains(PayloadKey{std::int64_t{99'999}}));
  EXPECT_TRUE(set.contains(PayloadKey{std::string("x")}));
  EXPECT_FALSE(set.contains(PayloadKey{std::int64_t{0}}));
}

TEST(Work, IsSharedByAllQueriesOfARequest) {
  Work work(100);
  EXPECT_TRUE(work.spend(60));
  EXPECT_EQ(work.left(), 40u);
  EXPECT_TRUE(work.spend(40));
  const auto over = work.spend(1);
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(work.left(), 0u);
  Work unlimited(0);
  EXPECT_TRUE(unlimited.spend(1u << 30));
}

}  // namespace
}  // namespace footnote::points
