// SPDX-License-Identifier: Apache-2.0

/// \file
/// Errors that the outside world causes: a file, an option, a network. Bugs abort the program
/// instead (base/check.h).
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace almanac {

enum class Code {
  usage,        ///< The command line is wrong.
  invalid,      ///< The input violates a rule of its format.
  corrupt,      ///< The input is damaged, for example truncated.
  not_found,    ///< A file or a name does not exist.
  conflict,     ///< Something else holds it.
  unavailable,  ///< It fails now; a later attempt may succeed.
  unsupported,  ///< It is valid, but Almanac does not support it.
};

/// A place in the user's input. Lines and columns count from 1; 0 = unknown.
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

/// Returns one line: "file:line: message (hint)".
std::string to_string(const Error& error);

template <typename T>
using Result = tl::expected<T, Error>;

/// Shortens `return fail(Code::invalid, "...")` in functions that return a Result.
inline tl::unexpected<Error> fail(Code code, std::string message, Where where = {},
                                  std::string hint = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(where), std::move(hint)});
}

}  // namespace almanac
