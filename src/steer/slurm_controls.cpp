// SPDX-License-Identifier: Apache-2.0

/// \file
/// What turns the levers of a Slurm's service: an operator's files, and the canary.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "service/log.h"
#include "steer/slurm_service.h"
#include "steer/undo.h"

namespace almanac::steer {

void SlurmService::take_controls() {
  const auto read = read_switches(config_.state);
  {
    const std::lock_guard lock(mutex_);
    switch_trouble_ = read ? "" : to_string(read.error());
  }
  if (read && *read != switches_) {
    const std::lock_guard lock(mutex_);
    for (const auto& [lever, how] : *read) {
      const auto known = switches_.find(lever);
      if (known != switches_.end() && known->second == how) continue;
      driver_.set(lever, how);
      retreat_.clear();
      service::log_info(fmt::format("lever {} is {}", lever, to_string(how)));
    }
    switches_ = *read;
    next_status_ = Time{};
  }
  const auto asked = asked_undo(config_.state);
  if (!asked) return;
  if (const auto done = retreat(*asked); !done) {
    service::log_error(fmt::format("undo: {}", to_string(done.error())));
    return;
  }
  say_status();  // the command that asked for the undo reads there what is left
  undo_is_done(config_.state);
}

Result<void> SlurmService::retreat(const Retreat& how) {
  auto news = ask_news();
  if (!news) return tl::unexpected(news.error());
  take_news(std::move(*news));
  {
    const std::lock_guard lock(mutex_);
    for (const service::LeverView& lever : driver_.states()) {
      if (how.levers == Switch::off || lever.how == Switch::on) driver_.set(lever.name, how.levers);
    }
  }
  if (auto kept = keep_switches(); !kept) return kept;
  const auto act = [this](Slice& slice) {
    wait_for(kUndoing, [&] { driver_.carry_out(slice, *link_); });
  };
  const auto done = take_back(driver_, mirror_, mutex_, act, how.why);
  tell_agents();
  if (!done) return tl::unexpected(done.error());
  service::log_info(fmt::format("{} changes taken back, all levers are {}", done->changes,
                                to_string(how.levers)));
  for (const std::string& each : done->left) service::log_warning(each);
  const std::lock_guard lock(mutex_);
  left_ = done->left;
  return {};
}

Result<void> SlurmService::keep_switches() {
  Switches turned;
  {
    const std::lock_guard lock(mutex_);
    for (const service::LeverView& lever : driver_.states()) {
      const auto known = switches_.find(lever.name);
      const Switch said =
          known != switches_.end() ? known->second : config_.settings.of(lever.name);
      if (lever.how != said) turned[lever.name] = lever.how;
    }
  }
  if (turned.empty()) return {};
  // What an operator has set meanwhile is in the file only; it is read at the next look.
  const auto kept = change_switches(config_.state, [&](Switches& all) {
    all.insert(switches_.begin(), switches_.end());
    for (const auto& [lever, how] : turned) all[lever] = how;
  });
  if (!kept) return kept;
  const std::lock_guard lock(mutex_);
  for (const auto& [lever, how] : turned) switches_[lever] = how;
  return {};
}

void SlurmService::heed_canary() {
  {
    const std::lock_guard lock(mutex_);
    const Canary::Verdict verdict =
        canary_.look(mirror_, decider_->last(), decider_->policy().composition);
    driver_.rest(verdict.rests);
    const auto states = driver_.states();
    const bool is_on =
        std::any_of(states.begin(), states.end(),
                    [](const service::LeverView& each) { return each.how == Switch::on; });
    if (!is_on || verdict.retreat.empty()) return;
    retreat_ = fmt::format("retreat: {}", verdict.retreat);
    service::log_warning(retreat_);
    ++revision_;
  }
  // On the disk first: whatever becomes of us, all is taken back.
  const auto asked = ask_for_undo(config_.state, {.levers = Switch::dry, .why = retreat_});
  if (!asked) service::log_error(fmt::format("retreat: {}", to_string(asked.error())));
  take_controls();
  next_status_ = Time{};
}

}  // namespace almanac::steer
