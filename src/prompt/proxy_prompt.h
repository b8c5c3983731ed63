#pragma once

#include <span>
#include <string>
#include <string_view>

namespace footnote::prompt {

/// The system text when the proxy adds sources to a prompt.
inline constexpr std::string_view kProxySystem =
    "You are a precise assistant. Use ONLY the provided context for facts. Cite as [n] and list sources.";

/// One source of a prompt; sources are numbered from 1 in order. Borrows.
struct PromptSource {
  std::string_view url;
  std::string_view text;
};

/// The user message: the question, a block per source, and the list of sources:
///   Question: {question}
///
///   Context:
///   Source [1] {url}
///   {text}
///
///   Sources:
///   - [1] {url}
/// Texts of more than `characters_max` code points are cut and end in "\n...\n". Source text cannot imitate a part of this layout: see
/// defuse_lines. Ends in an empty line.
std::string build_proxy_message(std::string_view question, std::span<const PromptSource> sources, std::size_t characters_max);

/// Indents by one space each line that begins like a part of the layout above ("Source [n]", "Sources:", "Question:", "Context:"), ignoring
/// case, width, spacing and invisible characters. Removes invisible characters; all other bytes stay.
std::string defuse_lines(std::string_view text);

}  // namespace footnote::prompt
