// SPDX-License-Identifier: Apache-2.0

/// \file
/// Nexus: which batch a session runs with, which sessions share a GPU in a duty cycle, and how the
/// objective of a query is split over its stages.
///
/// Source   Shen et al., SOSP'19, sections 4.1 to 4.3, and the released scheduler. Microseconds.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace almanac::serving {

struct NexusModel {
  std::vector<double> mean{}, deviation{};  ///< Of the forward pass, by batch from 1.
  double pre_mean = 0, pre_deviation = 0, post_mean = 0, post_deviation = 0;
};

/// Models by name, with times stretched by `multiplier`.
class NexusProfiles {
 public:
  explicit NexusProfiles(std::map<std::string, NexusModel> models) : models_(std::move(models)) {}
  bool has(const std::string& model) const { return models_.contains(model); }

  int largest(const std::string& model) const;
  double forward(const std::string& model, int batch, double multiplier) const;
  /// Before and after the forward pass together.
  double around(const std::string& model, double multiplier) const;
  /// The largest batch whose forward pass takes at most half of `slo` less the way to it.
  int max_batch(const std::string& model, double slo, double multiplier) const;

 private:
  std::map<std::string, NexusModel> models_;
};

struct NexusSession {
  std::string model{};
  double slo = 0;   ///< us.
  double rate = 0;  ///< Requests a second; 0 = as many as the GPU can.
};

/// A session on a GPU.
struct NexusShare {
  NexusSession session{};
  int batch = 0;
  int max_batch = 0;
  double forward = 0;
  double max_duty = 0;
  double throughput = 0;
};

/// What `session` runs with alone on a GPU; nothing where its objective cannot be met.
std::optional<NexusShare> alone(const NexusProfiles& profiles, const NexusSession& session,
                                double multiplier);

/// The sessions of one GPU.
class NexusNode {
 public:
  NexusNode(const NexusProfiles& profiles, double multiplier)
      : profiles_(&profiles), multiplier_(multiplier) {}

  /// Takes a session in; what it runs with, or nothing where it does not fit.
  std::optional<NexusShare> add(const NexusSession& session);
  /// The same without taking it in; and the occupancy of the GPU with it.
  std::optional<std::pair<NexusShare, double>> what_if(const NexusSession& session) const;

  const std::vector<NexusShare>& shares() const { return shares_; }
  double execution() const { return execution_; }
  double duty() const { return duty_; }
  double occupancy() const { return duty_ > 0 ? execution_ / duty_ : 0; }
  bool overloaded() const { return overloaded_; }

 private:
  void settle();
  const NexusProfiles* profiles_;
  double multiplier_;
  std::vector<NexusShare> shares_;
  double execution_ = 0;
  double duty_ = 0;
  bool overloaded_ = false;
};

struct NexusPlacement {
  std::size_t session = 0;
  int node = -1;  ///< Below 0 = nowhere.
  int batch = 0;
  double throughput = 0;  ///< Or, nowhere, the rate that is not served.
};

/// Each session in turn on the GPUs that serve it best; those with a rest again by rate.
std::vector<NexusPlacement> place_nexus(std::vector<NexusNode>& nodes,
                                        const std::vector<NexusSession>& sessions);

struct NexusStage {
  std::string model{};
  int parent = -1;
  double rate = 0;
};

struct NexusSplit {
  double gpus = 0;
  std::vector<double> budgets_ms{};  ///< Of each stage.
};

/// Cuts `slo_ms` into segments and gives them to the stages of a tree so that the fewest GPUs are
/// needed. As released a stage takes less than its budget, so that each leaf loses a segment; with
/// `whole` it may take all of it.
std::optional<NexusSplit> split_nexus(const NexusProfiles& profiles,
                                      const std::vector<NexusStage>& stages, double slo_ms,
                                      int segments, bool whole);

}  // namespace almanac::serving
