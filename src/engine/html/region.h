#pragma once

#include <cstddef>
#include <vector>

#include "engine/html/dom.h"
#include "engine/html/extract.h"

namespace footnote::html {

/// How much text an element holds, and how much of it lies in links. Bytes without white space.
struct TextWeight {
  std::size_t text = 0;
  std::size_t link = 0;
  std::size_t own() const { return text - link; }
  double link_density() const { return text == 0 ? 0.0 : static_cast<double>(link) / static_cast<double>(text); }
};

/// Weighs a page once, then says what to read of it and what to leave out.
class RegionFinder {
 public:
  RegionFinder(const Dom& dom, Region region);

  /// The element to render; null for an empty page.
  const xmlNode* content() const { return content_; }
  /// True for what no reader would miss: scripts and hidden parts anywhere, navigation and the like in kContent.
  bool is_dropped(const xmlNode* element) const;
  TextWeight weight(const xmlNode* element) const;

 private:
  TextWeight weigh(const xmlNode* node, bool in_link);
  const xmlNode* find_content();
  const xmlNode* find_main() const;
  const xmlNode* find_dense(const xmlNode* start) const;
  bool is_boilerplate(const xmlNode* element) const;

  const Region region_;
  const xmlNode* const body_;
  std::vector<TextWeight> weights_;  ///< By element number.
  /// <main> or <article> was found: what stands in there was put there by an author.
  bool marked_up_ = false;
  const xmlNode* content_ = nullptr;
};

/// True for <script>, <style>, comments' kin and elements that a browser would not show.
bool is_invisible(const xmlNode* element);

}  // namespace footnote::html
