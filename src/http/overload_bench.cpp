// Measures a server under ten times the load it can serve.
//
//   overload_bench [--seconds N] [--rounds N] [--streams N]      its own server: 4 workers, 40 ms a request
//   overload_bench [--seconds N] [--rounds N] --port P PATH JSON   a running server on this machine, POST
//
// Each round first measures the peak: a few clients, each sending its next request as soon as it has a response. Then ten times that rate,
// sent on schedule by clients that ignore Retry-After. Last, one client again, until it is served. The first seconds of each phase are not
// counted, because the queue has to fill.

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"
#include "http/server.h"

namespace footnote::http {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int kPeakClients = 16;
constexpr double kOverload = 10;
constexpr Seconds kRamp{6};
constexpr std::size_t kConnectionsMax = 12'000;

struct Target {
  std::uint16_t port = 0;
  std::string request;
};

struct Tally {
  std::vector<double> ok_ms;
  std::vector<double> refused_ms;
  std::map<std::string, int> retry_after;
  std::size_t sent = 0;
  std::size_t unsent = 0;  // no connection was free
  std::size_t failed = 0;  // closed, or another status
};

struct Client {
  int socket = -1;
  std::string input;
  Clock::time_point sent;
  bool waiting = false;
};

std::string header_of(std::string_view head, std::string_view name) {
  const std::size_t at = head.find(fmt::format("\r\n{}: ", name));
  if (at == std::string_view::npos) return {};
  const std::size_t start = at + name.size() + 4;
  return std::string(head.substr(start, head.find("\r\n", start) - start));
}

/// Sends requests and reads responses on one thread. Each client has at most one request in progress.
class Driver {
 public:
  explicit Driver(Target target) : target_(std::move(target)), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}
  ~Driver() {
    for (const auto& client : clients_) ::close(client->socket);
    ::close(epoll_);
  }

  /// Keeps `clients` requests in progress.
  Tally closed_loop(int clients, Seconds ramp, Seconds time) {
    closed_ = true;
    for (int i = 0; i < clients; ++i) send_one();
    for (const Seconds part : {ramp, time}) {
      tally_ = {};
      const auto start = Clock::now();
      while (Clock::now() - start < part) poll_once(std::chrono::milliseconds{10});
    }
    closed_ = false;
    return tally_;
  }

  /// Sends `rate` requests a second, on schedule.
  Tally open_loop(double rate, Seconds ramp, Seconds time) {
    for (const Seconds part : {ramp, time}) {
      tally_ = {};
      const auto start = Clock::now();
      Seconds passed{0};
      for (std::size_t due = 0; passed < part; passed = Clock::now() - start) {
        for (const auto now_due = static_cast<std::size_t>(passed.count() * rate); due < now_due; ++due) send_one();
        poll_once(std::chrono::milliseconds{1});
      }
    }
    return tally_;
  }

  /// Sends `requests`, each on its own connection, and reads nothing.
  void hold(int requests) {
    for (int i = 0; i < requests; ++i) send_one();
  }

  /// Waits for requests in progress, uncounted.
  void settle(Seconds patience) {
    const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(patience);
    while (free_.size() < clients_.size() && Clock::now() < end) poll_once(std::chrono::milliseconds{10});
  }

 private:
  Client* take_client() {
    if (!free_.empty()) {
      Client* client = free_.front();
      free_.pop_front();
      return client;
    }
    if (clients_.size() >= kConnectionsMax) return nullptr;
    clients_.push_back(std::make_unique<Client>());
    return connect(*clients_.back()) ? clients_.back().get() : nullptr;
  }

