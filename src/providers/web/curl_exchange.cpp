#include "providers/web/curl_exchange.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stop_token>

#include "base/call_ended.h"
#include "base/text.h"

namespace footnote {

namespace {

struct FreeEasy {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct FreeMulti {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, FreeList>;

/// The library is set up once in a process.
bool is_library_ready() {
  static const bool ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return ready;
}

/// Appends; false without memory.
bool append(HeaderList& list, const std::string& line) {
  curl_slist* longer = curl_slist_append(list.get(), line.c_str());
  if (longer == nullptr) return false;
  (void)list.release();
  list.reset(longer);
  return true;
}

/// The bytes of a socket address, and its port; empty for another family.
std::pair<std::vector<unsigned char>, std::uint16_t> bytes_of(const sockaddr* address) {
  const auto copied = [](const void* from, std::size_t size) {
    const auto* begin = static_cast<const unsigned char*>(from);
    return std::vector<unsigned char>(begin, begin + size);
  };
  if (address->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
    return {copied(&v4->sin_addr, 4), ntohs(v4->sin_port)};
  }
  if (address->sa_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);
    return {copied(&v6->sin6_addr, 16), ntohs(v6->sin6_port)};
  }
  return {};
}

std::vector<unsigned char> bytes_of(const std::string& address) {
  std::vector<unsigned char> out(16);
  if (::inet_pton(AF_INET6, address.c_str(), out.data()) == 1) return out;
  out.resize(4);
  if (::inet_pton(AF_INET, address.c_str(), out.data()) == 1) return out;
  return {};
}

bool is_wanted(const std::vector<std::string>& wanted, std::string_view media_type) {
  if (wanted.empty() || media_type.empty()) return true;
  return std::ranges::any_of(wanted, [&](std::string_view type) {
    return type.ends_with("/*") ? media_type.starts_with(type.substr(0, type.size() - 1)) : media_type == type;
  });
}

/// What may be sent back in the next request's headers.
bool is_tag(std::string_view value) {
  constexpr std::size_t kTagBytesMax = 1024;
  return value.size() <= kTagBytesMax &&
         std::ranges::all_of(value, [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F; });
}

}  // namespace

/// The state of one exchange, for the callbacks of the library: none of them throws.
class CurlTransfer {
 public:
  CurlTransfer(const CurlExchange& owner, const CallContext& call, const WebUrl& url, const PageRequest& request)
      : owner_(owner), call_(call), url_(url), request_(request) {
    body_max_ = owner.limits_.body_bytes_max;
    if (request.body_bytes_max != 0) body_max_ = std::min(body_max_, request.body_bytes_max);
  }

  Result<ExchangeResult> run();

 private:
  /// Why we ended it ourselves.
  enum class Ended { kNo, kAddress, kHeaders, kBody, kMediaType, kCall, kMemory };

  bool set_up();
  bool set_up_requests();
  bool set_up_names();
  Result<void> perform();
  Result<void> failure(CURLcode code) const;
  void read_header(std::string_view line);
  void read_content_type(std::string_view value);
  bool take_body(std::string_view bytes);

  static curl_socket_t open_socket(void* self, curlsocktype purpose, curl_sockaddr* address) noexcept;
  static int before_request(void* self, char* peer, char* local, int peer_port, int local_port) noexcept;
  static size_t on_header(char* bytes, size_t one, size_t size, void* self) noexcept;
  static size_t on_body(char* bytes, size_t one, size_t size, void* self) noexcept;
  static int on_progress(void* self, curl_off_t, curl_off_t received, curl_off_t, curl_off_t) noexcept;

