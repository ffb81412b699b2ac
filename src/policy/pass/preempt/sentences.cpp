// SPDX-License-Identifier: Apache-2.0
#include "policy/pass/preempt/sentences.h"

#include <fmt/format.h>

#include "policy/registry.h"

namespace almanac::policy {
namespace {

std::string which_are_stopped(const Parameters& told) {
  const std::string& stops = told.word("stops");
  if (stops == "none") return "Preempts no job.";
  const std::string which =
      stops == "all" ? "Preempts every job except those submitted with --no-requeue"
                     : "Preempts only jobs submitted with --requeue or with a known checkpoint "
                       "interval";
  return fmt::format(
      "{}, and only if the GPU time that such a job still needs, less the cost of "
      "the stop, is more than {:g} times that of the job that gets its GPUs. A job that started "
      "past the first in line gives way to it until it ends.",
      which, told.number("margin"));
}

std::string when_jobs_stop_others(const Parameters& told) {
  return fmt::format(
      "A job stops others only after it has waited {:g} min. Its user has a budget of stops "
      "without that wait: one at first, and {:g} more for each submitted job.",
      told.number("patience_s") / 60, told.number("stops_per_job"));
}

std::string hours_or_days(double time_s) {
  return time_s < 2 * 86'400 ? fmt::format("{:g} h", time_s / 3600)
                             : fmt::format("{:g} days", time_s / 86'400);
}

std::string longest_wait(double bound, double grace_s, double user_grace_s) {
  if (bound == 0) return "Waits have no bound.";
  return fmt::format(
      "A job that has waited {:g} times as long as under easy, plus {}, goes before all others of "
      "its priority tier. So do the jobs of a user whose jobs have waited longer than under easy, "
      "and on average longer than {}.",
      bound, hours_or_days(grace_s), hours_or_days(user_grace_s));
}

std::string what_deadlines_do(const std::string& deadlines) {
  if (deadlines == "ignored") return "Ignores deadlines.";
  return "A job with a deadline goes before all jobs that are not overdue, once it must run to "
         "meet the deadline. If it cannot meet it, it waits like a job without one.";
}

}  // namespace

std::vector<std::string> preempt_sentences(const Composition& composition) {
  const Parameters told(registry().passes.at(composition.pass).parameters, composition.pass);
  const std::string base = composition.name.substr(0, composition.name.find('+'));
  std::vector<std::string> made{which_are_stopped(told)};
  if (told.word("stops") != "none" && told.number("patience_s") > 0) {
    made.push_back(when_jobs_stop_others(told));
  }
  made.push_back(
      longest_wait(told.number("bound"), told.number("grace_s"), told.number("user_grace_s")));
  made.push_back(what_deadlines_do(told.word("deadlines")));
  made.push_back(
      fmt::format("Variants: {0}+preempt:none stops no job, {0}+preempt:all may stop every job, "
                  "{0}+bound:0 does not bound waits, {0}+deadlines:met lets urgent jobs go first, "
                  "and {0}+limit uses time limits instead of predictions.",
                  base));
  return made;
}

}  // namespace almanac::policy
