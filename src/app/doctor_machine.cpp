#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <numeric>
#include <thread>

#include "app/compose_models.h"
#include "app/doctor.h"
#include "base/text.h"
#include "engine/cpu/cpu_level.h"
#include "http/url.h"
#include "models/folder.h"
#include "providers/local/local_embedder.h"
#include "providers/sqlite/data_folder.h"
#include "retrieve/score_model.h"

namespace footnote::app {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kDiskLow = 1'000'000'000;
constexpr std::uint64_t kDiskTooLow = 100'000'000;

/// The folder itself or its nearest existing parent.
fs::path existing_parent(const fs::path& path) {
  std::error_code error;
  for (fs::path at = fs::absolute(path, error); !at.empty(); at = at.parent_path()) {
    if (fs::exists(at, error)) return at;
    if (at == at.parent_path()) break;
  }
  return "/";
}

double cosine(const Embedding& a, const Embedding& b) {
  const auto& x = a.windows.front().values;
  const auto& y = b.windows.front().values;
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

bool port_is_free(const std::string& host, std::uint16_t port) {
  const bool v6 = host.find(':') != std::string::npos;
  const int fd = ::socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return true;
  const int yes = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  int bound = 0;
  if (v6) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(port);
    address.sin6_addr = in6addr_loopback;
    bound = ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  } else {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bound = ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
  ::close(fd);
  return bound == 0;
}

}  // namespace

std::vector<cli::Check> check_machine(const fs::path& data) {
  const std::size_t cores = std::thread::hardware_concurrency();
  const auto memory = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGE_SIZE));
  cli::Check machine{"machine",
                     cli::Health::kOk,
                     fmt::format("{} cores, {} memory", cores, human_bytes(memory)),
                     {},
                     {{"cores", cores}, {"memory_bytes", memory}}};

  std::error_code error;
  const fs::path at = existing_parent(data);
  const auto space = fs::space(at, error);
  cli::Check disk{"disk",
                  cli::Health::kOk,
                  fmt::format("{} free at {}", human_bytes(space.available), at.string()),
                  {},
                  {{"free_bytes", space.available}}};
  if (error) {
    disk = {"disk", cli::Health::kNote, fmt::format("{}: {}", at.string(), error.message()), {}, {}};
  } else if (space.available < kDiskTooLow) {
    disk.health = cli::Health::kBroken;
    disk.fix = "free some space: a commit needs it";
  } else if (space.available < kDiskLow) {
    disk.health = cli::Health::kNote;
    disk.fix = "free some space soon";
  }
  return {std::move(machine), std::move(disk)};
}

cli::Check check_cpu(const Settings& settings) {
  std::vector<std::string> usable;
  for (const cpu::CpuLevel level : cpu::usable_cpu_levels()) usable.emplace_back(cpu::to_string(level));
  const std::string& wanted = settings.text(Setting::kEngineCpu);
  const std::string chosen = wanted == "auto" ? (usable.empty() ? "none" : usable.back()) : wanted;
  cli::Check check{"cpu",
                   cli::Health::kOk,
                   fmt::format("level {} (these work here: {})", chosen, join(usable, ", ")),
                   {},
                   {{"level", chosen}, {"usable", JsonArray(usable.begin(), usable.end())}}};
  if (std::find(usable.begin(), usable.end(), chosen) == usable.end()) {
    check.health = cli::Health::kBroken;
    check.fix = fmt::format("engine.cpu is {} (from {}); set it to auto", wanted, settings.value(Setting::kEngineCpu).place);
  }
  return check;
}

