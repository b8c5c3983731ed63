// The two ends of bench/visitor_streams.py (model server and visitors). Each is one thread over epoll, so that neither becomes the
// bottleneck.
//
//   visitor_load upstream GAP_US TOKENS     a chat completions server; prints its port. Every answer consists of TOKENS tokens (words,
//                                           markers, full stops) from the sources in its prompt, one every GAP_US
//   visitor_load load PORT TOKENS_FILE QUESTIONS_FILE STREAMS RAMP_S SECONDS STALLED
//                                           the visitors: streams start over RAMP_S, each visitor asks again when its answer is
//                                           complete, and tokens are then timed for SECONDS. STALLED further visitors send one
//                                           message and stop reading after its first bytes. Prints "ramped" when timing starts, then JSON
//
// Linux, loopback.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Due = std::pair<std::int64_t, int>;
using DueQueue = std::priority_queue<Due, std::vector<Due>, std::greater<>>;

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

void watch(int epoll, int fd) {
  epoll_event entry{};
  entry.events = EPOLLIN;
  entry.data.fd = fd;
  epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &entry);
}

int wait_ms(const DueQueue& due) {
  if (due.empty()) return 100;
  const std::int64_t wait = due.top().first - now_ns();
  return wait <= 0 ? 0 : static_cast<int>(std::min<std::int64_t>((wait + 999'999) / 1'000'000, 100));
}

bool put(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(size));
    } else if (errno != EAGAIN) {
      return false;
    }
  }
  return true;
}

std::size_t length_of(std::string_view head) {
  for (const std::string_view name : {"content-length: ", "Content-Length: "}) {
    const std::size_t at = head.find(name);
    if (at != std::string_view::npos) return std::strtoull(head.data() + at + name.size(), nullptr, 10);
  }
  return 0;
}

// ---- upstream ----

/// Plain words of the source with this number in the JSON of a chat request; escaped letters become spaces.
std::vector<std::string> words_of_source(std::string_view body, int number) {
  const std::string open = "<source id=\\\"" + std::to_string(number) + "\\\"";
  std::size_t at = body.rfind(open);
  if (at == std::string_view::npos) return {};
  at = body.find('>', at);
  const std::size_t end = body.find("</source", at);
  if (at == std::string_view::npos || end == std::string_view::npos) return {};
  std::vector<std::string> words(1);
  for (std::size_t i = at + 1; i < end; ++i) {
    char c = body[i];
    if (c == '\\' && i + 1 < end) c = body[++i] == 'u' ? (i += 4, ' ') : ' ';
    const bool plain = c > ' ' && c < 0x7f && c != '"' && c != '[' && c != ']' && c != '#' && c != '&' && c != '*';
    if (plain) words.back() += c;
    if (!plain && !words.back().empty()) words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

/// An answer of that many tokens: sentences of the sources, two of three with a citation marker before their end.
std::vector<std::string> answer_to(std::string_view body, std::size_t tokens) {
  std::vector<std::string> out;
  int sentence = 0;
  for (int source = 1; out.size() < tokens; ++source) {
    std::vector<std::string> words = words_of_source(body, source);
    if (words.empty() && source == 1) words = {"I", "looked", "for", "it", "everywhere", "and", "found", "nothing."};
    if (words.empty()) {
      source = 0;
      continue;
    }
    for (std::string& word : words) {
      const bool ends = word.back() == '.' || word.back() == '!' || word.back() == '?';
      if (ends) word.pop_back();
      out.push_back((out.empty() ? "" : " ") + word);
      if (ends && ++sentence % 3 != 0) out.push_back(" [" + std::to_string(source) + "]");
      if (ends) out.emplace_back(".");
    }
  }
  out.resize(tokens);
  out.back() = ".";
  return out;
}

class Upstream {
 public:
  Upstream(std::int64_t gap_ns, std::size_t tokens) : gap_ns_(gap_ns), tokens_(tokens) {}

  int run() {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listener, 4096) != 0) die("listen");
    getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    std::printf("%d\n", ntohs(address.sin_port));
    std::fflush(stdout);
    epoll_ = epoll_create1(0);
    watch(epoll_, listener);
    std::vector<epoll_event> ready(1024);
    while (true) {
      const int count = epoll_wait(epoll_, ready.data(), static_cast<int>(ready.size()), wait_ms(due_));
      for (int i = 0; i < count; ++i) ready[i].data.fd == listener ? accept_all(listener) : read_from(ready[i].data.fd);
      send_due();
    }
  }

 private:
  struct Peer {
    std::string in;
    std::vector<std::string> tokens;
    std::size_t next = 0;
    std::int64_t next_ns = 0;
  };

  void accept_all(int listener) {
    for (int fd = 0; (fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK)) >= 0;) {
      no_delay(fd);
      peers_[fd] = {};
      watch(epoll_, fd);
    }
  }

  void read_from(int fd) {
    const auto found = peers_.find(fd);
    if (found == peers_.end()) return;
    Peer& peer = found->second;
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
    const std::size_t length = length_of(std::string_view(peer.in).substr(0, head_end));
    if (peer.in.size() < head_end + 4 + length) return;
    peer.tokens = answer_to(std::string_view(peer.in).substr(head_end + 4, length), tokens_);
    peer.in.clear();
    peer.next = 0;
    peer.next_ns = now_ns() + gap_ns_;
    put(fd, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n");
    due_.push({peer.next_ns, fd});
  }

  void send_due() {
    const std::int64_t now = now_ns();
    while (!due_.empty() && due_.top().first <= now) {
      const int fd = due_.top().second;
      due_.pop();
      const auto found = peers_.find(fd);
      if (found == peers_.end() || found->second.next >= found->second.tokens.size()) continue;
      Peer& peer = found->second;
      send_token(fd, peer);
      peer.next_ns += gap_ns_;
      if (peer.next < peer.tokens.size()) due_.push({peer.next_ns, fd});
    }
  }

  static void send_token(int fd, Peer& peer) {
    const std::string& token = peer.tokens[peer.next++];
    const bool last = peer.next == peer.tokens.size();
    std::string data =
        R"(data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"bench","choices":[{"index":0,"delta":{"content":")" +
        token + R"("},"finish_reason":)" + (last ? "\"stop\"" : "null") + "}]}\n\n" + (last ? "data: [DONE]\n\n" : "");
    char size[16];
    std::snprintf(size, sizeof size, "%zx\r\n", data.size());
    put(fd, size + data + "\r\n" + (last ? "0\r\n\r\n" : ""));
  }

  const std::int64_t gap_ns_;
  const std::size_t tokens_;
  int epoll_ = -1;
  std::map<int, Peer> peers_;
  DueQueue due_;
};

