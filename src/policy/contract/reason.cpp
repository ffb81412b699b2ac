// SPDX-License-Identifier: Apache-2.0
#include "policy/contract/reason.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "policy/contract/reason_words.h"
#include "text/human.h"

namespace almanac::policy {

namespace {

/// What files, squeue and reports call each kind, in order of kinds.
struct Words {
  ReasonKind kind;
  std::string_view name;
  std::string_view slurm;       ///< "Never": no change of load can let the job start.
  std::string_view waited_for;  ///< After how long it waited; empty for "never".
};
constexpr Words kWords[] = {
    {ReasonKind::none, "NONE", "Starting", "for other reasons"},
    {ReasonKind::short_of_cores, "SHORT_OF_CORES", "Resources",
     "for cores or memory that others held"},
    {ReasonKind::reclaimed, "RECLAIMED", "Resources", "for cores that it had on loan"},
    {ReasonKind::short_of_gpus, "SHORT_OF_GPUS", "Resources", "for GPUs that others held"},
    {ReasonKind::fragmented, "FRAGMENTED", "Resources", "for free GPUs in the right places"},
    {ReasonKind::booting, "BOOTING", "ReqNodeNotAvail", "for nodes to boot"},
    {ReasonKind::behind, "BEHIND", "Priority", "for jobs ahead in the queue"},
    {ReasonKind::reserved, "RESERVED", "Priority", "so as not to delay a reservation"},
    {ReasonKind::next_lease, "NEXT_LEASE", "NextLease", "for the next lease"},
    {ReasonKind::part_used, "PART_USED", "QOSGrpGRES", "for its model's part of the GPUs"},
    {ReasonKind::at_quota, "AT_QUOTA", "QOSGrpGRES", "for a quota"},
    {ReasonKind::at_limit, "AT_LIMIT", "QOSGrpGRES", "for the limit of its tenant"},
    {ReasonKind::passed_over, "PASSED_OVER", "Priority", "as the policy put others first"},
    {ReasonKind::awaits_signal, "AWAITS_SIGNAL", "BeginTime", "for cheaper or cleaner power"},
    {ReasonKind::unknown_vc, "UNKNOWN_VC", "Never", ""},
    {ReasonKind::too_large, "TOO_LARGE", "Never", ""},
    {ReasonKind::too_many_cores, "TOO_MANY_CORES", "Never", ""},
    {ReasonKind::over_limit, "OVER_LIMIT", "Never", ""},
    {ReasonKind::declined, "DECLINED", "Never", ""},
    {ReasonKind::no_such_gpu, "NO_SUCH_GPU", "Never", ""},
    {ReasonKind::no_instance, "NO_INSTANCE", "Resources",
     "for an instance that others held, or stood in the way of"},
    {ReasonKind::no_such_instance, "NO_SUCH_INSTANCE", "Never", ""},
    {ReasonKind::not_in_thousandths, "NOT_IN_THOUSANDTHS", "Never", ""},
    {ReasonKind::gpu_memory_too_small, "GPU_MEMORY_TOO_SMALL", "Never", ""},
    {ReasonKind::oldest, "OLDEST", "Resources", "for GPUs that others held, beyond the age cap"},
    {ReasonKind::set_aside, "SET_ASIDE", "Priority",
     "for a job that had waited beyond the age cap"},
    {ReasonKind::stopped, "STOPPED", "Resources", "for jobs that it was stopped for"},
    {ReasonKind::nvlink_busy, "NVLINK_BUSY", "Resources", "for free GPUs in one NVLink domain"},
    {ReasonKind::nvlink_too_large, "NVLINK_TOO_LARGE", "Never", ""},
    {ReasonKind::short_of_gpu_part, "SHORT_OF_GPU_PART", "Resources",
     "for a part of a GPU that others held"},
    {ReasonKind::short_of_gpu_memory, "SHORT_OF_GPU_MEMORY", "Resources",
     "for GPU memory that others held"},
};
static_assert([] {
  std::size_t at = 0;
  return std::rbegin(kWords)->kind == ReasonKind::short_of_gpu_memory &&
         std::all_of(std::begin(kWords), std::end(kWords), [&](const Words& each) {
           return each.kind == ReasonKind{static_cast<std::uint8_t>(at++)};
         });
}());

const Words& words_of(ReasonKind kind) {
  const auto at = static_cast<std::size_t>(kind);
  ALMANAC_CHECK(at < std::size(kWords), "reason {} has no words", at);
  return kWords[at];
}

std::string gpus(int count) { return fmt::format("{} GPU{}", count, count == 1 ? "" : "s"); }

std::string gpu_time(double gpu_s) {
  if (gpu_s < 120) return fmt::format("{:.0f} GPU-s", gpu_s);
  if (gpu_s < 7200) return fmt::format("{:.0f} GPU-min", gpu_s / 60);
  return fmt::format("{:.{}f} GPU-h", gpu_s / 3600, gpu_s < 360'000 ? 1 : 0);
}

std::string goes_first(const Reason& reason) {
  const std::string why = to_string(reason.precedence);
  return why.empty() ? "is ahead in the queue" : "goes first: " + why;
}

std::string stopped(const Reason& reason, const std::string& other) {
  std::string why = to_string(reason.precedence);
  if (reason.stop_gpu_s > 0) {
    why += fmt::format("{}the stop cost {}", why.empty() ? "" : ", and ",
                       gpu_time(double{reason.stop_gpu_s}));
  }
  return fmt::format("stopped for job {}{}{}; needs {}, {} free on the nodes it can use", other,
                     why.empty() ? "" : ": ", why, gpus(reason.wanted), reason.available);
}

std::string instance(const Reason& reason) {
  return reason.profile == slices::kNoProfile ? "instance of its size"
                                              : std::string(slices::profile_name(reason.profile));
}

std::string instances(const slices::Board& board) {
  std::vector<std::string_view> names;
  for (const slices::Profile& each : board.profiles) names.push_back(each.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

bool is_never(const Reason& reason) { return words_of(reason.kind).slurm == "Never"; }

std::string_view slurm_word(ReasonKind kind) { return words_of(kind).slurm; }

std::string_view waited_for(ReasonKind kind) { return words_of(kind).waited_for; }

std::string to_string(const Precedence& precedence) {
  const auto& [term, own, others] = precedence;
  const double mine = own;
  const double its = others;
  switch (term) {
    case Term::none:
      return "";
    case Term::tier:
      return fmt::format("its priority tier is {:.0f}, this job's is {:.0f}", its, mine);
    case Term::overdue:
      return fmt::format("it has waited {} and is overdue (its own bound, or its user's)",
                         text::human_time(its));
    case Term::due:
      return fmt::format(
          "it must run now to meet its deadline in {}{}", text::human_time(its),
          mine == 0 ? "" : ", this job to meet its own in " + text::human_time(mine));
    case Term::deadline:
      return fmt::format("its deadline is in {}, {}", text::human_time(its),
                         mine == 0 ? "this job has none that it can meet"
                                   : "this job's in " + text::human_time(mine));
    case Term::gpu_time:
      return fmt::format("it is expected to take {}, this job {}", gpu_time(its), gpu_time(mine));
    case Term::gittins_index:
      return fmt::format("its Gittins index is {}, this job's is {}", gpu_time(its),
                         gpu_time(mine));
    case Term::run_time:
      return fmt::format("it is expected to run {}, this job {}", text::human_time(its),
                         text::human_time(mine));
    case Term::user_share:
      return fmt::format("its user's dominant share is {}, that of this job's user {}",
                         text::human_share(its), text::human_share(mine));
    case Term::priority:
      return fmt::format("its priority is {:.0f}, this job's is {:.0f}", its, mine);
  }
  return "";
}

namespace {

std::string clause(const Reason& reason, const std::string& other) {
  switch (reason.kind) {
    case ReasonKind::none:
      return "nothing prevents it from starting";
    case ReasonKind::short_of_gpus:
      return fmt::format("not enough GPUs: needs {}, {} free on the nodes it can use",
                         reason.wanted, reason.available);
    case ReasonKind::short_of_cores:
      // CPU jobs ask no GPU.
      return reason.wanted == 0
                 ? "not enough free cores or memory on the nodes it can use"
                 : fmt::format(
                       "not enough cores or memory next to the free GPUs: needs {}, {} free",
                       gpus(reason.wanted), reason.available);
    case ReasonKind::reclaimed:
      return fmt::format("used cores on loan that job {} took back; has not fitted since", other);
    case ReasonKind::fragmented:
      return fmt::format("fragmentation: needs {}, {} free but spread over too many nodes",
                         reason.wanted, reason.available);
    case ReasonKind::booting:
      return "waiting for nodes to boot";
    case ReasonKind::behind:
      return fmt::format("{}job {} {}", reason.slurm == SlurmReason::none ? "would fit, but " : "",
                         other, goes_first(reason));
    case ReasonKind::reserved: {
      const std::string why = to_string(reason.precedence);
      return fmt::format("would fit, but would delay job {}, which holds a reservation{}{}", other,
                         why.empty() ? "" : " and goes first: ", why);
    }
    case ReasonKind::next_lease:
      return "would fit, but waits for the next lease to begin";
    case ReasonKind::part_used:
      return "would fit, but its model's part of the GPUs is in use";
    case ReasonKind::at_quota:
      return fmt::format("needs {}, more than one of its quotas has left", gpus(reason.wanted));
    case ReasonKind::at_limit:
      return fmt::format("needs {}, but the limit of its tenant (or of a tenant above) leaves {}",
                         gpus(reason.wanted), reason.available);
    case ReasonKind::passed_over:
      return "would fit, but the policy keeps the GPUs for other jobs";
    case ReasonKind::awaits_signal:
      return "would fit, but waits for cheaper or cleaner power";
    case ReasonKind::unknown_vc:
      return "never: the cluster has no such virtual cluster";
    case ReasonKind::too_large:
      return fmt::format("never: needs {}, but the nodes it can use have at most {} of one type",
                         gpus(reason.wanted), reason.available);
    case ReasonKind::too_many_cores:
      return "never: needs more cores or memory than its nodes have";
    case ReasonKind::over_limit:
      return fmt::format(
          "never: needs {}, but the limit of its tenant (or of a tenant above) is {}",
          gpus(reason.wanted), reason.available);
    case ReasonKind::declined:
      return "never: the policy rejected it";
    case ReasonKind::no_such_gpu:
      return "never: the nodes it can use have no GPU of a type that it accepts";
    case ReasonKind::no_instance:
      return fmt::format(
          "no {} is free on the nodes it can use{}", instance(reason),
          other.empty() ? "" : ", but one can be created when job " + other + " ends");
    case ReasonKind::no_such_instance:
      // A run of an earlier version tells the kind only.
      if (reason.profile == slices::kNoProfile) {
        return "never: the nodes it can use are not partitioned into the MIG instance that it "
               "needs";
      }
      if (reason.board == nullptr) {
        return fmt::format(
            "never: needs a {}, but the nodes it can use have none and no GPU to partition",
            instance(reason));
      }
      return fmt::format("never: needs a {}, but an {} offers only {}", instance(reason),
                         reason.board->name, instances(*reason.board));
    case ReasonKind::not_in_thousandths:
      return "never: requests a fraction of a GPU, but the nodes it can use offer MIG instances "
             "only";
    case ReasonKind::gpu_memory_too_small:
      return fmt::format(
          "never: needs {:g} GB of GPU memory, more than any GPU on the nodes it can use offers",
          reason.wanted / 1e3);
    case ReasonKind::oldest:
      return fmt::format(
          "first in line: it has waited longer than the age cap, so free GPUs are reserved for it; "
          "needs {}, {} free",
          reason.wanted, reason.available);
    case ReasonKind::set_aside:
      return fmt::format(
          "would fit, but GPUs are reserved for job {}, which has waited longer than the age cap",
          other);
    case ReasonKind::stopped:
      return stopped(reason, other);
    case ReasonKind::nvlink_busy:
      return fmt::format(
          "NVLink: needs {} in groups that each share an NVLink domain, and the free GPUs on the "
          "nodes it can use make such groups of {} only",
          gpus(reason.wanted), gpus(reason.available));
    case ReasonKind::nvlink_too_large:
      if (reason.available == 0) {
        return "never: its NVLink groups (nvlink_gpus) are larger than every NVLink domain of the "
               "nodes it can use";
      }
      return fmt::format(
          "never: needs {} in groups that each share an NVLink domain (nvlink_gpus), and the nodes "
          "it can use make such groups of {} only",
          gpus(reason.wanted), gpus(reason.available));
    case ReasonKind::short_of_gpu_part:
      return fmt::format(
          "not enough of a GPU: needs {:g} of its compute, and no GPU that it can use has more "
          "than {:g} free",
          reason.wanted / 1e3, reason.available / 1e3);
    case ReasonKind::short_of_gpu_memory:
      return fmt::format(
          "not enough GPU memory: needs {:g} GB, and no GPU with enough compute left has more than "
          "{:g} GB free",
          reason.wanted / 1e3, reason.available / 1e3);
  }
  return "";
}

}  // namespace

std::string to_string(const Reason& reason, const std::string& other) {
  if (reason.slurm != SlurmReason::none) {
    const std::string what = meaning(reason.slurm);
    return fmt::format("{}: {}", name(reason.slurm), what.empty() ? clause(reason, other) : what);
  }
  return clause(reason, other);
}

std::string name(ReasonKind kind) {
  const auto at = static_cast<std::size_t>(kind);
  return at < std::size(kWords) ? std::string(kWords[at].name) : "";
}

std::string name(Term term) {
  switch (term) {
    case Term::none:
      return "";
    case Term::tier:
      return "TIER";
    case Term::overdue:
      return "OVERDUE";
    case Term::due:
      return "DUE";
    case Term::deadline:
      return "DEADLINE";
    case Term::gpu_time:
      return "GPU_TIME";
    case Term::gittins_index:
      return "GITTINS_INDEX";
    case Term::run_time:
      return "RUN_TIME";
    case Term::user_share:
      return "USER_SHARE";
    case Term::priority:
      return "PRIORITY";
  }
  return "";
}

}  // namespace almanac::policy
