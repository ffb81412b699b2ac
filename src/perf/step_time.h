// SPDX-License-Identifier: Apache-2.0

/// \file
/// How long a step of data-parallel training takes, by batch, number of GPUs and their spread.
///
///   compute   fixed + sample * batch of a GPU
///   sync      0 for one GPU; local + local_more * (GPUs - 2) on one node;
///             remote + remote_more * (GPUs - 2) + remote_spread * (1 - 2 / nodes) on more
///   step      (compute^overlap + sync^overlap)^(1/overlap)   1: one after the other; great: at
///   once
///
/// Source   Pollux (Qiao et al., OSDI'21, section 3.2).
/// Differs  remote_spread is ours. Nodes beyond two make no difference in Pollux' traces, but with
///          8 GPUs on 2 to 8 nodes of Rubick's they do.
/// Range    1 to 64 T4 on 1 to 16 nodes, 1 to 8 K80, P100 or V100, 1 to 64 A800. Errors:
///          docs/guide/perf.md.
#pragma once

namespace almanac::perf {

/// Seconds.
struct StepTime {
  double fixed = 0;
  double sample = 1;
  double local = 0;
  double local_more = 0;
  double remote = 0;
  double remote_more = 0;
  double remote_spread = 0;
  double overlap = 1;  ///< At least 1.

  double compute(double batch_per_gpu) const { return fixed + sample * batch_per_gpu; }
  double sync(int gpus, int nodes) const {
    if (gpus <= 1) return 0;
    if (nodes <= 1) return local + local_more * (gpus - 2);
    return remote + remote_more * (gpus - 2) + remote_spread * (1 - 2.0 / nodes);
  }
  double operator()(double batch_per_gpu, int gpus, int nodes) const;
};

/// Returns the duration of a step from its computation and synchronization times.
double join(double compute, double sync, double overlap);

}  // namespace almanac::perf
