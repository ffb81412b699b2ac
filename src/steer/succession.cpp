// SPDX-License-Identifier: Apache-2.0
#include "steer/succession.h"

#include <utility>

#include <fmt/format.h>

#include "base/step_back.h"
#include "service/log.h"
#include "service/notify.h"
#include "service/policies.h"

namespace almanac::steer {

namespace {

/// Where no thread was to be had, or the store could not be read.
constexpr Duration kTryAgain = 1min;

}  // namespace

Result<std::unique_ptr<Decider>> decider_for(Chosen policy, const store::Store& store,
                                             const Config& config) {
  auto lessons = store.log(config.clock->wall() - service::kLesson, service::kLessons);
  if (!lessons) return tl::unexpected(lessons.error());
  return std::make_unique<Decider>(std::move(policy), std::move(*lessons), config.seed,
                                   config.speeds);
}

std::string Succession::policy() const {
  const std::lock_guard lock(known_.mutex);
  return known_.config.policy;
}

void Succession::make_aside() {
  const bool is_told = is_asked_;
  // Reads a changed policy file only if an operator requests that.
  auto chosen = is_told ? compose(policy()) : Result<Chosen>(known_.decider->policy());
  const auto make = [this, chosen = std::move(chosen)]() -> Result<std::unique_ptr<Decider>> {
    step_back();
    if (!chosen) return tl::unexpected(chosen.error());
    return decider_for(*chosen, known_.store, known_.config);
  };
  if (!renewal_.begin(make, is_told)) return renewal_.put_off(known_.clock.wall() + kTryAgain);
  is_asked_ = false;
  if (is_told) service::tell_reloading();
}

void Succession::renew(bool is_asked) {
  is_asked_ = is_asked_ || is_asked;
  if (!renewal_.is_under_way()) {
    const bool is_worn = known_.decider->learned() >= known_.config.most_ended;
    if ((is_asked_ || is_worn) && renewal_.may_begin(known_.clock.wall())) make_aside();
    return;
  }
  auto done = renewal_.take();
  if (!done) return;
  const std::string name = policy();
  if (!done->made) {
    renewal_.put_off(known_.clock.wall() + kTryAgain);
    service::log_error(
        fmt::format("policy {} was not reloaded: {}", name, to_string(done->made.error())));
  } else if (!done->is_stale) {
    {
      const std::lock_guard lock(known_.mutex);
      std::swap(known_.decider, *done->made);
      // Else it is the same, and what it has found out about cores need not be found out again.
      if (done->is_told) known_.slimmer->decide_by(known_.decider->policy().slimming);
      known_.look_again = true;
    }
    if (done->is_told) service::log_info(fmt::format("policy {} was reloaded", name));
    // The old renewal ends with its current fit.
    renewal_.retire(std::move(*done->made));
  }
  if (done->is_told) service::tell_ready(fmt::format("policy {}", name));
}

void Succession::replace(std::unique_ptr<Decider>& next, const std::string& policy) {
  std::swap(known_.decider, next);
  renewal_.supersede();
  known_.slimmer->decide_by(known_.decider->policy().slimming);
  known_.config.policy = policy;
  known_.look_again = true;
  ++known_.revision;
}

}  // namespace almanac::steer
