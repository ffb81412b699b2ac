// SPDX-License-Identifier: Apache-2.0

/// \file
/// Almanac with its levers at a Slurm in memory: what the service does, step by step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fake_link.h"
#include "steer/decider.h"
#include "steer/driver.h"
#include "support/lever.h"
#include "support/temporary_folder.h"

namespace almanac::steer {

/// Settings of one lever.
inline Settings with(const std::string& lever, Switch how = Switch::on) {
  Settings made;
  made.levers[lever] = how;
  made.changes_per_s = 10'000;
  return made;
}

class Desk {
 public:
  /// `settings` name the levers.
  Desk(FakeSlurm& slurm, const std::string& policy, Settings settings,
       std::shared_ptr<const perf::Catalogue> speeds = nullptr)
      : slurm_(slurm),
        settings_(std::move(settings)),
        link_(slurm),
        decider_(*compose(policy), {}, 0, std::move(speeds)) {
    open();
  }

  /// As a service that begins on the same folder.
  void open() {
    auto journal = Journal::open(journal_path());
    Claims claims;
    EXPECT_TRUE(Journal::read(journal_path(), [&](const Entry& entry, const Failure& failed) {
      claims.take(entry, failed);
    }));
    driver_.emplace(settings_, std::move(*journal), std::move(claims));
    for (const auto& [lever, how] : settings_.levers) {
      driver_->add(lever, make_lever(lever));
      driver_->set(lever, how);
    }
  }

  void set(Switch how) { driver_->set(settings_.levers.begin()->first, how); }

  /// News, a decision, and a slice of changes; how many were made.
  int step(Duration since_the_last = 10s) {
    clock_ += since_the_last;
    look();
    return turn(driver_->plan(scene(), clock_));
  }

  /// Steps and lets time pass, so often.
  void live(int steps, Duration each = 10s) {
    for (; steps > 0; --steps) {
      step();
      slurm_.pass(each);
    }
  }

  /// Lets so much time pass as it does for a service that looks every half minute.
  void wait(Duration time) {
    for (; time > Duration{0}; time -= 30s) {
      step(30s);
      slurm_.pass(std::min<Duration>(time, 30s));
    }
    step(30s);
  }

  void look() {
    auto news = link_.news();
    if (!news) return;
    mirror_.take(std::move(*news));
    decider_.decide(mirror_, make_world(mirror_, settings_.virtual_clusters), settings_.exempt, {},
                    driver_->in_vain(scene()));
  }

  void undo() {
    look();
    turn(driver_->plan_undo(mirror_, "as it was before Almanac"));
  }

  std::vector<std::uint32_t> line(std::size_t vc = 0) const {
    std::vector<std::uint32_t> made;
    for (const manager::JobNumber job : decider_.last().lines.at(vc).jobs) {
      made.push_back(static_cast<std::uint32_t>(job));
    }
    return made;
  }

  std::string journal_path() const { return folder_ / "journal.jsonl"; }
  service::LeverView state() const { return driver_->states().front(); }
  Driver& driver() { return *driver_; }
  Decider& decider() { return decider_; }

 private:
  Scene scene() {
    site_ = slurm_.site;
    slurm::tell_facts(site_);
    return {.settings = settings_,
            .site = site_,
            .can = link_.can(),
            .mirror = mirror_,
            .decision = decider_.last(),
            .policy = decider_.policy()};
  }
  int turn(Slice slice) {
    const int before = slurm_.changes;
    driver_->carry_out(slice, link_);
    driver_->settle(slice, mirror_);
    return slurm_.changes - before;
  }

  FakeSlurm& slurm_;
  Settings settings_;
  FakeLink link_;
  manager::Site site_{};
  TemporaryFolder folder_;
  Mirror mirror_;
  Decider decider_;
  std::optional<Driver> driver_;
  Time clock_{};
};

}  // namespace almanac::steer
