#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "app/commands.h"
#include "base/json.h"

namespace footnote::app {

/// Where to look: a corpus, and the fields "filters" and "acl_labels" of a request's body.
struct Where {
  std::string corpus;
  JsonObject filters;
  JsonArray labels;
};

/// Of NAME=VALUE arguments. kInvalidArgument: one without '='. Names and values are checked by whoever reads the body.
Result<Where> where_of(const std::string& corpus, const cli::FilterArguments& filters, const std::vector<std::string>& labels);

/// Asking and searching, in this process or through the server that holds the data folder: the same JSON either
/// way, in the forms of POST /api/kb/chat and POST /api/search.
class Backend {
 public:
  virtual ~Backend() = default;
  /// Hears the answer's text while it comes; a backend may also keep silent.
  using OnText = std::function<void(std::string_view)>;
  virtual Result<Json> ask(const CallContext& call, const std::string& question, const Where& where, const OnText& on_text) = 0;
  struct SearchWish {
    std::string query;
    std::size_t limit = 8;
    bool prefix = false;
    bool typos = false;
  };
  virtual Result<Json> search(const CallContext& call, const SearchWish& wish, const Where& where) = 0;
};

/// kFailedPrecondition: nothing is indexed yet, another process has the folder, or there is no model.
Result<std::unique_ptr<Backend>> open_backend(const cli::CommandContext& context);

}  // namespace footnote::app