namespace {

/// Cosines of two sentences with the same meaning, and of two unrelated ones.
struct Cosines {
  double near = 0;
  double far = 0;
  bool sound() const { return near >= far + 0.1; }
};

Result<Cosines> compare_sentences(const CallContext& call, Embedder& embedder) {
  const std::vector<std::string_view> texts{"How long is parental leave?", "The number of weeks off for new parents",
                                            "The compiler could not find the header file"};
  FOOTNOTE_TRY(const auto vectors, embedder.embed(call, texts, {}));
  return Cosines{cosine(vectors[0], vectors[1]), cosine(vectors[0], vectors[2])};
}

/// Models that are not built in only order passages: the gate does not know the scale of their scores.
void note_unknown_scale(cli::Check& check) {
  check.detail +=
      "; the scale of its scores is not known: confidence of a corpus is uncalibrated until a running server has fitted it in the "
      "background, or `footnote calibrate CORPUS`";
  check.facts["calibrated"] = false;
}

cli::Check check_remote_model(const CallContext& call, const Settings& settings) {
  const std::string& provider = settings.text(Setting::kEmbedderProvider);
  const std::string& url = settings.text(Setting::kEmbedderUrl);
  const JsonObject who{{"provider", provider}, {"url", url}};
  const std::string fix = "start that server, or set EMBEDDER_PROVIDER=local";
  Metrics metrics;
  const auto embedder = open_embedder(call, settings, metrics);
  if (!embedder) return {"model", cli::Health::kBroken, fmt::format("{} at {}: {}", provider, url, embedder.error().message), fix, who};
  const auto cosines = compare_sentences(call, *embedder->port);
  if (!cosines) return {"model", cli::Health::kBroken, fmt::format("{} at {}: {}", provider, url, cosines.error().message), fix, who};
  const EmbeddingSpace space = embedder->port->space();
  cli::Check check{"model",
                   cli::Health::kOk,
                   fmt::format("{} at {}: {}, {} numbers; paraphrase {:.2f}, unrelated {:.2f}", provider, url, space.model_id,
                               space.dimension, cosines->near, cosines->far),
                   {},
                   who};
  check.facts["model"] = space.model_id;
  check.facts["dimension"] = space.dimension;
  if (space.model_id != retrieve::kBuiltInEmbedder) note_unknown_scale(check);
  if (!cosines->sound()) {
    check.health = cli::Health::kBroken;
    check.fix = "its vectors do not distinguish texts; is it an embedding model?";
  }
  return check;
}

}  // namespace

cli::Check check_model(const CallContext& call, const Settings& settings) {
  if (models::embeds_elsewhere(settings)) return check_remote_model(call, settings);
  const auto folder = models::find_model_folder(settings);
  const std::string command(models::command_that_brings(models::model_folder_name(settings.text(Setting::kModelsName))));
  if (!folder) return {"model", cli::Health::kBroken, folder.error().message, fmt::format("run `{}`", command), {}};
  const auto embedder = open_local_embedder(settings);
  if (!embedder) return {"model", cli::Health::kBroken, embedder.error().message, fmt::format("run `{}` to bring it again", command), {}};
  const auto cosines = compare_sentences(call, **embedder);
  if (!cosines) return {"model", cli::Health::kBroken, cosines.error().message, {}, {}};
  const auto [near, far] = *cosines;
  const EmbeddingSpace space = (*embedder)->space();
  cli::Check check{
      "model",
      cli::Health::kOk,
      fmt::format("{}, {} numbers, {} tokens, {} threads, at {}; paraphrase {:.2f}, unrelated {:.2f}", space.model_id, space.dimension,
                  (*embedder)->encoder().tokens_max(), (*embedder)->encoder().threads(), folder->string(), near, far),
      {},
      {{"provider", "local"},
       {"model", space.model_id},
       {"path", folder->string()},
       {"dimension", space.dimension},
       {"paraphrase", near},
       {"unrelated", far}}};
  std::error_code ignored;
  if (!fs::exists(*folder / "checksums.sha256", ignored)) {
    check.detail += "; no checksums.sha256, so its bytes were not checked";
    check.facts["checksum"] = "absent";
  } else {
    check.detail += "; checksums match";
    check.facts["checksum"] = "ok";
  }
  if (!cosines->sound()) {
    check.health = cli::Health::kBroken;
    check.fix = "the encoder gives wrong numbers on this machine; try FOOTNOTE_CPU=portable and report it";
  }
  return check;
}

