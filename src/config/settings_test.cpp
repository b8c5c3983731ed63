#include "config/settings.h"

#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/ids.h"
#include "config/dot_env.h"

namespace footnote {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A working folder with its files, an environment and flags.
class Layers {
 public:
  Layers() : folder_(std::filesystem::temp_directory_path() / ("footnote-settings-" + random_base62(12))) {
    std::filesystem::create_directories(folder_);
  }
  ~Layers() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Layers& file(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return *this;
  }
  Layers& toml(const std::string& text) { return file("footnote.toml", text); }
  Layers& dot_env(const std::string& text) { return file(".env", text); }
  Layers& env(const std::string& name, const std::string& value) {
    environment_[name] = value;
    return *this;
  }
  Layers& flag(Setting id, const std::string& value) {
    flags_.emplace_back(id, value);
    return *this;
  }
  Layers& config(const std::string& path) {
    config_ = path;
    return *this;
  }
  const std::filesystem::path& folder() const { return folder_; }

  Result<Settings> load() const {
    SettingSources sources;
    sources.working_folder = folder_;
    sources.config_file = config_;
    sources.environment = [this](std::string_view name) -> std::optional<std::string> {
      const auto found = environment_.find(std::string(name));
      if (found == environment_.end()) return std::nullopt;
      return found->second;
    };
    sources.flags = flags_;
    return Settings::load(sources);
  }

 private:
  std::filesystem::path folder_;
  std::optional<std::filesystem::path> config_;
  std::map<std::string, std::string> environment_;
  std::vector<std::pair<Setting, std::string>> flags_;
};

void check_value(const Layers& layers, Setting id, const std::string& text, const std::string& place) {
  const auto settings = layers.load();
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->value(id).text, text);
  EXPECT_EQ(settings->value(id).place, place);
}

void check_error(const Layers& layers, const std::string& message) {
  const auto settings = layers.load();
  ASSERT_FALSE(settings) << "expected: " << message;
  EXPECT_EQ(settings.error().message, message);
}

TEST(Settings, LogLevelsMayDifferByModule) {
  check_value(Layers(), Setting::kLogLevel, "auto", "default");
  check_value(Layers().toml("[log]\nlevel = \"warn\"\n"), Setting::kLogLevel, "warn", "footnote.toml:2");
  check_value(Layers().env("FOOTNOTE_LOG_LEVEL", "info,http=warn,ingest=debug"), Setting::kLogLevel, "info,http=warn,ingest=debug",
              "environment variable FOOTNOTE_LOG_LEVEL");
  check_value(Layers().flag(Setting::kLogLevel, "auto,http=off"), Setting::kLogLevel, "auto,http=off", "flag --log-level");
  check_error(Layers().flag(Setting::kLogLevel, "info,ingset=debug"),
              "log.level: unknown log module 'ingset'; did you mean ingest? (from flag --log-level)");
  check_error(Layers().env("FOOTNOTE_LOG_LEVEL", "loud"),
              "log.level: log level 'loud' is not one of debug, info, warn, error, off (from environment variable FOOTNOTE_LOG_LEVEL)");
  check_error(Layers().toml("[log]\nlevel = \"info,http=\"\n"),
              "log.level: log level '' is not one of debug, info, warn, error, off (from footnote.toml:2)");
}

TEST(Settings, EachLayerOverridesTheOnesBelow) {
  Layers layers;
  check_value(layers, Setting::kServerPort, "7700", "default");
  layers.toml("# mine\n[server]\nport = 7701\n");
  check_value(layers, Setting::kServerPort, "7701", "footnote.toml:3");
  layers.dot_env("A=b\nFOOTNOTE_PORT=7702\n");
  check_value(layers, Setting::kServerPort, "7702", ".env:2");
  layers.env("FOOTNOTE_PORT", "7703");
  check_value(layers, Setting::kServerPort, "7703", "environment variable FOOTNOTE_PORT");
  layers.flag(Setting::kServerPort, "7704");
  check_value(layers, Setting::kServerPort, "7704", "flag --port");
}