  const CurlExchange& owner_;
  const CallContext& call_;
  const WebUrl& url_;
  const PageRequest& request_;
  std::size_t body_max_;
  HeaderList headers_;
  HeaderList names_;
  std::unique_ptr<CURL, FreeEasy> easy_;
  std::unique_ptr<CURLM, FreeMulti> multi_;  // after easy_: removed from it first
  ExchangeResult out_;
  std::size_t header_bytes_ = 0;
  std::size_t header_lines_ = 0;
  Ended ended_ = Ended::kNo;
};

curl_socket_t CurlTransfer::open_socket(void* self, curlsocktype, curl_sockaddr* address) noexcept {
  auto& here = *static_cast<CurlTransfer*>(self);
  const auto [bytes, port] = bytes_of(&address->addr);
  if (!here.owner_.policy_.allows(here.url_.host, bytes, port) || port != here.url_.port) {
    here.ended_ = Ended::kAddress;
    return CURL_SOCKET_BAD;
  }
  here.owner_.sockets_.fetch_add(1);
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

int CurlTransfer::before_request(void* self, char* peer, char*, int peer_port, int) noexcept {
  auto& here = *static_cast<CurlTransfer*>(self);
  here.ended_ = Ended::kNo;  // another of the host's addresses was refused; this one is the peer
  if (peer_port == here.url_.port && here.owner_.policy_.allows(here.url_.host, bytes_of(std::string(peer)), here.url_.port)) {
    return CURL_PREREQFUNC_OK;
  }
  here.ended_ = Ended::kAddress;
  return CURL_PREREQFUNC_ABORT;
}

void CurlTransfer::read_content_type(std::string_view value) {
  const std::size_t end = std::min(value.find(';'), value.size());
  out_.page.media_type = to_lower_ascii(trim(value.substr(0, end)));
  out_.page.charset.clear();
  for (const std::string_view parameter : split(value.substr(end), ';')) {
    const std::string_view text = trim(parameter);
    if (!starts_with_ignoring_case(text, "charset=")) continue;
    std::string_view name = trim(text.substr(8));
    if (name.size() >= 2 && name.starts_with('"') && name.ends_with('"')) name = name.substr(1, name.size() - 2);
    out_.page.charset = to_lower_ascii(name.substr(0, 40));
  }
}

void CurlTransfer::read_header(std::string_view line) {
  FetchedPage& page = out_.page;
  if (line.starts_with("HTTP/")) {  // the final response follows an interim one
    page = FetchedPage{};
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string name = to_lower_ascii(trim(line.substr(0, colon)));
  const std::string_view value = trim(line.substr(colon + 1));
  if (name == "content-type") read_content_type(value);
  if (name == "etag" && is_tag(value)) page.etag = value;
  if (name == "last-modified" && is_tag(value)) page.last_modified = value;
  if (name == "location") page.location = value;
  if (name == "x-robots-tag") page.robots += (page.robots.empty() ? "" : ", ") + std::string(value);
  if (name == "retry-after") out_.retry_after = std::chrono::seconds{parse_whole_number<std::uint32_t>(value).value_or(0)};
}

size_t CurlTransfer::on_header(char* bytes, size_t one, size_t size, void* self) noexcept {
  auto& here = *static_cast<CurlTransfer*>(self);
  const std::size_t length = one * size;
  here.header_bytes_ += length;
  ++here.header_lines_;
  const ExchangeLimits& limits = here.owner_.limits_;
  if (here.header_bytes_ > limits.header_bytes_max || here.header_lines_ > limits.header_lines_max) {
    here.ended_ = Ended::kHeaders;
    return 0;
  }
  try {
    here.read_header({bytes, length});
  } catch (...) {
    here.ended_ = Ended::kMemory;
    return 0;
  }
  return length;
}

bool CurlTransfer::take_body(std::string_view bytes) {
  std::string& body = out_.page.body;
  if (body.empty()) {
    long status = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    if (status >= 200 && status < 300 && !is_wanted(request_.media_types, out_.page.media_type)) {
      ended_ = Ended::kMediaType;
      return false;
    }
  }
  if (body.size() + bytes.size() > body_max_) {
    ended_ = Ended::kBody;
    return false;
  }
  body.append(bytes);
  return true;
}

size_t CurlTransfer::on_body(char* bytes, size_t one, size_t size, void* self) noexcept {
  auto& here = *static_cast<CurlTransfer*>(self);
  try {
    return here.take_body({bytes, one * size}) ? one * size : 0;
  } catch (...) {
    here.ended_ = Ended::kMemory;
    return 0;
  }
}

int CurlTransfer::on_progress(void* self, curl_off_t, curl_off_t received, curl_off_t, curl_off_t) noexcept {
  auto& here = *static_cast<CurlTransfer*>(self);
  // As sent: a compressed body may unpack to nothing for ever.
  if (received > static_cast<curl_off_t>(here.body_max_)) {
    here.ended_ = Ended::kBody;
    return 1;
  }
  if (has_ended(here.call_)) {
    here.ended_ = Ended::kCall;
    return 1;
  }
  return 0;
}

bool CurlTransfer::set_up_requests() {
  CURL* easy = easy_.get();
  bool good = append(headers_, "Accept: text/html,application/xhtml+xml,text/markdown;q=0.9,application/xml;q=0.8,*/*;q=0.5");
  if (!request_.etag.empty()) good = good && append(headers_, "If-None-Match: " + request_.etag);
  if (!request_.last_modified.empty()) good = good && append(headers_, "If-Modified-Since: " + request_.last_modified);
  good = good && curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers_.get()) == CURLE_OK;
  good = good && curl_easy_setopt(easy, CURLOPT_USERAGENT, owner_.user_agent_.c_str()) == CURLE_OK;
  return good && curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip, deflate, br") == CURLE_OK;
}

/// A name is given its addresses here when a test resolves it. Others are resolved by the library, in a thread of its own.
bool CurlTransfer::set_up_names() {
  if (!owner_.resolver_ || !bytes_of(url_.host).empty()) return true;
  const std::vector<std::string> addresses = owner_.resolver_(url_.host);
  if (addresses.empty()) return false;
  std::string entry = url_.host + ":" + std::to_string(url_.port) + ":";
  for (const std::string& address : addresses) {
    entry += address.find(':') == std::string::npos ? address : "[" + address + "]";
    entry += ',';
  }
  entry.pop_back();
  return append(names_, entry) && curl_easy_setopt(easy_.get(), CURLOPT_RESOLVE, names_.get()) == CURLE_OK;
}

bool CurlTransfer::set_up() {
  CURL* easy = easy_.get();
  const auto set = [&](CURLoption option, auto value) { return curl_easy_setopt(easy, option, value) == CURLE_OK; };
  const ExchangeLimits& limits = owner_.limits_;
  return set(CURLOPT_URL, url_.text.c_str()) && set(CURLOPT_PROTOCOLS_STR, "http,https") && set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1L) &&
         set(CURLOPT_FOLLOWLOCATION, 0L) && set(CURLOPT_PROXY, "") && set(CURLOPT_NOPROXY, "*") &&
         set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED)) && set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1)) &&
         set(CURLOPT_FRESH_CONNECT, 1L) && set(CURLOPT_FORBID_REUSE, 1L) && set(CURLOPT_NOSIGNAL, 1L) && set(CURLOPT_QUICK_EXIT, 1L) &&
         set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limits.connect_time_max.count())) && set(CURLOPT_LOW_SPEED_LIMIT, 1L) &&
         set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(std::max<std::int64_t>(1, limits.silence_max.count() / 1000))) &&
         set(CURLOPT_OPENSOCKETFUNCTION, &open_socket) && set(CURLOPT_OPENSOCKETDATA, this) &&
         set(CURLOPT_PREREQFUNCTION, &before_request) && set(CURLOPT_PREREQDATA, this) && set(CURLOPT_HEADERFUNCTION, &on_header) &&
         set(CURLOPT_HEADERDATA, this) && set(CURLOPT_WRITEFUNCTION, &on_body) && set(CURLOPT_WRITEDATA, this) &&
         set(CURLOPT_NOPROGRESS, 0L) && set(CURLOPT_XFERINFOFUNCTION, &on_progress) && set(CURLOPT_XFERINFODATA, this) && set_up_requests();
}

