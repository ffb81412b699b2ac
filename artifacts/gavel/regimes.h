// SPDX-License-Identifier: Apache-2.0

/// \file
/// Shockwave's jobs: their batch grows while they train, and with it their speed.
///
/// Source   Zheng et al., NSDI'23 (Shockwave), section 2, and its published program. Accordion
///          (Agarwal et al., MLSys'21) trains with a large batch outside critical epochs; GNS
///          (McCandlish et al., 2018) doubles it as the noise of gradients grows.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "gavel/training.h"

namespace almanac::gavel {

enum class Mode { fixed, accordion, gns };

struct RegimeJob {
  std::string model{};
  int batch = 0;  ///< 0 = the model has none.
  int gpus = 1;
  Mode mode = Mode::fixed;
  double exclusive_s = 0;      ///< Run time alone, as profiled.
  std::vector<int> profile{};  ///< Batch in each epoch, as profiled.
};

struct RegimeTables {
  std::map<std::tuple<std::string, int, int>, std::size_t> kinds{};  ///< Of model, batch, GPUs.
  /// Batch in each epoch of a job of a model that begins with a batch on so many GPUs.
  std::map<std::tuple<std::string, int, int>, std::vector<int>> patterns{};
};

/// Samples in an epoch; 0 = the model is not known.
int samples_of(const std::string& model);

class Regimes final : public Training {
 public:
  /// Jobs by number.
  Regimes(std::map<int, RegimeJob> jobs, const RegimeTables& tables);

  void ran(int number, Progress& progress) override;
  void round_over(int number, const Progress& progress) override;
  bool is_cut_off(int number, double run_s) const override;

 private:
  struct Now {
    RegimeJob job;
    int batch = 0;
    int wanted = 0;  ///< 0 = no other batch is asked for.
  };
  int batch_wanted(const Now& now, int epoch) const;

  std::map<int, Now> jobs_;
  const RegimeTables& tables_;
};

}  // namespace almanac::gavel
