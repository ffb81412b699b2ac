// SPDX-License-Identifier: Apache-2.0

/// \file
/// Marks a job that Almanac holds back until it is to start: these words stand in the
/// administrator's comment. The plugin job_submit/almanac writes the same.
///
/// A hold is a lease: the job may begin at a time soon to come, which is put off again and again.
/// Slurm itself lets it start when that is not done any more, whatever has become of us. The
/// comment says how far it was put off, so that it is known who did it: the user may set that time
/// too.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/time.h"
#include "text/number.h"

namespace almanac::slurm {

inline constexpr std::string_view kMark = "placed by almanac";
inline constexpr std::string_view kUntil = " until ";

/// "placed by almanac until 1763900000".
inline std::string mark_until(Time end) {
  return fmt::format("{}{}{}", kMark, kUntil,
                     std::chrono::floor<std::chrono::seconds>(end.time_since_epoch()).count());
}

/// When the lease ends of which a comment tells; kNoTime = it tells of none.
inline Time lease_end(std::string_view comment) {
  if (!comment.starts_with(kMark)) return kNoTime;
  comment.remove_prefix(kMark.size());
  if (!comment.starts_with(kUntil)) return kNoTime;
  const auto end = text::parse_whole(comment.substr(kUntil.size()));
  constexpr std::int64_t kLatest = 1LL << 40U;
  return end && *end > 0 && *end < kLatest ? Time{std::chrono::seconds(*end)} : kNoTime;
}

}  // namespace almanac::slurm
