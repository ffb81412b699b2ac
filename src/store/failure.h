// SPDX-License-Identifier: Apache-2.0

/// \file
/// Converts SQLite's exceptions to Errors that say what to do.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include <SQLiteCpp/SQLiteCpp.h>

#include "base/result.h"

namespace almanac::store {

/// Thrown if SQLite accepts what we do not.
struct Refused {
  Error error;
};

/// Returns the meaning of `thrown` for the store.
Error error_of(const SQLite::Exception& thrown);
/// The error of a file that is not as we wrote it.
Error damaged(const std::string& what);

/// Returns the result of `work`, or why it failed on the file at `path`.
template <typename Work>
auto guarded(const std::string& path, Work&& work) -> Result<std::invoke_result_t<Work>> {
  Error error;
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Work>>) {
      work();
      return {};
    } else {
      return work();
    }
  } catch (const SQLite::Exception& thrown) {
    error = error_of(thrown);
  } catch (const Refused& refused) {
    error = refused.error;
  }
  error.where.file = path;
  return tl::unexpected(std::move(error));
}

}  // namespace almanac::store
