// SPDX-License-Identifier: Apache-2.0

/// \file
/// Known models: fitted parameters, their sources and their errors.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "perf/genie.h"
#include "perf/input_curve.h"
#include "perf/input_table.h"
#include "perf/sharing.h"
#include "perf/step_time.h"
#include "rules/interleave/phases.h"
#include "rules/interleave/stages.h"

namespace almanac::perf {

/// Root mean squares: of ln(fitted / measured) for speeds, of the difference for speeds next to a
/// neighbor. NaN if it could not be determined.
struct FitError {
  double seen = 0;
  double held_out = 0;  ///< On points that the fit did not see.
};

struct Input {
  InputCurve curve;
  std::string source;
  std::string gpu_type;  ///< "" if unknown.
  FitError error;
  /// Measured values; if set, the curve only gives what is enough.
  std::shared_ptr<const InputTable> table{};

  /// How fast cores alone, memory alone feed a GPU.
  double by_cpus(double cpus_per_gpu) const {
    return table ? (*table)(cpus_per_gpu, table->memory_gb().back()) : curve.by_cpus(cpus_per_gpu);
  }
  double by_memory(double memory_gb_per_gpu) const {
    return table ? (*table)(table->cpus().back(), memory_gb_per_gpu)
                 : curve.by_memory(memory_gb_per_gpu);
  }
};

/// A model on one type of GPU.
struct Board {
  std::string gpu_type;
  std::string source;
  StepTime step;
  double least_batch = 1;  ///< Per GPU, as measured.
  double most_batch = 1;
  int most_gpus = 1;
  FitError error;
  std::optional<Sharing> sharing;
  std::optional<interleave::Stages> stages{};  ///< Of a step at usual_batch(), as measured.
  /// Of a step at usual_batch(), if it is an iteration of reinforcement learning. Not with stages.
  std::optional<interleave::Phases> phases{};

  /// Returns the middle of the measured range: the batch size of a job that gives none.
  double usual_batch() const { return std::sqrt(least_batch * most_batch); }
};

/// A training or inference task with known batch size and steps.
struct Genie {
  GenieRate rate;
  double most_batch = 128;  ///< On one GPU, as measured.
  std::string source;
  FitError error;
};

struct Model {
  std::string name;
  std::string kind;  ///< "" if unknown.
  std::optional<Input> input;
  std::vector<Board> boards;
  std::optional<Genie> training{};
  std::optional<Genie> inference{};

  const Board* find(std::string_view gpu_type) const;
};

/// Properties of a GPU type, for all models.
struct GpuClass {
  std::string type;
  double speed = 1;  ///< Mean of the models measured, relative to the first of the list.
  FitError speed_error{};
  std::optional<SharingByStep> sharing{};
  FitError sharing_error{};  ///< On pairs.
  /// On pairs with a model without any measured pair.
  double sharing_unseen_error = 0;
};

struct Catalogue {
  std::vector<GpuClass> gpus;
  std::vector<Model> models;  ///< By name.
  double startup_s = 0;       ///< Of a Genie task, whatever its steps. nu of Eq 4.
  double theta = kTheta;      ///< Cost of a node in addition to its GPUs. Eq 10.

  const Model* find(std::string_view name) const;
  const GpuClass* find_gpu(std::string_view type) const;
};

}  // namespace almanac::perf
