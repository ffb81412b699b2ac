// SPDX-License-Identifier: Apache-2.0
#include "report/kept_job.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "policy/contract/reason_words.h"
#include "text/duration.h"
#include "text/human.h"
#include "text/moment.h"

namespace almanac::report {
namespace {

using experiment::KeptJob;
using experiment::KeptWait;

std::string sentence(const KeptWait& wait) { return policy::to_string(wait.reason, wait.other); }

std::string waits_in_words(const KeptJob& job) {
  std::string made;
  std::map<std::string, Duration> totals;
  for (const KeptWait& wait : job.waits) {
    totals[waited_for(wait.reason)] += wait.until - wait.from;
    made += fmt::format("  {}  {:>14}  {}\n", text::moment(wait.from),
                        text::format_duration(wait.until - wait.from), sentence(wait));
  }
  Duration told{};
  for (const auto& [what, total] : totals) told += total;
  if (job.waits.empty() && job.waited <= Duration{0}) return made + "  it never waited\n";
  if (!totals.empty()) made += fmt::format("total: {}\n", in_all(totals));
  // A run asks again after a tenth of the wait, 10 s at least.
  if (job.waited > told) {
    made += fmt::format("the reasons for another {} were not kept: --replay shows them\n",
                        text::format_duration(job.waited - told));
  }
  return made;
}

}  // namespace

std::string longer_run_in_words(Duration ran, Duration work) {
  constexpr Duration kRounding = 2s;
  if (ran < work + kRounding) return "";
  return fmt::format(
      "  ran {} for {} of work: restarts, work lost to a failure, or a slower pace\n",
      text::format_duration(ran), text::format_duration(work));
}

std::string failures_in_words(std::span<const experiment::KeptFailure> failures) {
  constexpr std::size_t kShown = 20;
  std::string made;
  double lost_gpu_h = 0;
  Duration away{0};
  for (std::size_t at = 0; at < failures.size(); ++at) {
    const experiment::KeptFailure& each = failures[at];
    lost_gpu_h += seconds(each.lost + each.restart) / 3600 * each.gpus;
    if (each.resumed != kNoTime) away += each.resumed - each.at;
    if (at == kShown) made += fmt::format("  ... and {} more\n", failures.size() - kShown);
    if (at >= kShown) continue;
    made += fmt::format(
        "  {}  stopped by {}{}: repeats {} of work, {}\n", text::moment(each.at), each.cause,
        each.node.empty() ? "" : " on node " + each.node, text::format_duration(each.lost),
        each.resumed == kNoTime ? "does not run again"
        : each.resumed == each.at
            ? fmt::format("restarts at once in {}", text::format_duration(each.restart))
            : fmt::format("has GPUs again {} later and restarts in {}",
                          text::format_duration(each.resumed - each.at),
                          text::format_duration(each.restart)));
  }
  if (failures.empty()) return made;
  return made + fmt::format(
                    "total: {} lost {:.1f} GPU-hours to repeated work and restarts, and "
                    "{} without GPUs\n",
                    text::counted(failures.size(), "failure"), lost_gpu_h,
                    text::format_duration(away));
}

nlohmann::ordered_json failures_json(std::span<const experiment::KeptFailure> failures) {
  nlohmann::ordered_json made = nlohmann::ordered_json::array();
  for (const experiment::KeptFailure& each : failures) {
    nlohmann::ordered_json one = {{"at_s", seconds(each.at)},
                                  {"cause", each.cause},
                                  {"gpus", each.gpus},
                                  {"lost_s", seconds(each.lost)},
                                  {"restart_s", seconds(each.restart)}};
    if (!each.node.empty()) one["node"] = each.node;
    if (each.resumed != kNoTime) one["resumed_s"] = seconds(each.resumed);
    made.push_back(std::move(one));
  }
  return made;
}

bool may_lack_reasons(const KeptJob& job) {
  constexpr Duration kLong = 10min;
  const bool lasts = std::any_of(job.waits.begin(), job.waits.end(),
                                 [](const KeptWait& wait) { return wait.until == kNoTime; });
  return !lasts && job.waited >= kLong;
}

std::string kept_job_in_words(const KeptJob& job) {
  std::string made = fmt::format("job {} under {}: {} GPU{}, submitted {}", job.id, job.policy,
                                 job.gpus, job.gpus == 1 ? "" : "s", text::moment(job.submit));
  for (const KeptWait& wait : job.waits) {
    if (wait.until == kNoTime) return made + fmt::format("; {}\n", sentence(wait));
  }
  if (job.start == kNoTime && job.end != kNoTime && job.was_pending) {
    made += fmt::format(", pending when the log was taken; it would have started {}\n",
                        text::moment(job.end));
  } else if (job.start == kNoTime && job.end != kNoTime) {
    made += fmt::format(", withdrawn {} without having run\n", text::moment(job.end));
  } else if (job.start == kNoTime) {
    made += ", not started when the simulation ended\n";
  } else {
    made += fmt::format(", started {}", text::moment(job.start));
    if (job.end != kNoTime) {
      made += fmt::format(", ended {}, waited {}", text::moment(job.end),
                          text::format_duration(job.waited));
    }
    if (job.preemptions > 0)
      made += ", preempted " + text::counted(static_cast<std::uint64_t>(job.preemptions), "time");
    made += "\n";
  }
  made += waits_in_words(job);
  made += failures_in_words(job.failures);
  if (job.start != kNoTime && job.end != kNoTime) made += longer_run_in_words(job.ran, job.work);
  if (!job.tenant.empty()) made += job.tenant + "\n";
  return made;
}

std::string waited_for(const policy::Reason& reason) {
  if (policy::meaning(reason.slurm).empty()) return std::string(policy::waited_for(reason.kind));
  return fmt::format("for Slurm's reason {}", policy::name(reason.slurm));
}

std::string in_all(const std::map<std::string, Duration>& totals) {
  std::vector<std::pair<std::string, Duration>> longest(totals.begin(), totals.end());
  std::stable_sort(longest.begin(), longest.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> parts;
  for (const auto& [what, total] : longest) {
    parts.push_back(fmt::format("{} {}", text::format_duration(total), what));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

void add_terms(nlohmann::ordered_json& wait, const policy::Reason& reason) {
  if (reason.slurm != policy::SlurmReason::none) wait["slurm_reason"] = policy::name(reason.slurm);
  const auto& [term, own, others] = reason.precedence;
  if (term != policy::Term::none) {
    wait["precedence"] = policy::name(term);
    wait["own_value"] = own;
    wait["other_value"] = others;
  }
  if (reason.stop_gpu_s > 0) wait["stop_gpu_s"] = reason.stop_gpu_s;
}

nlohmann::ordered_json kept_job_json(const KeptJob& job) {
  nlohmann::ordered_json waits = nlohmann::ordered_json::array();
  for (const KeptWait& wait : job.waits) {
    nlohmann::ordered_json each;
    if (wait.until != kNoTime) {
      each = {{"from_s", seconds(wait.from)}, {"until_s", seconds(wait.until)}};
    }
    each["reason"] = policy::name(wait.reason.kind);
    each["text"] = sentence(wait);
    if (!wait.other.empty()) each["other_job_id"] = wait.other;
    add_terms(each, wait.reason);
    waits.push_back(std::move(each));
  }
  nlohmann::ordered_json made = {{"job_id", job.id}, {"policy", job.policy}, {"waits", waits}};
  if (!job.failures.empty()) made["failures"] = failures_json(job.failures);
  if (!job.tenant.empty()) made["tenant"] = job.tenant;
  return made;
}

}  // namespace almanac::report
