#pragma once

#include <string>
#include <string_view>

#include "base/call_context.h"

namespace footnote {

/// A page as received.
struct FetchedPage {
  std::string final_url;
  std::string media_type;
  std::string body;
};

/// Fetches untrusted URLs: public hosts only, every redirect checked, size and time limited. Thread-safe. kPermissionDenied: the address is
/// not allowed (scheme, private network, robots). kUnavailable: no response.
class Crawler {
 public:
  virtual ~Crawler() = default;
  virtual Result<FetchedPage> fetch(const CallContext& call, std::string_view url) = 0;
};

}  // namespace footnote
