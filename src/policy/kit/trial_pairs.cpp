// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/trial_pairs.h"

namespace almanac::policy {

TrialPairs::Speeds TrialPairs::believed(const Join& join) const {
  if (const auto known = measured(join.hosts.front(), join.guest)) return *known;
  const std::vector<double> predicted = relative_speeds(join);
  return {.host = predicted.front(), .guest = predicted.back()};
}

void TrialPairs::joined(const Join& join) {
  const JobId host = join.hosts.front();
  const View& view = desk_.view();
  trials_.push_back({.from = view.now,
                     .host = host,
                     .guest = join.guest,
                     .host_worked = view.worked(host),
                     .guest_worked = view.worked(join.guest)});
  desk_.plan().wake(view.now + trial_);
}

double TrialPairs::speed(JobId job, Duration worked_before, Duration time) const {
  const View& view = desk_.view();
  const double rate = seconds(view.worked(job) - worked_before) / seconds(time);
  return view.speeds == nullptr ? rate : rate / view.speeds->rate(job, view.grants(job));
}

void TrialPairs::review(std::span<VcState> vcs) {
  const View& view = desk_.view();
  for (; !trials_.empty() && trials_.front().from + trial_ <= view.now; trials_.pop_front()) {
    const Trial& trial = trials_.front();
    const std::span<const JobId> pair = group(trial.guest);
    const bool is_together = pair.size() == 2 && pair[0] == trial.host && pair[1] == trial.guest;
    if (!is_together || !desk_.runs(trial.guest)) continue;
    const Progress& state = view.progress(trial.guest);
    // A guest that ended, joined again or still restarts did not share the GPUs all the time.
    if (state.since > trial.from) continue;
    const Duration time = view.now - trial.from;
    const Speeds speeds{.host = speed(trial.host, trial.host_worked, time),
                        .guest = speed(trial.guest, trial.guest_worked, time)};
    pairs_.note(view, trial.host, trial.guest, speeds);
    if (may_stay(speeds)) continue;
    split_off(vcs[index(state.vc)], trial.guest);
    desk_.plan().wake(view.now);
  }
}

}  // namespace almanac::policy
