#include "api/chat_upstream.h"

#include <algorithm>
#include <array>
#include <limits>

#include "api/chat_wire.h"
#include "api/error_mapping.h"
#include "base/ids.h"
#include "base/text.h"
#include "http/url.h"

namespace footnote::api {

namespace {

/// Hop-by-hop headers, and those that each sender sets itself.
constexpr std::array<std::string_view, 14> kHopHeaders = {"connection",
                                                          "keep-alive",
                                                          "transfer-encoding",
                                                          "content-length",
                                                          "te",
                                                          "trailer",
                                                          "upgrade",
                                                          "expect",
                                                          "host",
                                                          "date",
                                                          "proxy-authenticate",
                                                          "proxy-authorization",
                                                          "proxy-connection",
                                                          "http2-settings"};
/// Headers of browsers and our own.
constexpr std::array<std::string_view, 8> kOwnRequestHeaders = {"authorization", "api-key", "cookie",      "origin",
                                                                "referer",       "accept",  "traceparent", "x-request-id"};
constexpr std::array<std::string_view, 5> kOwnAnswerHeaders = {"set-cookie", "x-request-id", "traceparent", "server", "alt-svc"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view lower) {
  return std::ranges::find(names, lower) != names.end();
}

/// The Via value that this process adds to forwarded requests.
const std::string& own_via() {
  static const std::string name = "1.1 footnote-" + random_base62(12);
  return name;
}

/// Whether `connection` lists the header as hop-by-hop.
bool is_of_connection(const http::Headers& headers, std::string_view lower) {
  for (const std::string_view name : split(headers.find("connection").value_or(""), ',')) {
    if (to_lower_ascii(trim(name)) == lower) return true;
  }
  return false;
}

/// Keys of this server never leave it, whatever header they came in.
bool holds_own_key(std::string_view value) {
  return value.find("fn_live_") != std::string_view::npos || value.find("fn_owner_") != std::string_view::npos;
}

std::optional<std::size_t> length_of(const http::Headers& headers) {
  const auto text = headers.find("content-length");
  return text ? parse_whole_number<std::size_t>(*text) : std::nullopt;
}

bool is_event_stream(const http::Headers& headers) {
  return starts_with_ignoring_case(headers.find("content-type").value_or(""), "text/event-stream");
}

/// Passes an upstream answer through to the client unchanged.
class PassThrough final : public http::Relay {
 public:
  explicit PassThrough(http::ResponseStream& response) : response_(response) {}

  Result<void> on_head(int status, const http::Headers& headers) override {
    whole_.status = status;
    whole_.headers = answer_headers(headers);
    is_events_ = is_event_stream(headers);
    const auto length = length_of(headers);
    const bool has_no_body = status == 204 || status == 304;
    if (!has_no_body && (!length || *length > kWholeAnswerBytesMax)) writer_ = &response_.start_bytes(status, whole_.headers);
    return {};
  }

  Result<void> on_body(std::string_view bytes) override {
    if (writer_ == nullptr) {
      whole_.body += bytes;
      return {};
    }
    // Enough to tell whether the last event is complete.
    last_two_ =
        bytes.size() >= 2 ? std::string(bytes.substr(bytes.size() - 2)) : last_two_.substr(last_two_.empty() ? 0 : 1) + std::string(bytes);
    return writer_->write_bytes(bytes);
  }

  std::optional<http::ClientRequest> on_end(const Result<int>& ended) override {
    if (!ended) {
      fail_with(ended.error());
    } else if (writer_ == nullptr) {
      response_.reply(std::move(whole_));
    }
    return std::nullopt;
  }

 private:
  void fail_with(const Error& error) {
    if (writer_ == nullptr) return response_.reply(render_openai_error(upstream_failure(error)));
    const bool between_events = is_events_ && (last_two_.empty() || last_two_ == "\n\n");
    if (between_events && error.code != ErrorCode::kCancelled) {
      const http::Response rendered = render_openai_error(upstream_failure(error));
      if (writer_->write_bytes(fmt::format("data: {}\n\n", rendered.body))) return;
    }
    response_.cut();
  }

  http::ResponseStream& response_;
  http::ByteWriter* writer_ = nullptr;
  http::Response whole_;
  bool is_events_ = false;
  std::string last_two_;
};

}  // namespace

http::ClientRequest upstream_request(const ChatUpstream& upstream, const access::Caller& caller, const http::Request& request,
                                     std::string_view path, std::string body, AnswerUse use) {
  http::ClientRequest out{.method = request.method, .url = http::join_url(upstream.base_url, path), .headers = {}, .body = std::move(body)};
  for (const auto& [name, value] : request.headers) {
    const std::string lower = to_lower_ascii(name);
    const bool ours = is_one_of(kHopHeaders, lower) || is_one_of(kOwnRequestHeaders, lower) || lower.starts_with("x-footnote-") ||
                      lower.starts_with("sec-") || is_of_connection(request.headers, lower) ||
                      (use == AnswerUse::kRead && lower == "accept-encoding") || holds_own_key(value);
    if (!ours) out.headers.add(name, value);
  }
  if (use == AnswerUse::kPassThrough) {
    if (const auto accept = request.headers.find("accept")) out.headers.set("accept", *accept);
    out.response_bytes_max = std::numeric_limits<std::size_t>::max();
  }
  const auto authorization = request.headers.find("authorization");
  if (!upstream.api_key.empty()) {
    out.headers.set("authorization", "Bearer " + upstream.api_key);
  } else if (authorization && !caller.key && !holds_own_key(*authorization)) {
    out.headers.set("authorization", *authorization);
  }
  out.headers.set("x-request-id", request.request_id);
  out.headers.add("via", own_via());
  return out;
}

bool came_from_here(const http::Request& request) {
  return std::ranges::any_of(request.headers, [](const auto& header) {
    return to_lower_ascii(header.first) == "via" && header.second.find(own_via()) != std::string::npos;
  });
}

http::Headers answer_headers(const http::Headers& upstream) {
  http::Headers out;
  for (const auto& [name, value] : upstream) {
    const std::string lower = to_lower_ascii(name);
    if (is_one_of(kHopHeaders, lower) || is_one_of(kOwnAnswerHeaders, lower) || lower.starts_with("access-control-") ||
        is_of_connection(upstream, lower)) {
      continue;
    }
    out.add(name, value);
  }
  return out;
}

Error upstream_failure(Error error) {
  if (error.code == ErrorCode::kUnavailable) return with_context(std::move(error), "the model server failed").error();
  if (error.code == ErrorCode::kTooLarge) {
    error.code = ErrorCode::kUnavailable;
    return with_context(std::move(error), "the model server's answer can't be used").error();
  }
  return error;
}

http::Response error_answer(int status, const http::Headers& headers, std::string body) {
  http::Response out{status, answer_headers(headers), std::move(body)};
  if (is_openai_error(out.body)) return out;
  const ErrorCode code = status == 429 ? ErrorCode::kResourceExhausted : ErrorCode::kUnavailable;
  out.body = render_openai_error({code, fmt::format("the model server answered with status {}", status), {}}).body;
  out.headers.set("content-type", "application/json");
  return out;
}

void relay(const ChatUpstream& upstream, http::ClientRequest request, http::ResponseStream& response) {
  response.relay(upstream.client, std::move(request), std::make_unique<PassThrough>(response));
}

}  // namespace footnote::api
