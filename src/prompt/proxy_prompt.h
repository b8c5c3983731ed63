#pragma once

#include <span>
#include <string>
#include <string_view>

namespace footnote::prompt {

/// What a model is told first when the proxy puts sources into its prompt.
inline constexpr std::string_view kProxySystem =
    "You are a precise assistant. Use ONLY the provided context for facts. Cite as [n] and list sources.";

/// One source of a prompt; they are numbered from 1 in their order. Borrows.
struct PromptSource {
  std::string_view url;
  std::string_view text;
};

/// The user message that holds the question, a block for each source, and their list:
///   Question: {question}
///
///   Context:
///   Source [1] {url}
///   {text}
///
///   Sources:
///   - [1] {url}
/// Texts of more than `characters_max` code points are cut and end in "\n...\n". What an author wrote can't pass for a part of this
/// form: see defuse_lines. Ends in an empty line.
std::string build_proxy_message(std::string_view question, std::span<const PromptSource> sources, std::size_t characters_max);

/// The text with each line indented by one space that, read without regard to case, width, spacing and invisible characters, begins like
/// a part of the form above: "Source [n]", "Sources:", "Question:", "Context:". Invisible characters go; all other bytes stay.
std::string defuse_lines(std::string_view text);

}  // namespace footnote::prompt
