#pragma once

#include <string>
#include <string_view>

namespace footnote {

/// Replaces what identifies a person by a word for it: e-mail addresses by [email], telephone numbers by [phone], bank and card numbers by
/// [account]. By form alone: names and street addresses stay. Dates, amounts and short numbers stay too.
std::string mask_pii(std::string_view text);

}  // namespace footnote
