// SPDX-License-Identifier: Apache-2.0

/// \file
/// Shared by tables of options: parses an argument into its field.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "submission/argument.h"
#include "submission/draft.h"

namespace almanac::submission {

/// Puts what was read into `field`, or passes on why it was not.
template <typename Field, typename Value>
Result<void> put(Field& field, Result<Value> value) {
  if (!value) return tl::unexpected(std::move(value.error()));
  field = *std::move(value);
  return {};
}

/// A text that may not be empty.
inline Result<std::string> read_text(std::string_view text) {
  if (text.empty()) return fail(Code::invalid, "a text");
  return std::string(text);
}

/// The value of --gpus, and what goes with it.
Result<void> set_gpus(Draft& draft, std::string_view text);

}  // namespace almanac::submission
