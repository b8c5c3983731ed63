// The two ends of the proxy benchmark (model server and load generator), and a bare copy between them. Each is one thread over epoll, so
// that none of them becomes the bottleneck.
//
//   proxy_load upstream                     a chat completions server; prints its port
//   proxy_load copy PORT                    copies bytes between its callers and that port with one recv and one send, the minimum
//                                           cost of a proxy on this machine; prints its port
//   proxy_load load HOST PORT MODEL CONCURRENCY REQUESTS TOKENS GAP_US [SECONDS]
//                                           keeps CONCURRENCY requests in progress until REQUESTS are done or SECONDS are over; prints
//                                           JSON. The environment variable QUESTIONS names a file of questions, one per line, asked in turn
//
// A request with "stream":true is answered by max_tokens chunks, `seed` microseconds apart (0: all at once); each chunk carries the time at
// which it was sent. TOKENS 0 asks for complete answers. Linux, loopback.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fcntl.h>
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

std::int64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

[[noreturn]] void die(const char* what) {
  std::perror(what);
  std::exit(1);
}

void no_delay(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

std::int64_t number_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return 0;
  std::size_t begin = at + key.size();
  while (begin < text.size() && (text[begin] == ':' || text[begin] == ' ')) ++begin;
  return std::strtoll(text.data() + begin, nullptr, 10);
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// ---- upstream ----

struct Peer {
  int fd = -1;
  std::string in;
  std::string out;
  std::int64_t left = 0;  // tokens left in the current stream
  std::int64_t gap_ns = 0;
  std::int64_t next_ns = 0;
};

class Upstream {
 public:
  int run() {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    const int on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || listen(listener, 4096) != 0) die("listen");
    socklen_t size = sizeof address;
    getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    std::printf("%d\n", ntohs(address.sin_port));
    std::fflush(stdout);
    epoll_ = epoll_create1(0);
    epoll_event entry{};
    entry.events = EPOLLIN;
    entry.data.fd = listener;
    epoll_ctl(epoll_, EPOLL_CTL_ADD, listener, &entry);
    std::vector<epoll_event> ready(1024);
    while (true) {
      const int count = epoll_wait(epoll_, ready.data(), static_cast<int>(ready.size()), wait_ms());
      for (int i = 0; i < count; ++i) {
        if (ready[i].data.fd == listener) {
          accept_all(listener);
        } else {
          read_from(ready[i].data.fd);
        }
      }
      send_due();
    }
  }

 private:
  using Due = std::pair<std::int64_t, int>;

  int wait_ms() const {
    if (due_.empty()) return -1;
    const std::int64_t wait = due_.top().first - now_ns();
    return wait <= 0 ? 0 : static_cast<int>(wait / 1'000'000);  // busy-wait for the rest
  }

  void accept_all(int listener) {
    while (true) {
      const int fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK);
      if (fd < 0) return;
      no_delay(fd);
      peers_[fd] = std::make_unique<Peer>();
      peers_[fd]->fd = fd;
      epoll_event entry{};
      entry.events = EPOLLIN;
      entry.data.fd = fd;
      epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &entry);
    }
  }

  void read_from(int fd) {
    const auto found = peers_.find(fd);
    if (found == peers_.end()) return;
    Peer& peer = *found->second;
    char buffer[65536];
    const ssize_t size = read(fd, buffer, sizeof buffer);
    if (size <= 0) {
      if (size < 0 && errno == EAGAIN) return;
      close(fd);
      peers_.erase(found);
      return;
    }
    peer.in.append(buffer, static_cast<std::size_t>(size));
    const std::size_t head_end = peer.in.find("\r\n\r\n");
    if (head_end == std::string::npos) return;
    const std::string head = lower(std::string_view(peer.in).substr(0, head_end));
    const auto length = static_cast<std::size_t>(number_after(head, "content-length"));
    if (peer.in.size() < head_end + 4 + length) return;
    const std::string body = peer.in.substr(head_end + 4, length);
    peer.in.erase(0, head_end + 4 + length);
    answer(peer, head, body);
  }

  void answer(Peer& peer, const std::string& head, const std::string& body) {
    const bool streamed = body.find("\"stream\":true") != std::string::npos || body.find("\"stream\": true") != std::string::npos;
    if (head.starts_with("get "))
      return whole(peer, R"({"object":"list","data":[{"id":"bench","object":"model","created":1,"owned_by":"b"}]})");
    if (!streamed) {
      return whole(
          peer,
          R"({"id":"c1","object":"chat.completion","created":1,"model":"bench","choices":[{"index":0,"message":{"role":"assistant","content":")" +
              std::string(400, 'x') +
              R"("},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}})");
    }
    peer.left = std::max<std::int64_t>(1, number_after(body, "\"max_tokens\""));
    peer.gap_ns = number_after(body, "\"seed\"") * 1000;
    put(peer, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n");
    peer.next_ns = now_ns();
    if (peer.gap_ns == 0) {
      while (peer.left > 0) token(peer);
    } else {
      token(peer);
      if (peer.left > 0) due_.push({peer.next_ns, peer.fd});
    }
  }

  void whole(Peer& peer, const std::string& body) {
    put(peer, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }

  void token(Peer& peer) {
    const bool last = --peer.left == 0;
    char data[512];
    const int size = std::snprintf(
        data, sizeof data,
        "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"bench\",\"choices\":[{\"index\":0,"
        "\"delta\":{\"content\":\"@%lld@\"},\"finish_reason\":%s}]}\n\n%s",
        static_cast<long long>(now_ns()), last ? "\"stop\"" : "null", last ? "data: [DONE]\n\n" : "");
    char framed[640];
    const int total = std::snprintf(framed, sizeof framed, "%x\r\n%.*s\r\n%s", size, size, data, last ? "0\r\n\r\n" : "");
    put(peer, std::string_view(framed, static_cast<std::size_t>(total)));
    peer.next_ns += peer.gap_ns;
  }

  void send_due() {
    const std::int64_t now = now_ns();
    while (!due_.empty() && due_.top().first <= now) {
      const int fd = due_.top().second;
      due_.pop();
      const auto found = peers_.find(fd);
      if (found == peers_.end() || found->second->left == 0) continue;
      token(*found->second);
      if (found->second->left > 0) due_.push({found->second->next_ns, fd});
    }
  }

  static void put(Peer& peer, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t size = send(peer.fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (size > 0) {
        bytes.remove_prefix(static_cast<std::size_t>(size));
      } else if (errno != EAGAIN) {
        return;  // disconnected: the next read reports it
      }
    }
  }

  int epoll_ = -1;
  std::map<int, std::unique_ptr<Peer>> peers_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
};

