#include "ingest/secret_filter.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace footnote::ingest {

void SecretFilter::mask_document(chunk::ParsedDocument& document) {
  in_text_ = find_secrets(document.text);
  for (const Secret& secret : in_text_) kinds_.insert(secret.kind);
  mask(document.text, in_text_);
  const auto hide = [this](std::string& text) { mask_secrets(text, kinds_); };
  hide(document.root_heading);
  for (chunk::Block& block : document.blocks) hide(block.heading);
  DocumentAttributes& attributes = document.attributes;
  for (std::string* text :
       {&attributes.title, &attributes.url, &attributes.canonical_type, &attributes.slug, &attributes.canonical_id, &attributes.summary}) {
    hide(*text);
  }
  for (std::string& owner : attributes.owners) hide(owner);
  for (std::string& tag : attributes.tags) hide(tag);
  for (Edge& edge : document.edges) hide(edge.to_key);
}

void SecretFilter::drop_pieces(std::vector<chunk::Piece>& pieces) {
  const auto touches = [this](const chunk::Piece& piece) {
    // The first secret that ends after the passage's begin.
    const auto next = std::ranges::upper_bound(in_text_, piece.range.begin, {}, [](const Secret& secret) { return secret.range.end; });
    return next != in_text_.end() && next->range.begin < piece.range.end;
  };
  passages_ += std::erase_if(pieces, touches);
}

std::string SecretFilter::reason() const {
  std::vector<std::string> names;
  for (const SecretKind kind : kinds_) names.emplace_back(to_string(kind));
  const std::string what = passages_ == 0 ? "masked" : fmt::format("{} passage{} kept out", passages_, passages_ == 1 ? "" : "s");
  return fmt::format("{}: {}", what, join(names, ", "));
}

}  // namespace footnote::ingest
