// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which job's traffic goes first on shared links so that GPUs compute most.
///
/// A job's GPU intensity is its computation per step by the time in which it sends: each second of
/// a link that it gets lets its GPUs compute that much. Intensity alone misses how steps lie in
/// time, so it is corrected by what the link would send of the job and of a reference job, each
/// going first in turn. Switches have few priorities, so jobs must share levels, and jobs of one
/// level slow each other.
///
/// Source   Cao et al., SIGCOMM'24 (Crux), sections 3.2 (intensity), 4.2 (correction) and 4.3
///          (levels: a largest K-cut, by dynamic programming over topological orders).
/// Differs  Computation is counted in GPU-seconds, not in floating-point operations, and no part of
///          a step both computes and sends. The first order tried is that of the priorities.
#pragma once

#include <span>
#include <vector>

#include "rules/links/contention.h"

namespace almanac::links {

/// Returns the GPU-seconds that `gpus` GPUs compute for each second of sending.
double gpu_intensity(const Flow& flow, int gpus);

/// Returns the factor by which the intensity of `flow` counts more than that of `reference`, if
/// both share one link: the sending time that `flow` gains by going first, by that which
/// `reference` does. 1 if neither gains; between 0.01 and 100.
/// Cost     that of stretches(), twice
double correction(const Flow& flow, const Flow& reference, double capacity_gbps);

/// Jobs that share links, in order of priority. `weights[a][b]`, a < b, is what is lost if both are
/// in one level; 0 if they share no link.
using Contention = std::vector<std::vector<double>>;

/// Returns the level of each job, from 0, the first, to at most `levels` - 1, such that of two jobs
/// that share a link the first is in no later level, and little is lost within levels. The least
/// possible if there are no more jobs than levels, or if each job shares a link with the next.
/// Cost     O(jobs^2 x levels) for each of ten orders
std::vector<int> levels_of(const Contention& weights, int levels);

/// Returns the sum of the weights within levels.
double lost_within(const Contention& weights, std::span<const int> levels);

}  // namespace almanac::links