// ---- load ----

std::vector<std::string> lines_of(const char* path) {
  std::vector<std::string> out;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) out.push_back(line);
  }
  return out;
}

double percentile(std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

class Load {
 public:
  struct Ask {
    int port = 0;
    std::size_t streams = 1;
    double ramp_s = 0;
    double seconds = 10;
    std::size_t stalled = 0;
  };
  Load(Ask ask, std::vector<std::string> visitors, std::vector<std::string> questions)
      : ask_(ask), tokens_(std::move(visitors)), questions_(std::move(questions)) {
    if (tokens_.size() < ask_.streams + ask_.stalled || questions_.empty()) {
      std::fprintf(stderr, "too few visitors or questions\n");
      std::exit(1);
    }
  }

  int run() {
    epoll_ = epoll_create1(0);
    const std::int64_t began = now_ns();
    const std::size_t all = ask_.streams + ask_.stalled;
    visitors_.resize(all);
    for (std::size_t i = 0; i < all; ++i) {
      due_.push(
          {began + static_cast<std::int64_t>(ask_.ramp_s * 1e9 * static_cast<double>(i) / static_cast<double>(all)), static_cast<int>(i)});
    }
    const std::int64_t from = began + static_cast<std::int64_t>((ask_.ramp_s + 1) * 1e9);
    end_ns_ = from + static_cast<std::int64_t>(ask_.seconds * 1e9);
    std::vector<epoll_event> ready(1024);
    std::vector<char> buffer(65536);
    while (now_ns() < end_ns_) {
      const int count = epoll_wait(epoll_, ready.data(), static_cast<int>(ready.size()), wait_ms(due_));
      for (int i = 0; i < count; ++i) read_from(visitors_[ready[i].data.u64], buffer);
      const std::int64_t now = now_ns();
      if (now >= from && from_ns_ == 0) {
        from_ns_ = now;
        std::printf("ramped\n");
        std::fflush(stdout);
      }
      while (!due_.empty() && due_.top().first <= now) {
        const auto which = static_cast<std::size_t>(due_.top().second);
        due_.pop();
        ask(which);
      }
      if (from_ns_ != 0 && now >= next_look_) {
        next_look_ = now + 100'000'000;
        open_least_ = std::min(open_least_, open_);
        open_sum_ += open_;
        ++looks_;
      }
    }
    print();
    return 0;
  }

 private:
  struct Visitor {
    std::size_t number = 0;
    int fd = -1;
    std::string line;
    std::size_t asked = 0;
    std::int64_t asked_ns = 0;
    std::int64_t last_token_ns = 0;
    bool stalled = false;
    bool streaming = false;  // its first token has arrived and its end has not
  };

  void connect_to(Visitor& visitor) {
    visitor.fd = socket(AF_INET, SOCK_STREAM, 0);
    if (visitor.stalled) {
      const int little = 4096;
      setsockopt(visitor.fd, SOL_SOCKET, SO_RCVBUF, &little, sizeof little);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    // Each visitor uses its own address, because the server limits what one address may do at once.
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + static_cast<std::uint32_t>(visitor.number));
    if (bind(visitor.fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) die("bind");
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(ask_.port));
    if (connect(visitor.fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) die("connect");
    no_delay(visitor.fd);
    epoll_event entry{};
    entry.events = EPOLLIN;
    entry.data.u64 = visitor.number;
    epoll_ctl(epoll_, EPOLL_CTL_ADD, visitor.fd, &entry);
  }

  void ask(std::size_t which) {
    Visitor& visitor = visitors_[which];
    visitor.number = which;
    visitor.stalled = which >= ask_.streams;
    if (visitor.fd < 0) connect_to(visitor);
    const std::string body = R"({"message":")" + questions_[(which + visitor.asked++) % questions_.size()] + "\"}";
    visitor.asked_ns = now_ns();
    visitor.last_token_ns = 0;
    visitor.line.clear();
    put(visitor.fd, "POST /api/v1/widget/messages/stream HTTP/1.1\r\nhost: 127.0.0.1:" + std::to_string(ask_.port) +
                        "\r\norigin: http://127.0.0.1:" + std::to_string(ask_.port) + "\r\nauthorization: Bearer " + tokens_[which] +
                        "\r\ncontent-type: application/json\r\ncontent-length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }

  void read_from(Visitor& visitor, std::vector<char>& buffer) {
    const ssize_t size = recv(visitor.fd, buffer.data(), visitor.stalled ? 256 : buffer.size(), MSG_DONTWAIT);
    if (size < 0 && errno == EAGAIN) return;
    if (size <= 0) return lost(visitor);
    if (visitor.stalled) {
      epoll_ctl(epoll_, EPOLL_CTL_DEL, visitor.fd, nullptr);  // nothing more is read from it
      return;
    }
    // Chunk sizes are on their own lines, because the server ends each chunk with a frame.
    for (const char c : std::string_view(buffer.data(), static_cast<std::size_t>(size))) {
      if (c != '\n') {
        visitor.line += c;
        continue;
      }
      take_line(visitor);
      visitor.line.clear();
    }
  }

  void lost(Visitor& visitor) {
    ++errors_;
    std::fprintf(stderr, "a connection was closed\n");
    epoll_ctl(epoll_, EPOLL_CTL_DEL, visitor.fd, nullptr);
    close(visitor.fd);
    visitor.fd = -1;
    set_streaming(visitor, false);
    due_.push({now_ns() + 1'000'000'000, static_cast<int>(visitor.number)});
  }

  void set_streaming(Visitor& visitor, bool streaming) {
    if (visitor.streaming != streaming) streaming ? ++open_ : --open_;
    visitor.streaming = streaming;
  }

  void take_line(Visitor& visitor) {
    const std::string_view line = visitor.line;
    const std::int64_t now = now_ns();
    const bool counts = from_ns_ != 0;
    if (line.starts_with("HTTP/1.1 ") && !line.starts_with("HTTP/1.1 200")) {
      ++refused_;
      if (refused_ <= 3) std::fprintf(stderr, "%s\n", visitor.line.c_str());
      due_.push({now + 1'000'000'000, static_cast<int>(visitor.number)});
      return;
    }
    if (!line.starts_with("data: ")) return;
    if (line.find(R"("event":"token")") != std::string_view::npos) {
      if (visitor.last_token_ns == 0 && counts) first_ms_.push_back(static_cast<double>(now - visitor.asked_ns) / 1e6);
      if (visitor.last_token_ns >= from_ns_ && counts) gaps_ms_.push_back(static_cast<double>(now - visitor.last_token_ns) / 1e6);
      visitor.last_token_ns = now;
      set_streaming(visitor, true);
      if (counts) ++tokens_seen_;
    } else if (line.find(R"("event":"citations")") != std::string_view::npos) {
      if (visitor.last_token_ns >= from_ns_ && counts) citations_ms_.push_back(static_cast<double>(now - visitor.last_token_ns) / 1e6);
      for (std::size_t at = 0; (at = line.find(R"("support":")", at)) != std::string_view::npos;) {
        at += 11;
        ++support_[std::string(line.substr(at, line.find('"', at) - at))];
      }
    } else if (line.find(R"("event":"done")") != std::string_view::npos) {
      const bool good = line.find(R"("outcome":"answer")") != std::string_view::npos;
      ++(good ? done_ : odd_);
      if (!good && odd_ <= 3) std::fprintf(stderr, "%s\n", visitor.line.c_str());
      ask_again(visitor, now);
    } else if (line.find(R"("event":"error")") != std::string_view::npos) {
      ++errors_;
      if (errors_ <= 3) std::fprintf(stderr, "%s\n", visitor.line.c_str());
      ask_again(visitor, now);
    }
  }

  /// The last chunk of the previous answer is still to come; it is not a data line.
  void ask_again(Visitor& visitor, std::int64_t now) {
    set_streaming(visitor, false);
    due_.push({now + 1'000'000, static_cast<int>(visitor.number)});
  }

  void print() {
    std::string supports;
    for (const auto& [name, count] : support_) supports += (supports.empty() ? "\"" : ",\"") + name + "\":" + std::to_string(count);
    std::printf(
        "{\"tokens\":%zu,\"done\":%zu,\"odd\":%zu,\"errors\":%zu,\"refused\":%zu,\"open_least\":%zu,\"open_mean\":%.1f,\"gap_p50_ms\":%.2f,"
        "\"gap_p99_ms\":%.2f,\"gap_p999_ms\":%.2f,\"gap_max_ms\":%.2f,\"first_p50_ms\":%.1f,\"first_p99_ms\":%.1f,\"end_p50_ms\":%.1f,"
        "\"end_p99_ms\":%.1f,\"support\":{%s}}\n",
        tokens_seen_, done_, odd_, errors_, refused_, looks_ == 0 ? 0 : open_least_,
        looks_ == 0 ? 0 : open_sum_ / static_cast<double>(looks_), percentile(gaps_ms_, .5), percentile(gaps_ms_, .99),
        percentile(gaps_ms_, .999), percentile(gaps_ms_, 1), percentile(first_ms_, .5), percentile(first_ms_, .99),
        percentile(citations_ms_, .5), percentile(citations_ms_, .99), supports.c_str());
  }

  const Ask ask_;
  const std::vector<std::string> tokens_;
  const std::vector<std::string> questions_;
  int epoll_ = -1;
  DueQueue due_;
  std::vector<Visitor> visitors_;
  std::int64_t from_ns_ = 0, end_ns_ = 0, next_look_ = 0;
  std::size_t open_ = 0, open_least_ = 1'000'000, looks_ = 0;
  double open_sum_ = 0;
  std::size_t tokens_seen_ = 0, done_ = 0, odd_ = 0, errors_ = 0, refused_ = 0;
  std::vector<double> gaps_ms_, first_ms_, citations_ms_;
  std::map<std::string, std::size_t> support_;
};

}  // namespace

int main(int count, char** words) {
  const std::string_view mode = count > 1 ? words[1] : "";
  if (mode == "upstream" && count == 4) return Upstream(std::atoll(words[2]) * 1000, std::strtoull(words[3], nullptr, 10)).run();
  if (mode == "load" && count == 9) {
    return Load({std::atoi(words[2]), std::strtoull(words[5], nullptr, 10), std::atof(words[6]), std::atof(words[7]),
                 std::strtoull(words[8], nullptr, 10)},
                lines_of(words[3]), lines_of(words[4]))
        .run();
  }
  std::fprintf(stderr,
               "usage: visitor_load upstream GAP_US TOKENS | load PORT TOKENS_FILE QUESTIONS_FILE STREAMS RAMP_S SECONDS STALLED\n");
  return 2;
}
