// SPDX-License-Identifier: Apache-2.0
#include "policy/pass/preempt/sentences.h"

#include <fmt/format.h>

#include "policy/registry.h"

namespace almanac::policy {
namespace {

std::string which_are_stopped(const std::string& stops, double margin) {
  if (stops == "none") return "Preempts no job.";
  const std::string which =
      stops == "all" ? "Preempts every job except those submitted with --no-requeue"
                     : "Preempts only jobs submitted with --requeue or with a known checkpoint "
                       "interval";
  return fmt::format(
      "{}, and only if the GPU time that such a job still needs, less the cost of "
      "the stop, is more than {:g} times that of the job that gets its GPUs.",
      which, margin);
}

std::string longest_wait(double bound, double grace_s) {
  if (bound == 0) return "Waits have no bound.";
  const std::string grace = grace_s < 2 * 86'400 ? fmt::format("{:g} h", grace_s / 3600)
                                                 : fmt::format("{:g} days", grace_s / 86'400);
  return fmt::format(
      "A job that has waited {:g} times as long as under easy, plus {}, goes before "
      "all others of its priority tier.",
      bound, grace);
}

std::string what_deadlines_do(const std::string& deadlines) {
  if (deadlines == "ignored") return "Ignores deadlines.";
  return "A job with a deadline goes before all jobs that are not overdue, once it must run to "
         "meet the deadline. If it cannot meet it, it waits like a job without one.";
}

}  // namespace

std::vector<std::string> preempt_sentences(const Composition& composition) {
  if (!composition.whole.name.empty() || composition.pass != "preempt") return {};
  const Parameters told(registry().passes.at(composition.pass).parameters, composition.pass);
  const std::string base = composition.name.substr(0, composition.name.find('+'));
  return {which_are_stopped(told.word("stops"), told.number("margin")),
          longest_wait(told.number("bound"), told.number("grace_s")),
          what_deadlines_do(told.word("deadlines")),
          fmt::format("Other stops: {0}+preempt:none, {0}+preempt:all. No bound: "
                      "{0}+preempt:marked:2:0. No deadlines: {0}+deadlines:ignored. Time limits "
                      "instead of predictions: {0}+limit.",
                      base)};
}

}  // namespace almanac::policy