  bool connect(Client& client) {
    client.socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(target_.port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(client.socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return false;
    const int yes = 1;
    ::setsockopt(client.socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    ::fcntl(client.socket, F_SETFL, O_NONBLOCK);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = &client;
    return ::epoll_ctl(epoll_, EPOLL_CTL_ADD, client.socket, &event) == 0;
  }

  void send_one() {
    Client* client = take_client();
    if (client == nullptr) {
      ++tally_.unsent;
      return;
    }
    client->sent = Clock::now();
    client->waiting = true;
    ++tally_.sent;
    if (::send(client->socket, target_.request.data(), target_.request.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(target_.request.size())) {
      reconnect(*client);
    }
  }

  void reconnect(Client& client) {
    ++tally_.failed;
    ::close(client.socket);
    client.input.clear();
    client.waiting = false;
    if (connect(client)) free_.push_back(&client);
  }

  void poll_once(std::chrono::milliseconds time) {
    epoll_event events[256];
    const int count = ::epoll_wait(epoll_, events, std::size(events), static_cast<int>(time.count()));
    for (int i = 0; i < count; ++i) read_from(*static_cast<Client*>(events[i].data.ptr));
  }

  void read_from(Client& client) {
    char bytes[16'384];
    const ssize_t size = ::recv(client.socket, bytes, sizeof bytes, 0);
    if (size <= 0) return reconnect(client);
    client.input.append(bytes, static_cast<std::size_t>(size));
    const std::size_t end = client.input.find("\r\n\r\n");
    if (end == std::string::npos) return;
    const std::string_view head(client.input.data(), end + 2);
    const std::size_t length = std::strtoull(header_of(head, "content-length").c_str(), nullptr, 10);
    if (client.input.size() < end + 4 + length) return;
    count_answer(client, head);
    client.input.clear();
    client.waiting = false;
    free_.push_back(&client);
    if (closed_) send_one();
  }

  void count_answer(const Client& client, std::string_view head) {
    const double ms = Seconds(Clock::now() - client.sent).count() * 1e3;
    if (head.substr(9, 3) == "200") {
      tally_.ok_ms.push_back(ms);
    } else if ((head.substr(9, 3) == "503" || head.substr(9, 3) == "429") && !header_of(head, "retry-after").empty()) {
      tally_.refused_ms.push_back(ms);
      ++tally_.retry_after[header_of(head, "retry-after")];
    } else {
      ++tally_.failed;
    }
  }

  const Target target_;
  const int epoll_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::deque<Client*> free_;
  Tally tally_;
  bool closed_ = false;
};

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

void report(std::string_view name, const Tally& tally, double seconds) {
  std::string waits;
  for (const auto& [value, count] : tally.retry_after) waits += fmt::format(" {}s:{}", value, count);
  fmt::print("{:9} sent {:7.0f}/s  answered {:6.1f}/s (p50 {:.0f} ms, p99 {:.0f} ms)  refused {:7.1f}/s (p50 {:.1f} ms, p99 {:.0f} ms)",
             name, static_cast<double>(tally.sent) / seconds, static_cast<double>(tally.ok_ms.size()) / seconds,
             percentile(tally.ok_ms, 0.5), percentile(tally.ok_ms, 0.99), static_cast<double>(tally.refused_ms.size()) / seconds,
             percentile(tally.refused_ms, 0.5), percentile(tally.refused_ms, 0.99));
  fmt::print("  failed {}  unsent {}{}{}\n", tally.failed, tally.unsent, waits.empty() ? "" : "  retry-after", waits);
  std::fflush(stdout);
}

/// What the server must keep: this share of its peak throughput under overload, and a client that comes afterwards is served this soon.
constexpr double kGoodputMin = 0.9;
constexpr Seconds kRecoveryMax{5};

struct Round {
  std::size_t peak = 0;
  std::size_t overload = 0;
  std::size_t failed = 0;  // Under overload: neither served nor given a Retry-After.
  Seconds recovery{0};
};

/// How long after the overload one client alone is served without a refusal.
Seconds recovery_of(const Target& target) {
  constexpr Seconds kTry{0.2};
  const auto start = Clock::now();
  for (;;) {
    Driver driver(target);
    const Tally tally = driver.closed_loop(1, Seconds{0}, kTry);
    const Seconds passed = Clock::now() - start;
    if (!tally.ok_ms.empty() && tally.refused_ms.empty() && tally.failed == 0) return passed - kTry;
    if (passed > 4 * kRecoveryMax) return passed;
  }
}

Round measure_round(const Target& target, double seconds) {
  Driver driver(target);
  const Tally peak = driver.closed_loop(kPeakClients, kRamp, Seconds{seconds});
  driver.settle(Seconds{30});
  report("peak", peak, seconds);
  const double peak_rate = static_cast<double>(peak.ok_ms.size()) / seconds;
  const Tally over = driver.open_loop(kOverload * peak_rate, kRamp, Seconds{seconds});
  report("overload", over, seconds);
  return {peak.ok_ms.size(), over.ok_ms.size(), over.failed, recovery_of(target)};
}

/// Returns 0 if the server kept its throughput under overload, sent Retry-After to everyone else, and recovered afterwards.
int measure(const Target& target, double seconds, int rounds) {
  Round sum;
  for (int i = 0; i < rounds; ++i) {
    const Round round = measure_round(target, seconds);
    sum = {sum.peak + round.peak, sum.overload + round.overload, sum.failed + round.failed, std::max(sum.recovery, round.recovery)};
  }
  const double share = static_cast<double>(sum.overload) / static_cast<double>(sum.peak);
  fmt::print(
      "goodput under {:.0f}x: {:.1f} % of peak (at least {:.0f} %), {} neither served nor told to come back, recovered after {:.1f} s (at "
      "most {:.0f} s)\n",
      kOverload, share * 100, kGoodputMin * 100, sum.failed, sum.recovery.count(), kRecoveryMax.count());
  return share >= kGoodputMin && sum.failed == 0 && sum.recovery <= kRecoveryMax ? 0 : 1;
}

Route sleeping_route() {
  Route route;
  route.pattern = "/work";
  route.handler = Handler([](const Request&, const CallContext&) {
    std::this_thread::sleep_for(std::chrono::milliseconds{40});
    return Response::text(200, "text/plain", "done");
  });
  return route;
}

/// Holds a worker until its client disconnects.
Route endless_route() {
  Route route;
  route.pattern = "/stream";
  route.handler = StreamHandler([](const Request&, const CallContext& call, ResponseStream& stream) {
    SseWriter& events = stream.start_sse({});
    while (events.send("tick") && !call.stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds{100});
  });
  return route;
}

int measure_own_server(double seconds, int rounds, int streams) {
  Metrics metrics;
  ServerOptions options;
  options.workers = 4 + static_cast<unsigned>(streams);
  auto server = Server::start(options, {sleeping_route(), endless_route()}, metrics);
  if (!server) {
    fmt::print(stderr, "{}\n", server.error().message);
    return 2;
  }
  Driver held({(*server)->port(), "GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n"});
  held.hold(streams);
  const int status = measure({(*server)->port(), "GET /work HTTP/1.1\r\nHost: localhost\r\n\r\n"}, seconds, rounds);
  fmt::print("refused at once {}, after waiting {}\n", metrics.counter("footnote_http_queue_rejected_total", "").value(),
             metrics.counter("footnote_http_queue_expired_total", "").value());
  return status;
}

void raise_descriptors() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

int run(const std::vector<std::string>& arguments) {
  double seconds = 20;
  int rounds = 1;
  int streams = 0;
  int port = 0;
  std::vector<std::string> rest;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool has_value = i + 1 < arguments.size();
    if (arguments[i] == "--seconds" && has_value) {
      seconds = std::atof(arguments[++i].c_str());
    } else if (arguments[i] == "--rounds" && has_value) {
      rounds = std::atoi(arguments[++i].c_str());
    } else if (arguments[i] == "--streams" && has_value) {
      streams = std::atoi(arguments[++i].c_str());
    } else if (arguments[i] == "--port" && has_value) {
      port = std::atoi(arguments[++i].c_str());
    } else {
      rest.push_back(arguments[i]);
    }
  }
  set_log_level(LogLevel::kOff);
  raise_descriptors();
  if (port == 0) return measure_own_server(seconds, rounds, streams);
  if (rest.size() != 2) {
    fmt::print(stderr, "usage: overload_bench [--seconds N] [--rounds N] [--streams N] [--port P PATH JSON]\n");
    return 2;
  }
  return measure({static_cast<std::uint16_t>(port),
                  fmt::format("POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
                              rest[0], rest[1].size(), rest[1])},
                 seconds, rounds);
}

}  // namespace
}  // namespace footnote::http

int main(int argc, char** argv) { return footnote::http::run({argv + 1, argv + argc}); }
