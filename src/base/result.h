// SPDX-License-Identifier: Apache-2.0

/// \file
/// Says what went wrong in the outside world: a file, a flag, a network. Our own bugs abort
/// instead (base/check.h).
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace almanac {

enum class Code {
  usage,        ///< The command line is wrong.
  invalid,      ///< The input breaks a rule of its format.
  corrupt,      ///< The input is damaged: truncated, not what it claims to be.
  not_found,    ///< A file or a name is not there.
  conflict,     ///< Something else holds it.
  unavailable,  ///< Not now; trying again may help.
  unsupported,  ///< Understood, but not something we do.
};

/// A place in the user's input; line and column count from 1, 0 is unknown.
struct Where {
  std::string file{};
  std::int64_t line = 0;
  std::int64_t column = 0;
};

struct Error {
  Code code = Code::invalid;
  std::string message{};  ///< What was expected, then what was found.
  Where where{};
  std::string hint{};  ///< What to do about it.
};

/// Renders as one line: "file:line: message (hint)".
std::string to_string(const Error& error);

template <typename T>
using Result = tl::expected<T, Error>;

/// Shortens `return fail(Code::invalid, "...")` in functions that return a Result.
inline tl::unexpected<Error> fail(Code code, std::string message, Where where = {},
                                  std::string hint = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(where), std::move(hint)});
}

}  // namespace almanac