TEST(Settings, ConfigFlagReplacesTheDefaultFile) {
  Layers layers;
  layers.toml("corpus = \"a\"\n").file("other.toml", "corpus = \"b\"\n");
  const std::string other = (layers.folder() / "other.toml").string();
  check_value(layers.config(other), Setting::kCorpus, "b", other + ":1");
}

TEST(Settings, MissingConfigFileIsAnError) {
  const auto settings = Layers().config("/nowhere/footnote.toml").load();
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(settings.error().message, HasSubstr("/nowhere/footnote.toml"));
}

TEST(Settings, UnknownKeysNameTheNearestOne) {
  check_error(Layers().toml("[sever]\nport = 1\n"), "footnote.toml:2: unknown setting 'sever.port'; did you mean server.port?");
  check_error(Layers().toml("port = 1\n"), "footnote.toml:1: unknown setting 'port'; did you mean server.port?");
  check_error(Layers().toml("[zebra]\nstripes = 1\n"),
              "footnote.toml:2: unknown setting 'zebra.stripes'; `footnote config` lists the settings");
}

TEST(Settings, WrongTypesNameKeyAndPlace) {
  check_error(Layers().toml("[server]\nport = \"80\"\n"), "server.port: expected an integer, found a string (from footnote.toml:2)");
  check_error(Layers().toml("data = 5\n"), "data: expected a string, found an integer (from footnote.toml:1)");
  check_error(Layers().toml("[server]\nport = [1, 2]\n"), "server.port: expected an integer, found an array (from footnote.toml:2)");
  check_error(Layers().toml("[server]\ndrain = 1.5\n"),
              "server.drain: expected a duration such as \"10s\", found a float (from footnote.toml:2)");
  check_error(Layers().env("FOOTNOTE_PORT", "http"), "server.port: 'http' is not an integer (from environment variable FOOTNOTE_PORT)");
}

TEST(Settings, RangesNameKeyAndPlace) {
  check_error(Layers().flag(Setting::kServerPort, "65536"), "server.port: 65536 is not between 0 and 65535 (from flag --port)");
  check_error(Layers().dot_env("FOOTNOTE_PORT=-1"), "server.port: -1 is not between 0 and 65535 (from .env:1)");
  check_error(Layers().env("FOOTNOTE_COLOR", "pink"),
              "color: 'pink' is not one of auto, always or never (from environment variable FOOTNOTE_COLOR)");
  check_error(Layers().env("FOOTNOTE_DRAIN", "2h"),
              "server.drain: 2h is not between 0 and 3600000 ms (from environment variable FOOTNOTE_DRAIN)");
  check_error(Layers().env("FOOTNOTE_DRAIN", "soon"),
              "server.drain: 'soon' is not a duration; write 500ms, 10s, 2m, 1h or 7d (from environment variable FOOTNOTE_DRAIN)");
}

TEST(Settings, Numbers) {
  EXPECT_DOUBLE_EQ(Layers().load()->number(Setting::kKeywordK1), 0.9);
  EXPECT_DOUBLE_EQ(Layers().toml("[keyword]\nk1 = 1.25\nb = 1\n").load()->number(Setting::kKeywordK1), 1.25);
  EXPECT_DOUBLE_EQ(Layers().toml("[keyword]\nk1 = 1.25\nb = 1\n").load()->number(Setting::kKeywordB), 1);
  check_error(Layers().toml("[keyword]\nk1 = \"1\"\n"), "keyword.k1: expected a number, found a string (from footnote.toml:2)");
  check_error(Layers().env("FOOTNOTE_KEYWORD_B", "1.01"),
              "keyword.b: 1.01 is not between 0 and 1 (from environment variable FOOTNOTE_KEYWORD_B)");
  check_error(Layers().env("FOOTNOTE_KEYWORD_B", "nan"),
              "keyword.b: nan is not between 0 and 1 (from environment variable FOOTNOTE_KEYWORD_B)");
  check_error(Layers().env("FOOTNOTE_KEYWORD_B", "half"),
              "keyword.b: 'half' is not a number (from environment variable FOOTNOTE_KEYWORD_B)");
}

