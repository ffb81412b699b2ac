// SPDX-License-Identifier: Apache-2.0

/// \file
/// How well a set of GPUs suits a job, as the published program computes it. Its interference is
/// inverted (a harmful neighbour looks cheap), and it is kept so: these numbers serve to be
/// compared with published ones, not to decide.
///
/// Source   Amaral et al., SC'17 (topology-aware GPU scheduling), and the program published with
///          it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace almanac::topology {

/// What a job is measured as: a model with a batch.
struct Kind {
  std::string model{};
  int batch = 0;
};

/// Milliseconds an iteration takes.
struct Times {
  /// Alone on so many GPUs, of one socket or of several; 0 = not measured.
  std::function<double(const Kind&, int gpus, bool across)> alone;
  /// On so many GPUs beside the other on so many; 0 = not measured.
  std::function<double(const Kind&, int gpus, const Kind& other, int other_gpus)> beside;
};

struct Weights {
  double communication = 0;
  double interference = 0;
  double fragmentation = 0;
};

/// A machine of sockets.
struct Machine {
  std::vector<int> socket;                    ///< Of each GPU.
  std::vector<std::vector<double>> distance;  ///< Between GPUs.
  std::map<int, double> least_communication;  ///< By number of GPUs.
  std::map<int, double> most_communication;
  double least_cost = 0.01;  ///< What a cost of nothing counts as.

  int sockets() const;
};

struct Resident {
  Kind kind;
  std::vector<int> gpus;
};

struct Utility {
  double communication = 0;  ///< Distances beyond the least.
  double suffered = 0;
  double caused = 0;  ///< NaN = nothing runs.
  double fragmentation = 0;
  double job = 0;  ///< 0 to 1, as are the next.
  double system = 0;
};

/// Of `job` on `gpus`, one to three of those that no resident holds.
Utility utility(const Machine& machine, const Times& times, const Weights& weights, const Kind& job,
                const std::vector<int>& gpus, const std::vector<Resident>& residents);

}  // namespace almanac::topology
