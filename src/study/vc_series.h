// SPDX-License-Identifier: Apache-2.0

/// \file
/// Utilization of virtual clusters as it was measured minute by minute: the series from which the
/// Helios study draws its boxes.
///
/// Source   Hu et al., SC'21, Figure 4 (the notebooks' cluster_sequence_vc.csv, one file a virtual
///          cluster; Earth's were drawn without one day of a reconfiguration).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "study/box.h"

namespace almanac::study {

struct VcSeries {
  std::string name{};  ///< Name of the file, without its extensions.
  int gpus = 0;        ///< The most that it had.
  std::size_t minutes = 0;
  Box use{};  ///< Of gpu_utilization, 0..1.
};

/// Reads the file of one virtual cluster, as read_vc_series() does.
Result<VcSeries> read_vc_file(const std::string& path, const std::vector<Time>& excluded);

/// Reads every *.csv, *.csv.gz and *.csv.zst of `folder`, in order of name; a file needs the
/// columns time, total_gpu_num and gpu_utilization. Minutes of the days in `excluded` (each given
/// by any time of it) are left out. Fails with not_found or invalid, naming file and line.
Result<std::vector<VcSeries>> read_vc_series(const std::string& folder,
                                             const std::vector<Time>& excluded);

}  // namespace almanac::study
