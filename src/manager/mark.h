// SPDX-License-Identifier: Apache-2.0

/// \file
/// Marks jobs that Almanac holds until their start, by words in the administrator's comment.
/// The plugin job_submit/almanac writes the same words.
///
/// A hold is a lease: the begin time of the job is a time in the near future, which Almanac
/// postpones again and again. If it stops doing so for any reason, the manager starts the job. The
/// comment contains the postponed time, which shows who set it, because users can set begin times
/// too.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/time.h"
#include "text/number.h"

namespace almanac::manager {

inline constexpr std::string_view kMark = "placed by almanac";
inline constexpr std::string_view kUntil = " until ";

/// "placed by almanac until 1763900000".
inline std::string mark_until(Time end) {
  return fmt::format("{}{}{}", kMark, kUntil,
                     std::chrono::floor<std::chrono::seconds>(end.time_since_epoch()).count());
}

/// Returns the end of the lease in a comment; kNoTime if there is none.
inline Time lease_end(std::string_view comment) {
  if (!comment.starts_with(kMark)) return kNoTime;
  comment.remove_prefix(kMark.size());
  if (!comment.starts_with(kUntil)) return kNoTime;
  const auto end = text::parse_whole(comment.substr(kUntil.size()));
  constexpr std::int64_t kLatest = 1LL << 40U;
  return end && *end > 0 && *end < kLatest ? Time{std::chrono::seconds(*end)} : kNoTime;
}

}  // namespace almanac::manager