cli::Check check_reranker(const CallContext& call, const Settings& settings) {
  const std::string& provider = settings.text(Setting::kRerankerProvider);
  const std::string& url = settings.text(Setting::kRerankerUrl);
  Metrics metrics;
  const auto reranker = open_reranker(settings, metrics);
  if (!reranker)
    return {"reranker", cli::Health::kBroken, reranker.error().message, "set RERANKER_PROVIDER=none", {{"provider", provider}}};
  if (!reranker->provided.port) return {"reranker", cli::Health::kOk, "none configured", {}, {{"provider", provider}}};
  const std::string_view passages[] = {"New parents take 16 weeks off.", "The compiler could not find the header file."};
  const auto scores = reranker->provided.port->rerank(call, "How long is parental leave?", passages);
  const std::string place = url.empty() ? provider : fmt::format("{} at {}", provider, url);
  cli::Check check{"reranker", cli::Health::kOk, place, {}, {{"provider", provider}, {"url", url}}};
  if (!scores) {
    check.health = cli::Health::kNote;
    check.detail += fmt::format("; {}", scores.error().message);
    check.fix = "start that server, or set RERANKER_PROVIDER=none";
  } else {
    check.detail += fmt::format("; related {:.2f}, unrelated {:.2f}", (*scores)[0].calibrated, (*scores)[1].calibrated);
  }
  if (reranker_name(settings) != retrieve::kBuiltInJudge) note_unknown_scale(check);
  return check;
}

cli::Check check_port(const Settings& settings) {
  const std::string& host = settings.text(Setting::kServerHost);
  const auto port = static_cast<std::uint16_t>(settings.integer(Setting::kServerPort));
  const std::string place = fmt::format("{}:{}", host, port);
  cli::Check check{"port", cli::Health::kOk, fmt::format("{} is free", place), {}, {{"port", port}}};
  if (port == 0 || port_is_free(host, port)) return check;
  const auto holder = DataFolder::holder(settings.path(Setting::kData));
  const auto url = holder && *holder ? http::parse_url((*holder)->url) : Result<http::Url>(fail(ErrorCode::kNotFound, "none"));
  if (url && url->port == port) {
    check.detail = fmt::format("the server of this data folder listens on {}", place);
    return check;
  }
  check.health = cli::Health::kNote;
  check.detail = fmt::format("another program listens on {}", place);
  check.fix = "serve on another one: --port or FOOTNOTE_PORT";
  return check;
}

cli::Check check_llm_endpoint(const CallContext& call, const Settings& settings) {
  if (!settings.is_set(Setting::kLlmBaseUrl)) {
    return {"llm",
            cli::Health::kOk,
            "none configured: the built-in reader answers by quoting (LLM_BASE_URL would set one)",
            {},
            {{"configured", false}}};
  }
  const std::string& base = settings.text(Setting::kLlmBaseUrl);
  cli::Check check{"llm",
                   cli::Health::kOk,
                   fmt::format("{} at {}", settings.text(Setting::kLlmModel), base),
                   {},
                   {{"configured", true}, {"base_url", base}}};
  if (!settings.is_set(Setting::kLlmModel)) {
    check.health = cli::Health::kNote;
    check.detail = fmt::format("{} is configured for the proxy, but no model for answers of our own", base);
    check.fix = "set LLM_MODEL";
    return check;
  }
  Metrics metrics;
  http::Client client({.connect_timeout = std::chrono::seconds{3}}, metrics);
  http::ClientRequest request{.method = http::Method::kGet, .url = http::join_url(base, "/models"), .headers = {}, .body = {}};
  if (settings.is_set(Setting::kLlmApiKey)) request.headers.set("authorization", "Bearer " + settings.text(Setting::kLlmApiKey));
  const auto response = client.fetch(call.narrowed(std::chrono::seconds{5}), request);
  if (!response) {
    check.health = cli::Health::kNote;
    check.detail += fmt::format("; it does not answer: {}", response.error().message);
    check.fix = "start it, or unset LLM_BASE_URL";
  } else if (response->status == 401 || response->status == 403) {
    check.health = cli::Health::kNote;
    check.detail += fmt::format("; it refuses the key (status {})", response->status);
    check.fix = "set LLM_API_KEY";
  }
  return check;
}

}  // namespace footnote::app
