#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace footnote::prompt {

/// A question about a section of a document, from its title and the section's heading, for people who do not know yet what to ask: "What
/// does “Annual leave” say about carrying days over?". A heading that is a question is asked as it is. In the document's language (ISO
/// 639-1: en, de, fr, es, it, sv; otherwise English). nullopt: the heading says nothing ("Introduction", "2.1", the title again).
std::optional<std::string> example_question(std::string_view title, std::string_view heading, std::string_view language);

}  // namespace footnote::prompt
