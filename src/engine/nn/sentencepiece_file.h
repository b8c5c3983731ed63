#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace footnote::nn {

/// The parts of SentencePiece's model file (a protocol buffer) that tokenization needs. Views into the file.
struct SentencePieceFile {
  enum class ModelType { kUnigram = 1, kBpe = 2, kWord = 3, kCharacter = 4 };
  enum class PieceType { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

  struct Piece {
    std::string_view text;
    float score = 0;
    PieceType type = PieceType::kNormal;
  };

  std::vector<Piece> pieces;
  ModelType model_type = ModelType::kUnigram;
  std::string_view chars_map;  ///< Input for CharsMap::parse(); empty when there is none.
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;
  bool escape_whitespaces = true;

  /// kCorrupted: not such a file, or more than 2^22 pieces.
  static Result<SentencePieceFile> parse(std::string_view bytes);
};

}  // namespace footnote::nn