// ---- copy ----

class Copy {
 public:
  int run(int port) {
    epoll_ = epoll_create1(0);
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listener, 4096) != 0) die("listen");
    getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    std::printf("%d\n", ntohs(address.sin_port));
    std::fflush(stdout);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    watch(listener);
    std::vector<epoll_event> ready(1024);
    while (true) {
      const int count = epoll_wait(epoll_, ready.data(), static_cast<int>(ready.size()), -1);
      for (int i = 0; i < count; ++i) {
        if (ready[i].data.fd == listener) {
          accept_all(listener, address);
        } else {
          pass_on(ready[i].data.fd);
        }
      }
    }
  }

 private:
  void watch(int fd) const {
    epoll_event entry{};
    entry.events = EPOLLIN;
    entry.data.fd = fd;
    epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &entry);
  }

  void accept_all(int listener, const sockaddr_in& upstream) {
    while (true) {
      const int near = accept4(listener, nullptr, nullptr, 0);
      if (near < 0) return;
      const int far = socket(AF_INET, SOCK_STREAM, 0);
      if (connect(far, reinterpret_cast<const sockaddr*>(&upstream), sizeof upstream) != 0) die("connect");
      other_[near] = far;
      other_[far] = near;
      for (const int fd : {near, far}) {
        no_delay(fd);
        watch(fd);
      }
    }
  }

  void pass_on(int fd) {
    const auto found = other_.find(fd);
    if (found == other_.end()) return;  // closed in this turn
    const int other = found->second;
    char buffer[16384];
    const ssize_t size = recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (size < 0 && errno == EAGAIN) return;
    if (size > 0 && send(other, buffer, static_cast<std::size_t>(size), MSG_NOSIGNAL) == size) return;
    for (const int end : {fd, other}) {
      other_.erase(end);
      close(end);
    }
  }

  int epoll_ = -1;
  std::unordered_map<int, int> other_;
};

