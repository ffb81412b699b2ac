// SPDX-License-Identifier: Apache-2.0

/// \file
/// Several models that share GPUs according to a plan.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "inference/profile/model.h"
#include "inference/request.h"
#include "inference/service.h"

namespace almanac::inference {

/// The GPUs of each model.
struct Plan {
  /// GPUs that compute together, one iteration of one of their models at a time.
  struct Group {
    std::int64_t first = 0, last = 0;   ///< Numbers of GPUs, both included.
    std::vector<std::size_t> models{};  ///< Indexes into Plan::models.
    std::optional<Board> board{};       ///< Empty for the service's.
    std::optional<double> gpu_hour{};   ///< Price per GPU-hour; empty for the default.
    int gpus() const { return static_cast<int>(last - first + 1); }
  };
  std::vector<std::string> names{};  ///< Names of the models, as requests use them.
  std::vector<Model> models{};
  std::vector<Group> groups{};

  int gpus() const;
  int replicas_of(std::size_t model) const;
  /// Returns the price per hour of all GPUs; groups without a price cost `gpu_hour` per GPU.
  double price(double gpu_hour) const;
};

/// Reads a table with a row for each replica. Columns: `gpus` ("0", "0-3"), `model` (a name that
/// find_model() knows, or a config.json) and, if GPUs differ, `board` (as in find_board()) and
/// `gpu_hour`; an empty cell means the default. Fails like find_model() and read_model(), and with
/// `invalid` naming the row if GPUs are not a range, if two groups overlap without being equal, if
/// a group has a model twice, or if the GPUs of a group differ.
Result<Plan> read_plan(const std::string& path);

/// Simulates `requests` on the replicas of a plan. Uses board (unless the plan gives one), limits,
/// former and router of `service`. Each model has its own router. The models of a group take turns
/// by iteration, and share equally the KV cache that is left after all their weights.
///
/// Source   models taking turns on a GPU: Shen et al., SOSP'19 (Nexus); several models on a group
///          of GPUs: Li et al., OSDI'23 (AlpaServe).
/// Differs  a turn is one iteration, because batches here are formed per iteration.
///
/// Fails with `invalid` if the models of a group do not fit, or if a requested model has no
/// replica; with `usage` for a router that moves requests; and like parts().
Result<std::vector<Outcome>> play_placed(const Service& service, Requests requests,
                                         const Plan& plan);

/// The requests of `model` and their outcomes, in order.
struct Part {
  Requests requests{};
  std::vector<Outcome> outcomes{};
};
Part part_of(const std::string& model, const Requests& requests,
             const std::vector<Outcome>& outcomes);

}  // namespace almanac::inference
