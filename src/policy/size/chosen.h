// SPDX-License-Identifier: Apache-2.0

/// \file
/// Sizes that choose among what makes a GPU job faster or slower.
#pragma once

#include <cstdint>

#include "cluster/ledger.h"
#include "policy/kit/size_choices.h"
#include "policy/slots.h"

namespace almanac::policy::size {

/// What a job asks with the cores and memory of `choice` for each GPU.
inline cluster::Demand chosen(cluster::Demand asked, const SizeChoice& choice) {
  asked.cpu_milli = static_cast<std::int32_t>(choice.cpu_milli);
  asked.memory_mb = static_cast<std::int32_t>(choice.memory_mb);
  return asked;
}

/// A GPU job starts with its least choice, or its best, and could use its best; a CPU job gets what
/// it asks.
class ChosenSize : public Size {
 public:
  enum class StartsWith { least, best };

  explicit ChosenSize(StartsWith starts_with) : starts_with_(starts_with) {}

  cluster::Demand demand(JobId job, const cluster::Demand& asked, const View& view) final {
    if (starts_with_ == StartsWith::best || asked.is_cpu_job()) return wish(job, asked, view);
    const JobChoices& choices = choices_.of(job, view);
    return chosen(asked, choices.all[choices.least]);
  }
  cluster::Demand wish(JobId job, const cluster::Demand& asked, const View& view) final {
    if (asked.is_cpu_job()) return asked;
    const JobChoices& choices = choices_.of(job, view);
    return chosen(asked, choices.all[choices.best]);
  }

 protected:
  SizeChoices choices_;

 private:
  StartsWith starts_with_;
};

}  // namespace almanac::policy::size
