// SPDX-License-Identifier: Apache-2.0

/// \file
/// Errors of readers name the options that most commands have. A command with another spelling says
/// its own.
#pragma once

#include <string>

#include "base/result.h"

namespace almanac::cli {

/// Returns `error` with `own` wherever its message and hint name `option`: "--with-columns" for
/// "--columns".
inline Error with_own_option(Error error, const std::string& option, const std::string& own) {
  for (std::string* const text : {&error.message, &error.hint}) {
    for (std::size_t at = text->find(option); at != std::string::npos;
         at = text->find(option, at + own.size())) {
      text->replace(at, option.size(), own);
    }
  }
  return error;
}

}  // namespace almanac::cli
