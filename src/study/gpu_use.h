// SPDX-License-Identifier: Apache-2.0

/// \file
/// How busy the GPUs of jobs are: Philly's cluster_gpu_util joined with the attempts of its job
/// log.
///
/// Source   Jeon et al., ATC'19, Figures 5 and 6, Tables 3 and 5, and the notebook of the
///          philly-traces release: every (GPU, minute) of every attempt counts, from the minute of
///          its start to the one before its end; sizes are exactly 1, 4, 8 and 16 GPUs.
#pragma once

#include <array>
#include <map>
#include <string>

#include "base/result.h"
#include "study/histogram.h"
#include "study/study.h"

namespace almanac::study {

inline constexpr std::array kUseSizes{1, 4, 8, 16};

/// Percent of each minute that a GPU was busy.
struct GpuUse {
  using OfEndings = std::array<PercentHistogram, kEndings.size()>;
  std::array<OfEndings, kUseSizes.size()> of_size{};
  OfEndings of_all{};  ///< Jobs of every size.
  /// Jobs of 8 and of 16 GPUs on as few machines as can hold them.
  std::array<PercentHistogram, 2> dedicated{};
  std::array<std::int64_t, 2> dedicated_attempts{};
  std::map<int, PercentHistogram> of_16_by_machines{};
  std::int64_t rows = 0;       ///< Of the file: one machine, one minute.
  std::int64_t unmatched = 0;  ///< GPU minutes that no attempt held.
  std::int64_t held = 0;       ///< GPU minutes that attempts held, measured or not.
  std::int64_t known = 0;      ///< Of these, measured.

  /// A finding is reported only if the file covers at least half of what jobs held.
  bool known_for_most() const { return 2 * known >= held; }
};

/// Streams the file at `path` (CSV: time, machine, a column a GPU; "NA" = off line; .gz and .zst
/// are unpacked). Its times are taken as those of the job log, whatever zone they name: both are
/// the wall clock of the cluster. Memory: the attempts, not the file. Fails with not_found, corrupt
/// or invalid, naming file and line.
Result<GpuUse> read_gpu_use(const std::string& path, const trace::Trace& trace);

}  // namespace almanac::study