Result<void> CurlTransfer::failure(CURLcode code) const {
  switch (ended_) {
    case Ended::kAddress:
      return fail(ErrorCode::kPermissionDenied,
                  "the address of '{}' is not on the public internet; web.allow opens addresses of your own network", url_.host);
    case Ended::kHeaders: return fail(ErrorCode::kTooLarge, "the response has more headers than are read");
    case Ended::kBody: return fail(ErrorCode::kTooLarge, "the page is larger than {}", human_bytes(body_max_));
    case Ended::kMediaType: return fail(ErrorCode::kUnsupported, "the page is '{}', which is not read", out_.page.media_type.substr(0, 80));
    case Ended::kMemory: return fail(ErrorCode::kResourceExhausted, "no memory for the page");
    case Ended::kCall:
    case Ended::kNo: break;
  }
  FOOTNOTE_CHECK(call_.check());
  if (code == CURLE_COULDNT_RESOLVE_HOST) return fail(ErrorCode::kUnavailable, "the host name '{}' is not known", url_.host);
  if (code == CURLE_COULDNT_CONNECT) return fail(ErrorCode::kUnavailable, "'{}' does not accept connections", url_.host);
  if (code == CURLE_OPERATION_TIMEDOUT) return fail(ErrorCode::kUnavailable, "'{}' took too long to respond", url_.host);
  if (code == CURLE_PARTIAL_FILE) return fail(ErrorCode::kUnavailable, "'{}' sent less than it announced", url_.host);
  return fail(ErrorCode::kUnavailable, "'{}' gave no complete response: {}", url_.host, curl_easy_strerror(code));
}

