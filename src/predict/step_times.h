// SPDX-License-Identifier: Apache-2.0

/// \file
/// Predicts the run time of a job that states its steps from how long a step of earlier jobs like
/// it took.
///
/// Steps of one model on one number of GPUs take equally long, so where users state steps, few jobs
/// suffice, and the rest varies by some percent. The closest kind of which a job has ended
/// counts:
///
///   the user's jobs of this name
///   all jobs of this name
///   all jobs of this model, and training or inference, with this batch
///   the same with any batch
///
/// all with as many GPUs, the first three with the same batch.
///
/// Source   ours. Peng et al., EuroSys'18 (Optimus), and Chen et al., TPDS'20 (GENIE), predict run
///          times from steps and measured speeds, too.
/// Cost     four look-ups per job; 40 bytes per kind
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "predict/distribution.h"
#include "predict/kinds.h"
#include "predict/run_time.h"

namespace almanac::predict {

class StepTimes {
 public:
  static constexpr std::size_t kStepKinds = 4;
  /// A job as it is known at its submission.
  struct Seen {
    std::array<std::uint64_t, kStepKinds> keys{};  ///< Of its kinds, the closest first; 0 = none.
    std::int64_t steps = 0;                        ///< 0 = it states none.
  };

  /// `keys` are the kinds of the job `request`.
  static Seen seen(const trace::Request& request, const KindKeys& keys);
  /// Returns nothing for a job that states no steps, or if no job like it has ended.
  std::optional<Distribution> run_time(const Seen& job) const;
  /// Ignores a job that did not complete: it may not have done its steps.
  void learn(const Seen& job, const Ended& ended);

 private:
  /// Decaying sums over the log10 of the seconds of a step.
  struct Sums {
    double jobs = 0;
    double log = 0;
    double square = 0;
  };

  std::unordered_map<std::uint64_t, Sums> kinds_;
};

}  // namespace almanac::predict
