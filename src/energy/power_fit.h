// SPDX-License-Identifier: Apache-2.0

/// \file
/// Fits a PowerCurve to measurements of jobs under power limits.
///
/// Source   Zeus (You et al., NSDI'23): time and average power of an epoch, for jobs (data set,
///          network, batch size, optimizer) at each limit of the board.
/// Differs  a job's use is not measured. It is derived from the job's power at the highest limit,
///          between the lowest and the highest power of any job. So `idle` is an upper bound of a
///          free GPU's power, and `errors` apply to jobs that were also measured without a limit.
///          If only a job's network is known, the mean use of the network's jobs applies; if that
///          is unknown too, the mean of the networks.
/// Cost     about 310 evaluations of the curve per row, for each network and once more.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "energy/power_curve.h"

namespace almanac::energy {

struct PowerRow {
  double limit_w;
  double time_s;
  double draw_w;
};

/// The measurements of one job, by rising limit; the last is at the board's highest.
struct PowerJob {
  std::string network;
  std::vector<PowerRow> rows;
};

struct PowerProfile {
  std::vector<PowerJob> jobs;
  double limit_w = 0;  ///< The highest.
  double least_limit_w = 0;
  int dropped = 0;  ///< Jobs that were not measured at the highest limit, or only there.
};

/// Reads a CSV with the columns dataset, network, batch_size, optimizer, power_limit,
/// time_per_epoch, average_power. Fails with not_found for a missing file or column, with invalid
/// for a cell that is no positive number, or when no job has two limits.
Result<PowerProfile> read_power_profile(const std::string& path);

/// Root mean squared errors over all rows below the highest limit.
struct PowerErrors {
  double draw_w = 0;
  double speed = 0;  ///< Relative to the same job without a limit.
};

struct PowerFit {
  PowerCurve curve;
  PowerErrors errors;
  PowerErrors held_out;  ///< Each network's jobs, from a curve fitted to the other networks.
  std::vector<NetworkUse> uses;  ///< By name.
  double speed_by_network = 0;   ///< Error of the speed of each network's jobs, predicted from its
                                 ///< use.
  double speed_unseen = 0;  ///< Told by curve and use of the other networks, which are its mean.
  int rows = 0;             ///< Below the highest limit.
  int networks = 0;
};

/// Least squares: `bend` on draws, then `strain` on speeds. Fails with invalid when all jobs are of
/// one network or draw alike.
Result<PowerFit> fit_power(const PowerProfile& profile);

/// Returns the errors of `curve` on the jobs of `network` ("" for all), each with its own use, or
/// all with `use`.
PowerErrors judge_curve(const PowerProfile& profile, const PowerCurve& curve,
                        const std::string& network = "", std::optional<double> use = {});

}  // namespace almanac::energy
