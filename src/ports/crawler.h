#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/call_context.h"

namespace footnote {

/// What to fetch, and what is known about it from before.
struct PageRequest {
  std::string url;
  std::string etag = {};           ///< Of the copy that the caller has; empty: none.
  std::string last_modified = {};  ///< As the server wrote it.
  /// Media types to read ("text/html", "text/*"); any other body is left on the server. Empty: all. Statuses other than 2xx are exempt.
  std::vector<std::string> media_types = {};
  std::size_t body_bytes_max = 0;             ///< Decompressed; 0, and more than it, is the crawler's own limit.
  std::chrono::milliseconds host_delay = {};  ///< The least time between two requests to this host, if more than the crawler's own.
};

/// A page as received, whatever its status.
struct FetchedPage {
  int status = 0;
  std::string final_url;      ///< After redirects, normalised.
  std::string media_type;     ///< Lower case, without parameters; empty if the server named none.
  std::string charset;        ///< Of the Content-Type; empty if not named.
  std::string body;           ///< Decompressed; empty for a status of 304.
  std::string etag;           ///< For the next request.
  std::string last_modified;  ///< For the next request.
  std::string robots;         ///< X-Robots-Tag, all of its lines; empty: none.
  std::string location;       ///< Of a redirect that the crawler has still to follow; empty in what fetch() returns.
  int redirects = 0;
  std::size_t wire_bytes = 0;  ///< Of all bodies of this fetch, as sent.

  bool is_ok() const { return status >= 200 && status < 300; }
  bool is_unchanged() const { return status == 304; }
};

/// Fetches untrusted URLs: public hosts only, every redirect checked, size and time limited, polite to each host. Thread-safe.
///
/// kInvalidArgument: no web address. kPermissionDenied: an address that is not allowed (scheme, port, private network), here or at the end
/// of a redirect: nothing was sent to it. kTooLarge: body or headers past their limit. kUnsupported: another media type. kUnavailable: no
/// complete response, or too many redirects. kCancelled, kDeadlineExceeded.
class Crawler {
 public:
  virtual ~Crawler() = default;
  virtual Result<FetchedPage> fetch(const CallContext& call, const PageRequest& request) = 0;
};

}  // namespace footnote