Result<void> CurlTransfer::perform() {
  // A caller that goes away ends the wait at once.
  const std::stop_callback wake(call_.stop, [this] { curl_multi_wakeup(multi_.get()); });
  int running = 1;
  while (true) {
    if (curl_multi_perform(multi_.get(), &running) != CURLM_OK) return fail(ErrorCode::kInternal, "the transfer could not run");
    if (running == 0) break;
    if (has_ended(call_)) return call_.check();
    using std::chrono::milliseconds;
    const auto left = std::chrono::ceil<milliseconds>(call_.deadline - std::chrono::steady_clock::now());
    const auto wait =
        std::clamp<std::int64_t>(call_.deadline == std::chrono::steady_clock::time_point::max() ? 1000 : left.count(), 0, 1000);
    curl_multi_poll(multi_.get(), nullptr, 0, static_cast<int>(wait), nullptr);
  }
  int queued = 0;
  const CURLMsg* message = curl_multi_info_read(multi_.get(), &queued);
  if (message == nullptr) return fail(ErrorCode::kInternal, "the transfer ended without a result");
  // The body of a redirect or an error may be cut short: its status is what counts.
  if (message->data.result != CURLE_OK) return failure(message->data.result);
  return {};
}

Result<ExchangeResult> CurlTransfer::run() {
  if (!is_library_ready()) return fail(ErrorCode::kInternal, "the HTTP library could not start");
  easy_.reset(curl_easy_init());
  multi_.reset(curl_multi_init());
  if (!easy_ || !multi_ || !set_up()) return fail(ErrorCode::kResourceExhausted, "a transfer could not be set up");
  if (!set_up_names()) return fail(ErrorCode::kUnavailable, "the host name '{}' is not known", url_.host);
  if (curl_multi_add_handle(multi_.get(), easy_.get()) != CURLM_OK) return fail(ErrorCode::kInternal, "a transfer could not start");
  const auto performed = perform();
  long status = 0;
  curl_off_t received = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(easy_.get(), CURLINFO_SIZE_DOWNLOAD_T, &received);
  curl_multi_remove_handle(multi_.get(), easy_.get());
  FOOTNOTE_CHECK(performed);
  out_.page.status = static_cast<int>(status);
  out_.page.final_url = url_.text;
  out_.page.wire_bytes = static_cast<std::size_t>(std::max<curl_off_t>(received, 0));
  return std::move(out_);
}

Result<ExchangeResult> CurlExchange::run(const CallContext& call, const WebUrl& url, const PageRequest& request) const {
  FOOTNOTE_CHECK(call.check());
  return CurlTransfer(*this, call, url, request).run();
}

}  // namespace footnote
