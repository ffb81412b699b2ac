// SPDX-License-Identifier: Apache-2.0
#include "machine/slurm_word.h"

namespace almanac::machine {

std::string slurm_word(policy::ReasonKind kind) {
  switch (kind) {
    case policy::ReasonKind::none:
      return "Starting";
    case policy::ReasonKind::short_of_cores:
    case policy::ReasonKind::short_of_gpus:
    case policy::ReasonKind::fragmented:
    case policy::ReasonKind::no_instance:
    case policy::ReasonKind::reclaimed:
    case policy::ReasonKind::oldest:
    case policy::ReasonKind::stopped:
      return "Resources";
    case policy::ReasonKind::booting:
      return "ReqNodeNotAvail";
    case policy::ReasonKind::behind:
    case policy::ReasonKind::reserved:
    case policy::ReasonKind::passed_over:
    case policy::ReasonKind::set_aside:
      return "Priority";
    case policy::ReasonKind::awaits_signal:
      return "BeginTime";
    case policy::ReasonKind::next_lease:
      return "NextLease";
    case policy::ReasonKind::part_used:
    case policy::ReasonKind::at_quota:
    case policy::ReasonKind::at_limit:
      return "QOSGrpGRES";
    case policy::ReasonKind::unknown_vc:
    case policy::ReasonKind::too_large:
    case policy::ReasonKind::too_many_cores:
    case policy::ReasonKind::no_such_gpu:
    case policy::ReasonKind::no_such_instance:
    case policy::ReasonKind::not_in_thousandths:
    case policy::ReasonKind::gpu_memory_too_small:
    case policy::ReasonKind::over_limit:
    case policy::ReasonKind::declined:
      return "Never";
  }
  return "";
}

}  // namespace almanac::machine
