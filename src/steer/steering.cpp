// SPDX-License-Identifier: Apache-2.0
#include "steer/steering.h"

#include <algorithm>

#include <fmt/format.h>

#include "service/log.h"
#include "steer/agent_orders.h"
#include "steer/undo.h"

namespace almanac::steer {

bool Steering::take_controls() {
  const std::string& state = known_.config.state;
  const auto read = read_switches(state);
  bool has_turned = false;
  {
    const std::lock_guard lock(known_.mutex);
    trouble_ = read ? "" : to_string(read.error());
    if (read && *read != switches_) {
      for (const auto& [lever, how] : *read) {
        const auto known = switches_.find(lever);
        if (known != switches_.end() && known->second == how) continue;
        known_.driver.set(lever, how);
        retreat_.clear();
        service::log_info(fmt::format("lever {} is {}", lever, to_string(how)));
      }
      switches_ = *read;
      has_turned = true;
    }
  }
  const auto asked = asked_undo(state);
  if (!asked) return has_turned;
  if (const auto done = take_all_back(*asked); !done) {
    service::log_error(fmt::format("undo: {}", to_string(done.error())));
    return has_turned;
  }
  on_undone_();
  undo_is_done(state);
  return has_turned;
}

Result<void> Steering::take_all_back(const Retreat& how) {
  auto news = controller_.ask_news();
  if (!news) return tl::unexpected(news.error());
  intake_.take(std::move(*news));
  {
    const std::lock_guard lock(known_.mutex);
    for (const service::LeverView& lever : known_.driver.states()) {
      if (how.levers == Switch::off || lever.how == Switch::on) {
        known_.driver.set(lever.name, how.levers);
      }
    }
  }
  if (auto kept = keep_switches(); !kept) return kept;
  const auto act = [this](Slice& slice) {
    controller_.wait_for(kUndoing,
                         [&] { known_.driver.carry_out(slice, controller_.link(), known_.clock); });
  };
  const auto done = take_back(known_.driver, known_.mirror, known_.mutex, act, how.why);
  tell_agents();
  if (!done) return tl::unexpected(done.error());
  service::log_info(
      fmt::format("{} changes undone; all levers are {}", done->changes, to_string(how.levers)));
  for (const std::string& each : done->left) service::log_warning(each);
  const std::lock_guard lock(known_.mutex);
  left_ = done->left;
  return {};
}

Result<void> Steering::keep_switches() {
  Switches turned;
  {
    const std::lock_guard lock(known_.mutex);
    for (const service::LeverView& lever : known_.driver.states()) {
      const auto known = switches_.find(lever.name);
      const Switch said =
          known != switches_.end() ? known->second : known_.config.settings.of(lever.name);
      if (lever.how != said) turned[lever.name] = lever.how;
    }
  }
  if (turned.empty()) return {};
  // What an operator has set meanwhile is in the file only; it is read at the next look.
  const auto kept = change_switches(known_.config.state, [&](Switches& all) {
    all.insert(switches_.begin(), switches_.end());
    for (const auto& [lever, how] : turned) all[lever] = how;
  });
  if (!kept) return kept;
  const std::lock_guard lock(known_.mutex);
  for (const auto& [lever, how] : turned) switches_[lever] = how;
  return {};
}

bool Steering::heed_canary() {
  {
    const std::lock_guard lock(known_.mutex);
    const Canary::Verdict verdict = known_.canary.look(known_.mirror, known_.decider->last(),
                                                       known_.decider->policy().composition);
    known_.driver.rest(verdict.rests);
    const auto states = known_.driver.states();
    const bool is_on =
        std::any_of(states.begin(), states.end(),
                    [](const service::LeverView& each) { return each.how == Switch::on; });
    if (!is_on || verdict.retreat.empty()) return false;
    retreat_ = fmt::format("retreat: {}", verdict.retreat);
    service::log_warning(retreat_);
    ++known_.revision;
  }
  // On the disk first: whatever becomes of us, all is taken back.
  const auto asked = ask_for_undo(known_.config.state, {.levers = Switch::dry, .why = retreat_});
  if (!asked) service::log_error(fmt::format("retreat: {}", to_string(asked.error())));
  take_controls();
  return true;
}

bool Steering::turn_levers() {
  Slice slice;
  {
    const std::lock_guard lock(known_.mutex);
    if (known_.decider->last().world == nullptr) return false;
    slice = known_.driver.plan(scene(), Time{known_.clock.since_boot()});
  }
  controller_.wait_for(kActing,
                       [&] { known_.driver.carry_out(slice, controller_.link(), known_.clock); });
  const auto kept = keep_switches();
  bool changed = false;
  {
    const std::lock_guard lock(known_.mutex);
    if (!kept) trouble_ = to_string(kept.error());
    changed = known_.driver.settle(slice, known_.mirror);
  }
  tell_agents();
  return changed;
}

void Steering::tell_agents() {
  if (!known_.agents) return;
  const std::lock_guard lock(known_.mutex);
  known_.agents->order(orders_of(known_.driver.claims()));
}

bool Steering::moves(std::string_view lever) const {
  const auto states = known_.driver.states();
  return controller_.failure().empty() &&
         std::any_of(states.begin(), states.end(), [&](const service::LeverView& each) {
           return each.name == lever && each.how == Switch::on && each.rests.empty();
         });
}

}  // namespace almanac::steer
