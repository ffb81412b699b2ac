// SPDX-License-Identifier: Apache-2.0

/// \file
/// A log with additional users.
#pragma once

#include <cstdint>

#include "trace/trace.h"

namespace almanac::capacity {

struct Growth {
  trace::Trace trace{};
  std::int64_t users = 0;  ///< Added.
  std::int64_t jobs = 0;   ///< Added.
  double share = 0;        ///< GPU time of the added jobs, relative to the log's.
};

/// Whether any job requests a GPU.
bool requests_gpus(const trace::Trace& trace);

/// Returns the log with additional users. Draws users whose jobs hold the fraction `more` of the
/// GPU time (of the run time if no job has a GPU), and adds their jobs again, shifted by whole
/// weeks within the period of the log; by days if the log has less than two weeks, by hours if it
/// has less than two days. All jobs of a user shift by the same time, and from the end of the log
/// to its start, so sessions and hours of the day are kept. If whole users do not add up to the
/// fraction, jobs of the others are drawn.
///
/// The added users and jobs have the names of their originals with "+new", except for users if
/// `keeps_users`, because rights may depend on the name. Deterministic in its arguments.
Growth grow(const trace::Trace& trace, double more, std::uint64_t seed, bool keeps_users = false);

}  // namespace almanac::capacity
