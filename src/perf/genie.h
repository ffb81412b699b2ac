// SPDX-License-Identifier: Apache-2.0

/// \file
/// The speed of a task on a given number of GPUs and nodes at a fixed total batch size: strong
/// scaling, unlike the other models of this room.
///
///   n             nodes * GPUs of a node
///   rate          (n - Comm) * rate of one GPU at batch / n         Eq 5, 6; n - Comm >= 0.05
///   latency       batch * steps / rate + startup                    Eq 4
///   Comm nodiv    gamma ((nodes - 1) GPUs of a node + lambda (GPUs of a node - 1))
///   Comm printed  the same / (n - 1)                                Eq 8 as printed
///   Comm sync     n - Comm = n t / (t + s): a step computes for t = (batch / n) / rate of one GPU
///                 and then waits for s = gamma ((nodes - 1) + lambda (GPUs of a node - 1)) seconds
///   cost          n / all GPUs + theta * nodes / all nodes          Eq 10
///   CER           rate / cost                                       Eq 11
///
/// A task on one GPU, and inference on any number, has no Comm.
///
/// Source   GENIE (Chen et al., TPDS'20) 5.1, 5.2.
/// Differs  `nodiv` is the default: Eq 8 with its division cannot reproduce the paper's own Figure
///          8. `sync` is ours, after Pollux' step time (step_time.h). Grants that lie unevenly
///          count with the mean GPUs of a node. docs/guide/qos.md has the errors.
/// Range    4 nodes of 4 K80, batches of 1 to 128.
/// Cost     bench/perf_bench.cpp; no allocation.
#pragma once

#include <array>
#include <string_view>

#include "perf/batch_curve.h"

namespace almanac::perf {

/// `<d_node, d_gpn>`: GPUs on each of a number of nodes. Uneven placements count with the mean.
struct Shape {
  double nodes = 1;
  double gpus_per_node = 1;

  double gpus() const { return nodes * gpus_per_node; }
};

/// Cost of gradient exchange.
struct Comm {
  enum class Form : unsigned char { nodiv, printed, sync };

  Form form = Form::nodiv;
  double gamma = 0;
  double lambda = 0;

  /// The GPUs' worth of work that is left of them. `gpu_step_s` is how long one computes at a step.
  double left_of(Shape shape, double gpu_step_s) const;
};

inline constexpr std::array<std::string_view, 3> kCommForms{"nodiv", "printed", "sync"};

/// Of a model in training or in inference.
struct GenieRate {
  BatchCurve one_gpu;
  Comm comm;  ///< All 0 for inference.

  /// Samples a second. PR of Eq 5.
  double operator()(double batch, Shape shape) const;
};

/// A job with known batch size and steps. `rate` must outlive it.
struct GenieTask {
  const GenieRate* rate = nullptr;
  double batch = 1;
  double steps = 1;
  double startup_s = 0;

  /// Samples a second.
  double samples_per_s(Shape shape) const { return (*rate)(batch, shape); }
  double latency_s(Shape shape) const { return batch * steps / samples_per_s(shape) + startup_s; }
};

inline constexpr double kTheta = 0.4;  ///< The paper's.

/// Returns the cost of a shape on a cluster of `nodes` nodes with `gpus_per_node` GPUs each. Eq 10.
inline double cost(Shape shape, double nodes, double gpus_per_node, double theta = kTheta) {
  return shape.gpus() / (nodes * gpus_per_node) + theta * shape.nodes / nodes;
}

}  // namespace almanac::perf
