// SPDX-License-Identifier: Apache-2.0

/// \file
/// Fits GENIE's model of rate (genie.h) to a few short runs, by least squares of relative errors.
///
/// A profile is B + N + G runs, not B * N * G: one GPU at each batch, and at one batch each number
/// of GPUs on one node and each number of nodes with one GPU.
///
/// Source   GENIE (Chen et al., TPDS'20) 5.1.5.
/// Differs  Which batch the runs on more GPUs have, the paper does not say: any are taken here.
#pragma once

#include <span>
#include <vector>

#include "perf/genie.h"

namespace almanac::perf {

/// The form to fit: its position in BatchCurve::Form and kCurveForms.
enum class CurveForm : unsigned char { saturating, quadratic, quadratic_log, table };

/// A rate that was measured.
struct RatePoint {
  double batch = 1;
  Shape shape;
  double rate = 0;  ///< Samples a second, above 0.
};

/// Fits points of one GPU, at least one. A batch size that occurs twice counts twice; in a table,
/// its mean counts.
BatchCurve fit_curve(CurveForm form, std::span<const RatePoint> points);

/// Fits points of several GPUs; ignores those of one. All 0 without any. Several curves with points
/// of their own share one Comm.
/// points of their own have one Comm in common.
struct CommPoints {
  const BatchCurve* one_gpu;
  std::vector<RatePoint> points;
};
Comm fit_comm(Comm::Form form, std::span<const CommPoints> tasks);

/// Time that does not grow with the steps. Groups of runs that differ only in their steps, with at
/// least two numbers of steps each; one startup time for all.
struct TimedRun {
  double steps = 1;
  double seconds = 0;  ///< Above 0.
};
double fit_startup(std::span<const std::vector<TimedRun>> groups);

}  // namespace almanac::perf
