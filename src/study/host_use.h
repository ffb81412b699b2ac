// SPDX-License-Identifier: Apache-2.0

/// \file
/// How busy the processors and the memory of machines are: Philly's cluster_cpu_util and
/// cluster_mem_util.
///
/// Source   Jeon et al., ATC'19, Figure 7; memory in use = 100 (total - free) / total.
#pragma once

#include <string>

#include "base/result.h"
#include "study/histogram.h"

namespace almanac::study {

/// Percent, one sample a machine and minute.
struct HostUse {
  PercentHistogram cpu{};
  PercentHistogram memory{};
};

/// Streams the files; "" for none. Skips rows with NA or without a value. Fails with `not_found`,
/// `corrupt` or `invalid`, naming file and line.
Result<HostUse> read_host_use(const std::string& cpu_path, const std::string& memory_path);

}  // namespace almanac::study
