// SPDX-License-Identifier: Apache-2.0

/// \file
/// Finds the speed model of a job by what is known of it, once a job.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "perf/catalogue.h"
#include "perf/speed_model.h"

namespace almanac::perf {

/// What a log may say about a job. NaN and "" mean unknown.
struct Features {
  std::string_view name{};  ///< Of the model, or of the job: "train_resnet50_v3".
  double batch_per_gpu = std::numeric_limits<double>::quiet_NaN();
  std::string_view kind{};  ///< "image", "language", "speech", "recommendation".
  double cpus_per_gpu = std::numeric_limits<double>::quiet_NaN();       ///< That it can use.
  double memory_gb_per_gpu = std::numeric_limits<double>::quiet_NaN();  ///< That it can use.
  std::string_view gpu_type{};                                          ///< GPU type of `step_s`.
  double step_s = std::numeric_limits<double>::quiet_NaN();             ///< On one GPU alone.
};

/// How a model was found, the surest first.
enum class Match { name, in_name, nearest, none };

struct Found {
  const SpeedModel* speed;  ///< Valid as long as the SpeedModels.
  Match match;
  /// Name of the model; "" if there is none, and the speed is that of the GPUs alone.
  std::string model;
  /// Note for the user: "bart: taken for bert, ..."; "" for Match::name.
  std::string said;
};

/// Returns the GPU type that a model's speed is relative to: that of its input, otherwise the
/// fastest measured one; "" if unknown.
std::string home_type(const Catalogue& catalogue, const Model& model);

/// The models of a catalogue with the batches that jobs have. Not for several threads at once.
class SpeedModels {
 public:
  explicit SpeedModels(Catalogue catalogue);

  /// Types as clusters name them ("V100", "Tesla V100-SXM2"); kOtherGpu for one that is not known.
  GpuType gpu_type(std::string_view name) const;
  const std::vector<std::string>& gpu_types() const { return gpu_types_; }

  /// Finds a model by name; then by the longest name contained in the job's; then the nearest one
  /// by the other features. Without a model, cores, memory, spread and type change nothing, and two
  /// jobs on a GPU share it equally. O(models).
  Found find(const Features& features);

  const Catalogue& catalogue() const { return catalogue_; }

 private:
  const Model* find_within(const std::string& bare) const;
  const SpeedModel* speed_of(const Model* model, double batch_per_gpu);
  SpeedModel make(const Model* model, double batch_per_gpu) const;
  SpeedModel::OnType on_type(const Model& model, const std::string& type, double batch) const;

  Catalogue catalogue_;
  std::vector<std::string> bare_names_;  ///< Names of the models, in order.
  std::vector<std::string> gpu_types_;   ///< By GpuType; the first is kOtherGpu, "".
  std::deque<SpeedModel> made_;
  std::map<std::pair<const Model*, double>, const SpeedModel*> known_;
};

/// Returns the most similar model in the catalogue: of its kind, if known, then by the mean squared
/// logarithm of the ratios of cores, memory and step time. Ties go to the model whose need for
/// cores is in the middle. Skips `except`. Returns null if no feature is known.
const Model* nearest_model(const Catalogue& catalogue, const Features& features,
                           const Model* except = nullptr);

}  // namespace almanac::perf