// ---- load ----

struct Ask {
  std::string host;
  int port = 0;
  std::string model;
  int concurrency = 1;
  std::int64_t requests = 1;
  std::int64_t tokens = 0;
  std::int64_t gap_us = 0;
  double seconds = 1e9;
};

struct Caller {
  int fd = -1;
  std::string in;
  std::int64_t asked_ns = 0;
  std::int64_t first_ns = 0;
  std::int64_t last_token_ns = 0;
  std::size_t scanned = 0;
};

class Load {
 public:
  explicit Load(Ask ask) : ask_(std::move(ask)) {
    for (const std::string& question : read_questions()) requests_.push_back(render(question));
  }

  static std::vector<std::string> read_questions() {
    std::vector<std::string> out;
    const char* path = std::getenv("QUESTIONS");
    std::ifstream file(path == nullptr ? "" : path);
    for (std::string line; std::getline(file, line);) {
      std::erase_if(line, [](char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; });
      if (!line.empty()) out.push_back(line);
    }
    if (out.empty()) out.emplace_back("How long does the warranty of the pump last?");
    return out;
  }

  std::string render(const std::string& question) const {
    std::string body = "{\"model\":\"" + ask_.model + "\",\"messages\":[{\"role\":\"user\",\"content\":\"" + question + "\"}]";
    if (ask_.tokens > 0) {
      body += ",\"stream\":true,\"max_tokens\":" + std::to_string(ask_.tokens) + ",\"seed\":" + std::to_string(ask_.gap_us);
    }
    body += "}";
    return "POST /v1/chat/completions HTTP/1.1\r\nhost: " + ask_.host + ":" + std::to_string(ask_.port) +
           "\r\nauthorization: Bearer sk-bench\r\ncontent-type: application/json\r\ncontent-length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
  }

