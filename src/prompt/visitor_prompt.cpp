#include "prompt/visitor_prompt.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "prompt/language_name.h"
#include "prompt/source_text.h"

namespace footnote::prompt {

namespace {

std::string line(std::string_view text) { return as_line(text, kPromptLineBytesMax); }

std::string persona(const Persona& persona) {
  const std::string who = fmt::format("You are {}, who answers visitors of this website.", line(persona.name));
  return trim(persona.tone).empty() ? who : fmt::format("{} Your tone is {}.", who, line(persona.tone));
}

std::string guardrails(const Guardrails& rules) {
  std::string out;
  if (!rules.avoid.empty()) {
    std::vector<std::string> topics;
    for (const std::string& topic : rules.avoid) topics.push_back(line(topic));
    out = fmt::format("Do not talk about these topics; decline politely: {}.\n", join(topics, "; "));
  }
  return out + fmt::format("Keep the answer under {} characters.", rules.max_chars);
}

/// The query string of the URL is controlled by the sender, so it is left out of the rules.
std::string page_hint(std::string_view url, FirstSource first) {
  std::string out = fmt::format("The visitor is on {}.", as_attribute(url.substr(0, url.find('?')), kPromptUrlBytesMax));
  if (first != FirstSource::kOther) out += " Source [1] is the current page; weight it accordingly.";
  return out;
}

std::string language_directive(std::string_view code) {
  return fmt::format("Respond in {}. Translate retrieved sources as needed. Keep numbers, prices, names verbatim.",
                     line(language_name(code)));
}

std::string system_message(const VisitorPrompt& prompt) {
  std::vector<std::string> sections{persona(prompt.agent.persona), fmt::format("{}\n{}", kAnswerFromSources, kVisitorCiting),
                                    std::string(kSourcesAreData), guardrails(prompt.agent.guardrails)};
  if (!prompt.page_url.empty()) sections.push_back(page_hint(prompt.page_url, prompt.first_source));
  const std::string own = as_data(trim(prompt.agent.system_prompt), kCustomPromptBytesMax);
  if (!own.empty()) sections.push_back(fmt::format("{}\n{}", kOwnerNotes, own));
  sections.push_back(language_directive(prompt.language));
  return join(sections, "\n\n");
}

std::string_view address_of(const Hit& hit) { return hit.document.url.empty() ? hit.document_key : hit.document.url; }

/// The passage's location, as its first line: without it a passage often does not say what it is about.
std::string place_of(const Hit& hit) {
  std::vector<std::string> parts;
  if (!hit.document.title.empty()) parts.push_back(line(hit.document.title));
  for (const std::string& heading : hit.chunk.heading_path) {
    if (parts.empty() || parts.back() != line(heading)) parts.push_back(line(heading));
  }
  return parts.empty() ? "" : join(parts, " > ") + "\n";
}

std::string render_source(const SourceBlock& block, bool is_page_context, std::string_view nonce) {
  const Hit& hit = block.hit;
  return fmt::format("<source id=\"{}\" url=\"{}\"{} nonce=\"{}\">{}</source>", block.number,
                     as_attribute(address_of(hit), kPromptUrlBytesMax), is_page_context ? " type=\"current_page\"" : "", nonce,
                     // Sanitised together: no tag may form across the boundary of the two.
                     as_data(place_of(hit) + hit.chunk.text, is_page_context ? kPageSourceBytesMax : kVisitorSourceBytesMax));
}

std::string user_message(const VisitorPrompt& prompt) {
  std::string out = as_data(prompt.question, kVisitorQuestionBytesMax);
  if (prompt.sources.empty()) return out + "\n\n" + std::string(kNoStrongMatches);
  for (const SourceBlock& block : prompt.sources) {
    const bool is_context = prompt.first_source == FirstSource::kPageContext && &block == prompt.sources.data();
    out += "\n\n" + render_source(block, is_context, prompt.nonce);
  }
  return out;
}

}  // namespace

std::vector<std::string_view> unspoken_notes(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> kQuotes[] = {{"\"", "\""},         {"`", "`"},           {"\u201C", "\u201D"},
                                                                       {"\u201E", "\u201C"}, {"\u00AB", "\u00BB"}, {"\u00BB", "\u00AB"},
                                                                       {"\u2018", "\u2019"}};
  std::vector<std::string_view> out;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto opening = std::ranges::find_if(kQuotes, [&](const auto& quote) { return text.substr(at).starts_with(quote.first); });
    const std::size_t close =
        opening == std::end(kQuotes) ? std::string_view::npos : text.find(opening->second, at + opening->first.size());
    if (close == std::string_view::npos) {
      ++at;
      continue;
    }
    out.push_back(text.substr(begin, at - begin));
    at = begin = close + opening->second.size();
  }
  out.push_back(text.substr(begin));
  return out;
}

std::vector<ChatMessage> build_visitor_prompt(const VisitorPrompt& prompt) {
  std::vector<ChatMessage> out{{ChatRole::kSystem, system_message(prompt)}};
  for (const ChatMessage& message : prompt.history) {
    // Only user and assistant messages: an earlier message must not become a rule.
    if (message.role != ChatRole::kSystem) out.push_back({message.role, as_data(message.content, kVisitorQuestionBytesMax)});
  }
  out.push_back({ChatRole::kUser, user_message(prompt)});
  return out;
}

}  // namespace footnote::prompt
