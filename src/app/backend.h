#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "app/commands.h"
#include "base/json.h"

namespace footnote::app {

/// Asking and searching, in this process or through the server that holds the data folder: the same JSON either
/// way, in the forms of POST /api/kb/chat and POST /api/search.
class Backend {
 public:
  virtual ~Backend() = default;
  /// Hears the answer's text while it comes; a backend may also keep silent.
  using OnText = std::function<void(std::string_view)>;
  virtual Result<Json> ask(const CallContext& call, const std::string& question, const std::string& corpus, const OnText& on_text) = 0;
  virtual Result<Json> search(const CallContext& call, const std::string& query, const std::string& corpus, std::size_t limit) = 0;
};

/// kFailedPrecondition: nothing is indexed yet, another process has the folder, or there is no model.
Result<std::unique_ptr<Backend>> open_backend(const CommandContext& context);

}  // namespace footnote::app
