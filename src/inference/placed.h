// SPDX-License-Identifier: Apache-2.0

/// \file
/// Several models on GPUs that they share, as a plan says.
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

/// Which models are on which GPUs.
struct Plan {
  /// GPUs that compute as one: an iteration of one of their models at a time.
  struct Group {
    std::int64_t first = 0, last = 0;   ///< Numbers of GPUs, both included.
    std::vector<std::size_t> models{};  ///< Into Plan::models.
    std::optional<Board> board{};       ///< Nothing = the service's.
    std::optional<double> gpu_hour{};   ///< Price of a GPU for an hour; nothing = as all others.
    int gpus() const { return static_cast<int>(last - first + 1); }
  };
  std::vector<std::string> names{};  ///< Of the models, as requests ask for them.
  std::vector<Model> models{};
  std::vector<Group> groups{};

  int gpus() const;
  int replicas_of(std::size_t model) const;
  /// The price of all its GPUs for an hour, where those that tell none cost `gpu_hour` each.
  double price(double gpu_hour) const;
};

/// Reads a table with a row for each replica: `gpus` ("0", "0-3") and `model` (a name that
/// find_model() knows, or a config.json); and `board` (as find_board() has them) and `gpu_hour`
/// where GPUs differ, empty = as all others. Fails as find_model() and read_model() do, and with
/// invalid naming the row where GPUs are no range, where two groups overlap without being equal,
/// where a group has a model twice, and where GPUs of one group differ.
Result<Plan> read_plan(const std::string& path);

/// Plays `requests` on the replicas of a plan; of `service` count its board, limits, former and
/// router, the board where a plan tells none. Each model has a router of its own. The models of a
/// group take turns by iterations, and share in equal parts the KV memory that the weights of all
/// of them leave.
///
/// Source   turns of models on a GPU: Shen et al., SOSP'19 (Nexus); models beside each other on a
///          group of GPUs: Li et al., OSDI'23 (AlpaServe).
/// Differs  a turn is an iteration, as batches here are formed iteration by iteration.
///
/// Fails with invalid where the models of a group do not fit, or a model that is asked for has no
/// replica; with usage for a router that moves requests; and as parts() does.
Result<std::vector<Outcome>> play_placed(const Service& service, Requests requests,
                                         const Plan& plan);

/// The requests of `model` and what became of them, in order.
struct Part {
  Requests requests{};
  std::vector<Outcome> outcomes{};
};
Part part_of(const std::string& model, const Requests& requests,
             const std::vector<Outcome>& outcomes);

}  // namespace almanac::inference
