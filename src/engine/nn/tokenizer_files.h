#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "engine/nn/tokenizer.h"

namespace footnote::nn {

/// Opens the tokenizer of a Hugging Face model folder, from the first of these that is there:
///   tokenizer.json             WordPiece as BERT has it, or Unigram as XLM-RoBERTa has it
///   vocab.txt                  WordPiece
///   sentencepiece.bpe.model    Unigram, with XLM-RoBERTa's ids
/// What tokenizer_config.json says (do_lower_case, strip_accents, tokenize_chinese_chars, model_max_length, the names of
/// special tokens) counts too; where it differs from tokenizer.json it wins, as it does in the reference.
/// kFailedPrecondition: none of the files is there. kUnsupported: another kind of tokenizer; the message says which.
/// kCorrupted: a file can't be read as what it is; the message names it.
Result<std::unique_ptr<const Tokenizer>> open_tokenizer(const std::filesystem::path& folder);

/// The same from the contents of the files, for which no others are read. `config` is that of tokenizer_config.json;
/// empty: there is none. Messages don't name a file.
Result<std::unique_ptr<const Tokenizer>> tokenizer_from_json(std::string_view tokenizer_json, std::string_view config = {});
Result<std::unique_ptr<const Tokenizer>> tokenizer_from_vocabulary(std::string_view vocab_txt, std::string_view config = {});
Result<std::unique_ptr<const Tokenizer>> tokenizer_from_sentencepiece(std::string_view model, std::string_view config = {});

}  // namespace footnote::nn
