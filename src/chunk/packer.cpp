#include "chunk/packer.h"

#include <algorithm>

namespace footnote::chunk {

namespace {

class Packer {
 public:
  Packer(const Outline& outline, const ChunkOptions& options) : outline_(outline), options_(options) {}

  std::vector<PackedChunk> run() {
    if (!outline_.units.empty()) section(0, 0);
    return std::move(out_);
  }

 private:
  /// Units [begin, end) to keep together under one path.
  struct Group {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t section = 0;  ///< The section whose path it gets.
    bool empty() const { return begin == end; }
  };

  /// Packs a section and everything below it. `begin` may be before the section's heading: the headings of parents without text are packed
  /// with their first child.
  void section(std::size_t index, std::size_t begin) {
    const Section& self = outline_.sections[index];
    if (begin == self.end) return;
    if (bytes(begin, self.end) <= options_.target_bytes) return emit(begin, self.end, holder_of_whole(index));
    if (self.children.empty()) return run_of(begin, self.end, index);
    Group group{begin, begin, index};
    std::size_t child_begin = begin;
    if (!is_bare(begin, self.own_end)) {
      add_own(index, group);
      child_begin = self.own_end;
    }
    for (const std::size_t child : self.children) {
      add_child(index, child, child_begin, group);
      child_begin = outline_.sections[child].end;
    }
    flush(group);
  }

  /// The one descendant that holds all the text of this section. Parents that have only a heading are skipped.
  std::size_t holder_of_whole(std::size_t whole) const {
    for (;;) {
      const Section& at = outline_.sections[whole];
      if (at.children.size() != 1 || !is_bare(at.first_unit, at.own_end)) return whole;
      whole = at.children[0];
    }
  }

  void add_own(std::size_t index, Group& group) {
    const std::size_t own_end = outline_.sections[index].own_end;
    if (bytes(group.begin, own_end) <= options_.target_bytes) {
      group.end = own_end;
    } else {
      run_of(group.begin, own_end, index);
    }
  }

  /// Small siblings share a chunk under their parent's path.
  void add_child(std::size_t parent, std::size_t child, std::size_t begin, Group& group) {
    const std::size_t end = outline_.sections[child].end;
    const bool small = bytes(begin, end) <= options_.target_bytes;
    if (small && !group.empty() && bytes(group.begin, end) <= options_.target_bytes) {
      group.end = end;
      group.section = parent;
      return;
    }
    flush(group);
    if (small) {
      group = {begin, end, holder_of_whole(child)};
    } else {
      section(child, begin);
    }
  }

  void flush(Group& group) {
    if (!group.empty()) emit(group.begin, group.end, group.section);
    group.begin = group.end;
  }

  /// Cuts a long run between units, repeating the last sentence.
  void run_of(std::size_t begin, std::size_t end, std::size_t owner) {
    std::size_t at_least = begin + 1;
    while (begin < end) {
      std::size_t cut = std::max(begin + 1, at_least);
      while (cut < end && fits(begin, cut)) ++cut;
      // A tail of a few words joins this chunk.
      if (cut < end && bytes(cut, end) < options_.target_bytes / 4 && bytes(begin, end) <= options_.max_bytes) cut = end;
      emit(begin, cut, owner);
      at_least = cut + 1;
      begin = cut < end && may_overlap(begin, cut) ? cut - 1 : cut;
    }
  }

  /// Whether unit `next` may join the chunk that starts at `begin`: up to the target, or up to the maximum while the chunk is short, so
  /// that a heading or a lead-in stays with the code that it introduces.
  bool fits(std::size_t begin, std::size_t next) const {
    const std::size_t size = bytes(begin, next + 1);
    if (size <= options_.target_bytes) return true;
    const bool is_short = bytes(begin, next) < options_.target_bytes / 2 || is_bare(begin, next);
    return is_short && size <= options_.max_bytes;
  }

  bool may_overlap(std::size_t begin, std::size_t cut) const {
    const Unit& last = outline_.units[cut - 1];
    return last.is_sentence && cut - 1 > begin && last.size() <= options_.overlap_bytes_max &&
           bytes(cut - 1, cut + 1) <= options_.max_bytes;
  }

  bool is_bare(std::size_t begin, std::size_t end) const {
    for (; begin < end; ++begin) {
      if (!outline_.units[begin].is_bare) return false;
    }
    return true;
  }

  std::size_t bytes(std::size_t begin, std::size_t end) const {
    return begin >= end ? 0 : outline_.units[end - 1].end - outline_.units[begin].begin;
  }

  void emit(std::size_t begin, std::size_t end, std::size_t owner) {
    out_.push_back({{outline_.units[begin].begin, outline_.units[end - 1].end}, owner});
  }

  const Outline& outline_;
  const ChunkOptions& options_;
  std::vector<PackedChunk> out_;
};

}  // namespace

std::vector<PackedChunk> pack(const Outline& outline, const ChunkOptions& options) { return Packer(outline, options).run(); }

}  // namespace footnote::chunk
