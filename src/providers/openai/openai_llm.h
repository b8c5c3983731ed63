#pragma once

#include <string>

#include "http/client.h"
#include "ports/llm.h"

namespace footnote {

struct OpenAiOptions {
  std::string base_url;  ///< Includes the version path: "http://localhost:4000/v1".
  std::string api_key;   ///< May be empty: local servers need none.
  std::string model;
};

/// Llm for any server with OpenAI's chat completions API: LiteLLM, llama.cpp, Ollama, vLLM, OpenAI. Borrows the client. The wire format
/// stops here; see ports/llm.h for the contract.
class OpenAiLlm final : public Llm {
 public:
  OpenAiLlm(http::Client& client, OpenAiOptions options) : client_(client), options_(std::move(options)) {}

  std::string model() const override { return options_.model; }
  Result<ChatEnd> stream(const CallContext& call, const ChatRequest& request,
                         const std::function<Result<void>(std::string_view)>& on_text) override;

 private:
  http::Client& client_;
  const OpenAiOptions options_;
};

}  // namespace footnote