TEST(Settings, BrokenFilesNameTheLine) {
  const auto toml = Layers().toml("data = \"x\"\n[server\n").load();
  ASSERT_FALSE(toml);
  EXPECT_THAT(toml.error().message, HasSubstr("footnote.toml:2: not valid TOML"));
  check_error(Layers().dot_env("FINE=1\nnot a line\n"), ".env:2: expected NAME=value");
  check_error(Layers().dot_env("A=\"open\n"), ".env:1: the quote is not closed");
}

TEST(Settings, AnEmptyVariableCountsAsUnset) {
  check_value(Layers().env("FOOTNOTE_DATA", ""), Setting::kData, "footnote-data", "default");
  check_value(Layers().dot_env("FOOTNOTE_DATA=\n"), Setting::kData, "footnote-data", "default");
}

TEST(Settings, LitellmBaseStandsInForTheBaseUrl) {
  const std::string place = "environment variable LITELLM_BASE";
  check_value(Layers().env("LITELLM_BASE", "http://h:4000"), Setting::kLlmBaseUrl, "http://h:4000/v1", place);
  check_value(Layers().env("LITELLM_BASE", "http://h:4000/v1/"), Setting::kLlmBaseUrl, "http://h:4000/v1", place);
  check_value(Layers().dot_env("LITELLM_BASE=http://h:4000"), Setting::kLlmBaseUrl, "http://h:4000/v1", ".env:1 (LITELLM_BASE)");
  check_value(Layers().env("LITELLM_BASE", "http://h").env("LLM_BASE_URL", "http://o/v1"), Setting::kLlmBaseUrl, "http://o/v1",
              "environment variable LLM_BASE_URL");
}

TEST(Settings, EmbedderBaseStandsInForTheUrlAndChoosesNoProvider) {
  check_value(Layers().env("EMBEDDER_BASE", "http://e:8082"), Setting::kEmbedderUrl, "http://e:8082", "environment variable EMBEDDER_BASE");
  check_value(Layers().env("EMBEDDER_BASE", "http://e:8082"), Setting::kEmbedderProvider, "embed-service",
              "environment variable EMBEDDER_BASE");
  check_value(Layers().env("EMBEDDER_BASE", "http://e:8082").env("EMBEDDER_PROVIDER", "openai"), Setting::kEmbedderProvider, "openai",
              "environment variable EMBEDDER_PROVIDER");
  check_value(Layers().env("EMBEDDER_URL", "http://e:8082"), Setting::kEmbedderProvider, "local", "default");
  check_value(Layers().dot_env("EMBEDDER_BASE=http://e"), Setting::kEmbedderUrl, "http://e", ".env:1 (EMBEDDER_BASE)");
  check_value(Layers().env("EMBEDDER_BASE", "http://e").env("EMBEDDER_URL", "http://o"), Setting::kEmbedderUrl, "http://o",
              "environment variable EMBEDDER_URL");
}

TEST(Settings, UnknownFootnoteNamesInDotEnvAreNoted) {
  const auto settings = Layers().dot_env("PATH=/x\nFOOTNOTE_PROT=1\n").load();
  ASSERT_TRUE(settings);
  EXPECT_THAT(settings->notes(), ::testing::ElementsAre(".env:2: no setting is called FOOTNOTE_PROT"));
}

TEST(Settings, Durations) {
  EXPECT_EQ(parse_duration("10")->count(), 10'000);
  EXPECT_EQ(parse_duration("500ms")->count(), 500);
  EXPECT_EQ(parse_duration("2m")->count(), 120'000);
  EXPECT_FALSE(parse_duration(""));
  EXPECT_FALSE(parse_duration("-1s"));
  EXPECT_FALSE(parse_duration("99999999999999999999s"));
  EXPECT_FALSE(parse_duration("10 s"));
}

TEST(DotEnv, QuotesAndComments) {
  const auto entries = parse_dot_env("# c\nexport A=1 # one\nB='x # y'\nC=\"a\\\"b\\n\" # z\nA=2\nD=a#b\n", ".env");
  ASSERT_TRUE(entries) << entries.error().message;
  std::map<std::string, std::string> values;
  for (const auto& entry : *entries) values[entry.name] = entry.value;
  EXPECT_EQ(values, (std::map<std::string, std::string>{{"A", "2"}, {"B", "x # y"}, {"C", "a\"b\n"}, {"D", "a#b"}}));
}

}  // namespace
}  // namespace footnote
