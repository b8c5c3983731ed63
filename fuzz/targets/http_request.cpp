// A server connection fed by hand: for any bytes in any pieces, the server sees the same requests and sends the same responses. No request
// reaches a handler if two parsers could disagree about its length.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/json.h"
#include "base/log.h"
#include "base/utf8.h"
#include "http/connection.h"
#include "target.h"

namespace footnote::http {
namespace {

constexpr std::size_t kHeaderBytesMax = 512;
constexpr std::size_t kBodyBytesMax = 256;

std::size_t count(const Headers& headers, std::string_view name) {
  return static_cast<std::size_t>(
      std::ranges::count_if(headers, [&](const auto& field) { return Headers({{field.first, ""}}).contains(name); }));
}

void check_framing(const Request& request) {
  FOOTNOTE_ASSERT(count(request.headers, "content-length") + count(request.headers, "transfer-encoding") <= 1);
  FOOTNOTE_ASSERT(count(request.headers, "host") <= 1 && request.body.size() <= kBodyBytesMax);
  const bool chunked = request.headers.contains("transfer-encoding");
  std::size_t length = 0;
  if (const auto text = request.headers.find("content-length")) {
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), length);
    FOOTNOTE_ASSERT(error == std::errc{} && end == text->data() + text->size());
  }
  FOOTNOTE_ASSERT(chunked || request.body.size() == length);
}

JsonArray render(const NameValues& values) {
  JsonArray out;
  for (const auto& [name, value] : values) {
    FOOTNOTE_ASSERT(is_valid_utf8(name) && is_valid_utf8(value) && value.find('\0') == std::string::npos);
    out.push_back(JsonArray{name, value});
  }
  return out;
}

/// Responds with everything it received.
Response describe(const Request& request, const CallContext&) {
  FOOTNOTE_ASSERT(request.path.starts_with('/') && is_valid_utf8(request.path) && is_request_id(request.request_id));
  check_framing(request);
  JsonArray headers;
  for (const auto& [name, value] : request.headers) {
    FOOTNOTE_ASSERT(is_header_name(name) && is_header_value(value));
    headers.push_back(JsonArray{name, value});
  }
  return Response::json(200, JsonArray{to_string(request.method), request.path, render(request.path_params), render(request.query),
                                       std::move(headers), request.body});
}

Route route(Method method, std::string pattern) {
  return {.method = method,
          .pattern = std::move(pattern),
          .handler = Handler(describe),
          .lane = Lane::kInline,
          .body_bytes_max = kBodyBytesMax};
}

ServerShared& server() {
  static Metrics metrics;
  static ServerShared shared = [] {
    set_log_level(LogLevel::kOff);
    ServerOptions options;
    options.header_bytes_max = kHeaderBytesMax;
    // The id is random, and the reader below knows whether a body follows the head.
    options.decorate = [](const Request& request, Headers& headers) {
      headers.remove("x-request-id");
      if (request.method == Method::kHead) headers.set("x-head", "1");
    };
    auto router = Router::build({route(Method::kGet, "/"), route(Method::kPost, "/"), route(Method::kGet, "/a/{id}"),
                                 route(Method::kDelete, "/a/{id}"), route(Method::kPut, "/files/{path...}")});
    FOOTNOTE_ASSERT(router.has_value());
    return ServerShared(std::move(options), *std::move(router), metrics);
  }();
  return shared;
}

/// What a client receives if it sends these pieces, each after the previous one was processed, and then half-closes.
std::string converse(const std::vector<std::string_view>& pieces) {
  int ends[2] = {-1, -1};
  FOOTNOTE_ASSERT(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
  std::string received;
  {
    asio::io_context io(1);
    Tcp::socket socket(io);
    socket.assign(Tcp::v4(), ends[1]);
    const auto connection = std::make_shared<Connection>(std::move(socket), server());
    bool closed = false;
    asio::co_spawn(io, connection->run(), [&](std::exception_ptr error) {
      FOOTNOTE_ASSERT(error == nullptr);
      closed = true;
    });
    const auto receive = [&] {
      char bytes[16 << 10];
      for (ssize_t size = 0; (size = ::recv(ends[0], bytes, sizeof bytes, 0)) > 0;) received.append(bytes, static_cast<std::size_t>(size));
    };
    for (const std::string_view piece : pieces) {
      ::send(ends[0], piece.data(), piece.size(), MSG_NOSIGNAL);  // May fail if the server has closed the connection.
      io.poll();
      receive();
    }
    ::shutdown(ends[0], SHUT_WR);
    // Everything was sent, so the server has nothing left to wait for.
    int rounds = 0;
    while (!closed) {
      FOOTNOTE_ASSERT(++rounds < 100'000);
      io.poll();
      io.restart();
      receive();
    }
    receive();
  }
  ::close(ends[0]);
  return received;
}

struct Answer {
  int status = 0;
  std::string text;  ///< The head without its date, and the body.
};

/// Parses the responses of a connection; asserts that they are well-formed and that there is nothing between them.
std::vector<Answer> parse_answers(std::string_view bytes) {
  std::vector<Answer> out;
  while (!bytes.empty()) {
    // Whether 100 Continue is sent depends on whether the body had already arrived.
    if (bytes.starts_with(kContinue)) {
      bytes.remove_prefix(kContinue.size());
      continue;
    }
    const std::size_t head_end = bytes.find("\r\n\r\n");
    FOOTNOTE_ASSERT(bytes.starts_with("HTTP/1.1 ") && head_end != std::string_view::npos);
    std::string head(bytes.substr(0, head_end));
    bytes.remove_prefix(head_end + 4);
    Answer answer{std::stoi(head.substr(9, 3)), {}};
    std::size_t length = 0;
    if (const std::size_t at = head.find("\r\ncontent-length: "); at != std::string::npos) length = std::stoul(head.substr(at + 18));
    if (head.find("\r\nx-head: 1") != std::string::npos) length = 0;
    const std::size_t date = head.find("\r\ndate: ");
    head.erase(date, head.find("\r\n", date + 2) - date);
    FOOTNOTE_ASSERT(length <= bytes.size());
    answer.text = head + "\n" + std::string(bytes.substr(0, length));
    bytes.remove_prefix(length);
    out.push_back(std::move(answer));
  }
  return out;
}

/// The server closed the connection: only what came before matters.
bool is_refusal(const Answer& answer) { return answer.status == 400 || answer.status == 413 || answer.status == 431; }

/// Depending on the pieces, a request with several faults (including exceeded limits) may be refused because of one or the other. So the
/// text of a refusal may differ, but not that it was refused, nor anything before it. Far below the limits its status does not differ
/// either.
void check_same(const std::vector<Answer>& whole, const std::vector<Answer>& sliced, bool below_bounds) {
  for (std::size_t i = 0; i < std::max(whole.size(), sliced.size()); ++i) {
    FOOTNOTE_ASSERT(i < whole.size() && i < sliced.size());
    if (!below_bounds && (is_refusal(whole[i]) || is_refusal(sliced[i]))) return;
    FOOTNOTE_ASSERT(whole[i].status == sliced[i].status);
    FOOTNOTE_ASSERT(is_refusal(whole[i]) || whole[i].text == sliced[i].text);
  }
}

}  // namespace
}  // namespace footnote::http

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace footnote;
  if (size > (4 << 10)) return 0;
  const std::string_view bytes = fuzz::as_text(data, size);
  const auto whole = http::parse_answers(http::converse({bytes}));
  const auto sliced = http::parse_answers(http::converse(fuzz::random_pieces(bytes)));
  http::check_same(whole, sliced, size < http::kBodyBytesMax);
  return 0;
}
