// SPDX-License-Identifier: Apache-2.0

/// \file
/// Base of sizes that choose among configurations with different speeds of a GPU job.
#pragma once

#include <cstdint>

#include "cluster/ledger.h"
#include "policy/kit/size_choices.h"
#include "policy/slots.h"

namespace almanac::policy::size {

/// Returns the demand with the cores and memory of `choice` for each GPU.
inline cluster::Demand chosen(cluster::Demand asked, const SizeChoice& choice) {
  asked.cpu_milli = static_cast<std::int32_t>(choice.cpu_milli);
  asked.memory_mb = static_cast<std::int32_t>(choice.memory_mb);
  return asked;
}

/// A GPU job starts with its smallest or its best choice, and could use its best. A CPU job gets
/// what it requests.
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
