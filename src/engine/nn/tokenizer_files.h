#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "engine/nn/tokenizer.h"

namespace footnote::nn {

/// Opens the tokenizer of a Hugging Face model folder, from the first of these files that exists:
///   tokenizer.json             BERT's WordPiece or XLM-RoBERTa's Unigram
///   vocab.txt                  WordPiece
///   sentencepiece.bpe.model    Unigram, with XLM-RoBERTa's ids
/// tokenizer_config.json (do_lower_case, strip_accents, tokenize_chinese_chars, model_max_length, names of special tokens) overrides
/// tokenizer.json, as in the reference.
/// kFailedPrecondition: none of the files exists. kUnsupported: another kind of tokenizer; the message says which. kCorrupted: a file can't
/// be parsed; the message names it.
Result<std::unique_ptr<const Tokenizer>> open_tokenizer(const std::filesystem::path& folder);

/// The same from the contents of the files; reads no others. `config` holds tokenizer_config.json; empty: none. Messages don't name a file.
Result<std::unique_ptr<const Tokenizer>> tokenizer_from_json(std::string_view tokenizer_json, std::string_view config = {});
Result<std::unique_ptr<const Tokenizer>> tokenizer_from_vocabulary(std::string_view vocab_txt, std::string_view config = {});
Result<std::unique_ptr<const Tokenizer>> tokenizer_from_sentencepiece(std::string_view model, std::string_view config = {});

}  // namespace footnote::nn