  int run() {
    epoll_ = epoll_create1(0);
    const std::int64_t begin = now_ns();
    end_ns_ = begin + static_cast<std::int64_t>(ask_.seconds * 1e9);
    for (int i = 0; i < ask_.concurrency; ++i) open();
    std::vector<epoll_event> ready(1024);
    while (under_way_ > 0 && now_ns() < end_ns_ + 5'000'000'000LL) {
      const int count = epoll_wait(epoll_, ready.data(), static_cast<int>(ready.size()), 100);
      for (int i = 0; i < count; ++i) read_from(*callers_[static_cast<std::size_t>(ready[i].data.u32)]);
    }
    const double took = static_cast<double>(now_ns() - begin) / 1e9;
    std::printf(
        "{\"done\":%lld,\"errors\":%lld,\"tokens\":%lld,\"seconds\":%.3f,\"total\":%s,\"first\":%s,\"gap\":%s,\"transit\":%s,\"cpu\":%.3f}"
        "\n",
        static_cast<long long>(done_), static_cast<long long>(errors_), static_cast<long long>(gaps_.size()), took,
        summary(totals_).c_str(), summary(firsts_).c_str(), summary(gaps_).c_str(), summary(transits_).c_str(),
        static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
    return 0;
  }

 private:
  void open() {
    auto caller = std::make_unique<Caller>();
    caller->fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(ask_.port));
    inet_pton(AF_INET, ask_.host.c_str(), &address.sin_addr);
    if (connect(caller->fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) die("connect");
    no_delay(caller->fd);
    epoll_event entry{};
    entry.events = EPOLLIN;
    entry.data.u32 = static_cast<std::uint32_t>(callers_.size());
    epoll_ctl(epoll_, EPOLL_CTL_ADD, caller->fd, &entry);
    callers_.push_back(std::move(caller));
    ask(*callers_.back());
  }

  void ask(Caller& caller) {
    if (asked_ >= ask_.requests || now_ns() >= end_ns_) {
      close(caller.fd);
      return;
    }
    ++asked_;
    ++under_way_;
    caller.in.clear();
    caller.scanned = 0;
    caller.first_ns = caller.last_token_ns = 0;
    caller.asked_ns = now_ns();
    const std::string& request = requests_[static_cast<std::size_t>(asked_) % requests_.size()];
    if (send(caller.fd, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) die("send");
  }

  void read_from(Caller& caller) {
    char buffer[65536];
    const ssize_t size = recv(caller.fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (size < 0 && errno == EAGAIN) return;
    const std::int64_t now = now_ns();
    if (size <= 0) {
      ++errors_;
      --under_way_;
      close(caller.fd);
      return;
    }
    caller.in.append(buffer, static_cast<std::size_t>(size));
    const std::size_t head_end = caller.in.find("\r\n\r\n");
    if (head_end == std::string::npos) return;
    if (caller.first_ns == 0 && caller.in.size() > head_end + 4) {
      caller.first_ns = now;
      if (!caller.in.starts_with("HTTP/1.1 200")) {
        if (errors_++ == 0) std::fprintf(stderr, "%.300s\n", caller.in.c_str());
      }
    }
    take_tokens(caller, now);
    if (!complete(caller, head_end)) return;
    totals_.push_back(now - caller.asked_ns);
    firsts_.push_back(caller.first_ns - caller.asked_ns);
    ++done_;
    --under_way_;
    ask(caller);
  }

  static bool complete(const Caller& caller, std::size_t head_end) {
    const std::string head = lower(std::string_view(caller.in).substr(0, head_end));
    if (head.find("transfer-encoding") != std::string::npos) return caller.in.ends_with("0\r\n\r\n");
    return caller.in.size() >= head_end + 4 + static_cast<std::size_t>(number_after(head, "content-length"));
  }

  void take_tokens(Caller& caller, std::int64_t now) {
    while (true) {
      const std::size_t begin = caller.in.find('@', caller.scanned);
      if (begin == std::string::npos) return;
      const std::size_t end = caller.in.find('@', begin + 1);
      if (end == std::string::npos) return;
      transits_.push_back(now - std::strtoll(caller.in.c_str() + begin + 1, nullptr, 10));
      if (caller.last_token_ns != 0) gaps_.push_back(now - caller.last_token_ns);
      caller.last_token_ns = now;
      caller.scanned = end + 1;
    }
  }

  static std::string summary(std::vector<std::int64_t>& values) {
    if (values.empty()) return "null";
    std::sort(values.begin(), values.end());
    const auto at = [&](double share) {
      return static_cast<double>(values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))]) / 1e6;
    };
    char out[128];
    std::snprintf(out, sizeof out, "{\"p50\":%.4f,\"p99\":%.4f}", at(0.5), at(0.99));
    return out;
  }

  const Ask ask_;
  std::vector<std::string> requests_;
  int epoll_ = -1;
  std::int64_t end_ns_ = 0;
  std::vector<std::unique_ptr<Caller>> callers_;
  std::int64_t asked_ = 0, done_ = 0, errors_ = 0, under_way_ = 0;
  std::vector<std::int64_t> totals_, firsts_, gaps_, transits_;  // nanoseconds
};

}  // namespace

int main(int count, char** words) {
  if (count == 2 && std::string_view(words[1]) == "upstream") return Upstream().run();
  if (count == 3 && std::string_view(words[1]) == "copy") return Copy().run(std::atoi(words[2]));
  if (count >= 9 && std::string_view(words[1]) == "load") {
    Ask ask{words[2], std::atoi(words[3]), words[4], std::atoi(words[5]), std::atoll(words[6]), std::atoll(words[7]), std::atoll(words[8])};
    if (count > 9) ask.seconds = std::atof(words[9]);
    return Load(ask).run();
  }
  std::fprintf(stderr, "usage: proxy_load upstream | copy PORT | load HOST PORT MODEL CONCURRENCY REQUESTS TOKENS GAP_US [SECONDS]\n");
  return 2;
}
