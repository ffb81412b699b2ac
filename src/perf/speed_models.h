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

/// What a log may tell of a job. NaN and "" = not told.
struct Features {
  std::string_view name{};  ///< Of the model, or of the job: "train_resnet50_v3".
  double batch_per_gpu = std::numeric_limits<double>::quiet_NaN();
  std::string_view kind{};  ///< "image", "language", "speech", "recommendation".
  double cpus_per_gpu = std::numeric_limits<double>::quiet_NaN();       ///< That it can use.
  double memory_gb_per_gpu = std::numeric_limits<double>::quiet_NaN();  ///< That it can use.
  std::string_view gpu_type{};                                          ///< Of `step_s`.
  double step_s = std::numeric_limits<double>::quiet_NaN();             ///< Of one GPU alone.
};

/// How a model was found, the surest first.
enum class Match { name, in_name, nearest, none };

struct Found {
  const SpeedModel* speed;  ///< Valid as long as the SpeedModels.
  Match match;
  std::string model;  ///< Its name; "" when there is none: then speed is that of the GPUs alone.
  std::string said;   ///< What the user should know: "bart: taken for bert, ..."; "" for
                      ///< Match::name.
};

/// The type of GPU that a model's speed is relative to: that of its input, else the fastest that it
/// was measured on; "" = not said.
std::string home_type(const Catalogue& catalogue, const Model& model);

/// The models of a catalogue with the batches that jobs have. Not for several threads at once.
class SpeedModels {
 public:
  explicit SpeedModels(Catalogue catalogue);

  /// Types as clusters name them ("V100", "Tesla V100-SXM2"); kOtherGpu for one that is not known.
  GpuType gpu_type(std::string_view name) const;
  const std::vector<std::string>& gpu_types() const { return gpu_types_; }

  /// By name; else by the longest name within the job's; else the nearest by the other features;
  /// else none: cores, memory, spread and type change nothing, and two jobs on a GPU share it
  /// equally. O(models).
  Found find(const Features& features);

  const Catalogue& catalogue() const { return catalogue_; }

 private:
  const Model* find_within(const std::string& bare) const;
  const SpeedModel* speed_of(const Model* model, double batch_per_gpu);
  SpeedModel make(const Model* model, double batch_per_gpu) const;
  SpeedModel::OnType on_type(const Model& model, const std::string& type, double batch) const;

  Catalogue catalogue_;
  std::vector<std::string> bare_names_;  ///< Of the models, in their order.
  std::vector<std::string> gpu_types_;   ///< By GpuType; the first is kOtherGpu, "".
  std::deque<SpeedModel> made_;
  std::map<std::pair<const Model*, double>, const SpeedModel*> known_;
};

/// The model of the catalogue that is most alike: of its kind if one is told, then by the mean
/// squared logarithm of how much cores, memory and step differ. Of equals the one whose need of
/// cores is in the middle. `except` is passed over. nullptr when no feature tells anything.
const Model* nearest_model(const Catalogue& catalogue, const Features& features,
                           const Model* except = nullptr);

}  // namespace almanac::perf
