// SPDX-License-Identifier: Apache-2.0

/// \file
/// The public data of Gavel and its kin as what `gavel` plays: speeds of models on types, job
/// streams.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gavel/engine.h"
#include "reproduce/bench.h"
#include "reproduce/read.h"

namespace almanac::reproduce {

inline constexpr const char* kGavelData = "Narayanan et al., OSDI'20, program of the paper (MIT)";

/// Models as the published tables name them: "ResNet-18 (batch size 64)", "A3C".
std::string model_name(std::string_view model, std::string_view batch_size);

/// A kind of job is a model and its number of GPUs.
class ModelSpeeds {
 public:
  /// Columns gpu_type, model, batch_size, scale_factor, steps_per_s; types called "_unconsolidated"
  /// are left out.
  explicit ModelSpeeds(const std::string& path);
  ModelSpeeds() = default;

  const std::vector<std::string>& types() const { return types_; }
  const gavel::Speeds& speeds() const { return speeds_; }
  /// Malformed when there is no such kind.
  std::size_t kind(const std::string& model, int gpus) const;
  const std::vector<double>& rates(const std::string& model, int gpus) const {
    return speeds_.alone[kind(model, gpus)];
  }
  /// Reads rates of pairs: {type: {"('model', gpus)": {"('model', gpus)": [rate, rate]}}}.
  void add_pairs(const Json& throughputs);

 private:
  std::vector<std::string> types_;
  std::map<std::pair<std::string, int>, std::size_t> kinds_;
  gavel::Speeds speeds_;
};

/// GPUs of each type by name, in the order of `types`; types that are not named have none.
std::vector<double> gpus_of(const Json& named, const std::vector<std::string>& types);

/// "36:36:36" under a header that names the types likewise: "v100:p100:k80".
gavel::Cluster cluster_of(std::string_view types, std::string_view gpus);

/// The jobs of each trace of a file with a column `trace`, in order of arrival.
std::map<std::string, std::vector<gavel::Job>> read_traces(const std::string& path,
                                                           const ModelSpeeds& speeds);

/// A generated stream (column gap_to_next_unit) at a mean gap.
std::vector<gavel::Job> read_stream(const std::string& path, const ModelSpeeds& speeds,
                                    double mean_gap_s);

}  // namespace almanac::reproduce
