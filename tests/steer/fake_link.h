// SPDX-License-Identifier: Apache-2.0

/// \file
/// A small Slurm in memory behind a manager::Link: nodes of GPUs, jobs that wait in the order of
/// their priority, start when they fit and end when they have run; a clock that the test moves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "manager/link.h"
#include "manager/mark.h"
#include "slurm/facts.h"

namespace almanac::steer {

/// Its fields may be read and set between calls, as an administrator would.
struct FakeSlurm {
  struct One {
    manager::Job job;
    Duration run = 1h;
  };

  Time now{Duration{1'700'000'000'000}};
  std::map<manager::JobNumber, One> jobs;
  std::map<std::string, manager::Node> nodes;
  std::vector<manager::Partition> partitions;
  std::vector<manager::Reservation> reservations;
  std::vector<manager::Association> associations{};  ///< It goes by none.
  manager::Limits limits;  ///< Those of accounts are kept, as if none had another above it.
  std::map<std::string, Time> powered;  ///< When each node was last told to go on or off.
  std::set<std::string> dead;           ///< Nodes whose power supply does not answer.
  manager::Site site{.version = "22.05.8",
                     .cluster = "fake",
                     .controller = "here",
                     .parameters = {{"PriorityType", "priority/multifactor"}},
                     .is_operator = true};
  std::uint32_t last = 0;
  bool is_down = false;                    ///< There is no answer.
  int changes = 0;                         ///< Made so far.
  int most_changes = 1 << 30;              ///< A change after so many gets no answer.
  bool loses_answers = false;              ///< To changes: they are made.
  std::set<manager::JobNumber> refused{};  ///< May not be changed by us.
  std::function<void()> meanwhile{};       ///< What others do whenever it is asked for news.
  bool powers = true;                      ///< The way to it can power and weigh nodes.
  bool requeues = true;                    ///< The way to it can requeue, suspend and resume.
  bool last_gpu_first = false;             ///< Of the GPUs that have room for a job of shards.
  std::set<manager::JobNumber> stuck{};    ///< Never start, for reasons of Slurm's own.
  bool leases = true;                      ///< The way to it can put off when jobs begin.

  void add_partition(const std::string& name, int count, int gpus) {
    manager::Partition partition{.name = name};
    for (int at = 1; at <= count; ++at) {
      const std::string node = fmt::format("{}{:03}", name, at);
      partition.nodes.push_back(node);
      nodes[node] = {.name = node,
                     .gpu_type = "v100",
                     .gpus = gpus,
                     .cpus = 48,
                     .memory_gb = 256,
                     .partitions = {name}};
    }
    partitions.push_back(std::move(partition));
  }

  manager::Job& submit(const std::string& user, int gpus, Duration run,
                       const std::string& partition = {}) {
    const manager::JobNumber number{++last};
    One& one = jobs[number];
    one.run = run;
    one.job = {.number = number,
               .name = fmt::format("train-{}", last),
               .user = user,
               .uid = 1000,
               .account = "lab",
               .partition = partition.empty() ? partitions.front().name : partition,
               .qos = "normal",
               .requeueable = true,
               .priority = 1,
               .submit = now,
               .eligible = now,
               .limit = run,
               .nodes = 1,
               .gpus = gpus,
               .cpus = gpus,
               .memory_gb = gpus};
    return one.job;
  }

  /// One that shares a GPU.
  manager::Job& submit_shards(const std::string& name, int shards, Duration run) {
    manager::Job& made = submit("ann", 0, run);
    made.name = name;
    made.shards = shards;
    made.cpus = 1;
    made.memory_gb = 1;
    return made;
  }

  manager::Job& job(std::uint32_t number) { return jobs.at(manager::JobNumber{number}).job; }

  /// Whether it waits and may not start, whoever holds it.
  bool is_held(std::uint32_t number) const {
    const manager::Job& it = jobs.at(manager::JobNumber{number}).job;
    return it.state == manager::State::pending && (it.held || it.eligible > now);
  }
  /// As the plugin holds a job that comes.
  void hold_newcomer(std::uint32_t number) {
    manager::Job& it = job(number);
    it.eligible = now + 2min;
    it.comment = manager::mark_until(it.eligible);
  }

  /// The jobs that wait in the order in which they would start.
  std::vector<std::uint32_t> queue(const std::string& partition = {}) const {
    std::vector<const manager::Job*> waiting;
    for (const auto& [number, one] : jobs) {
      const bool here = partition.empty() || one.job.partition == partition;
      if (one.job.state == manager::State::pending && here) waiting.push_back(&one.job);
    }
    std::stable_sort(waiting.begin(), waiting.end(),
                     [&](const auto* a, const auto* b) { return weight(*a) > weight(*b); });
    std::vector<std::uint32_t> made;
    for (const auto* each : waiting) made.push_back(static_cast<std::uint32_t>(each->number));
    return made;
  }

  /// Lets time pass, jobs end and others start.
  void pass(Duration time) {
    now += time;
    for (auto& [number, one] : jobs) {
      if (one.job.state != manager::State::running || one.job.start + one.run > now) continue;
      one.job.state = manager::State::ended;
      one.job.outcome = trace::JobState::completed;
      one.job.end = one.job.start + one.run;
    }
    for (auto& [name, node] : nodes) {
      const bool is_through = now - powered[name] >= kPowers && !dead.contains(name);
      if (node.power == manager::Power::powering_down && is_through)
        node.power = manager::Power::off;
      if (node.power == manager::Power::powering_up && is_through) node.power = manager::Power::on;
    }
    for (const std::uint32_t number : queue()) start(job(number));
    for (auto& [name, node] : nodes) node.busy = free_gpus(node) != all_gpus(node);
  }

  static constexpr Duration kPowers = 30s;   ///< So long a node takes to go on or off.
  static constexpr Duration kExpires = 15s;  ///< So long a requeued job is not eligible.

 private:
  static std::int64_t weight(const manager::Job& job) { return job.priority + job.site_factor; }

  static std::uint64_t all_gpus(const manager::Node& node) {
    return (std::uint64_t{1} << node.gpus) - 1;
  }

  std::uint64_t free_gpus(const manager::Node& node) const {
    std::uint64_t free = all_gpus(node);
    for (const auto& [number, one] : jobs) {
      if (one.job.state != manager::State::running) continue;
      for (const manager::Held& held : one.job.holds) {
        if (held.node == node.name) free &= ~held.gpus;
      }
    }
    return free;
  }

  /// The first, or the last, GPU with room for so many; -1 = there is none.
  int gpu_for(int shards, const manager::Node& node) const {
    if (node.shards == 0) return -1;
    std::vector<int> left(static_cast<std::size_t>(node.gpus), node.shards / node.gpus);
    for (const auto& [number, one] : jobs) {
      if (one.job.state != manager::State::running) continue;
      for (const manager::Held& held : one.job.holds) {
        for (std::size_t gpu = 0; gpu < left.size(); ++gpu) {
          if (held.node != node.name || (held.gpus >> gpu & 1U) == 0) continue;
          left[gpu] = held.gpu_count > 0 ? 0 : left[gpu] - held.shards;
        }
      }
    }
    const auto has_room = [&](int each) { return each >= shards; };
    const auto found = std::find_if(left.begin(), left.end(), has_room);
    if (found == left.end()) return -1;
    if (!last_gpu_first) return static_cast<int>(found - left.begin());
    return static_cast<int>(left.rend() - std::find_if(left.rbegin(), left.rend(), has_room)) - 1;
  }

  bool is_at_quota(const manager::Job& job) const {
    for (const manager::Quota& quota : limits.quotas) {
      if (quota.account != job.account) continue;
      int held = 0;
      for (const auto& [number, one] : jobs) {
        const bool counts = one.job.account == job.account;
        held += counts && one.job.state == manager::State::running ? one.job.gpus : 0;
      }
      if (held + job.gpus > quota.gpus) return true;
    }
    return false;
  }

  void start(manager::Job& job) {
    if (job.held || job.eligible > now || stuck.contains(job.number)) return;
    if (is_at_quota(job)) {
      job.reason = "AssocGrpGRES";
      return;
    }
    for (auto& [name, node] : nodes) {
      const auto& own = node.partitions;
      if (node.power != manager::Power::on) continue;
      if (!job.required_nodes.empty() && job.required_nodes != name) continue;
      if (job.excluded_nodes == name) continue;
      if (!job.features.empty() && job.features != node.features) continue;
      if (node.drained || std::find(own.begin(), own.end(), job.partition) == own.end()) continue;
      if (job.shards > 0) {
        const int gpu = gpu_for(job.shards, node);
        if (gpu < 0) continue;
        job.state = manager::State::running;
        job.start = now;
        job.holds = {{.node = name,
                      .gpus = std::uint64_t{1} << gpu,
                      .shards = job.shards,
                      .cpus = job.cpus.value_or(0),
                      .memory_gb = job.memory_gb.value_or(0)}};
        return;
      }
      const std::uint64_t free = free_gpus(node);
      std::uint64_t taken = 0;
      int count = 0;
      for (int gpu = 0; gpu < node.gpus && count < job.gpus; ++gpu) {
        if ((free >> gpu & 1U) == 0) continue;
        taken |= std::uint64_t{1} << gpu;
        ++count;
      }
      if (count < job.gpus) continue;
      job.state = manager::State::running;
      job.start = now;
      job.holds = {{.node = name,
                    .gpus = taken,
                    .gpu_count = count,
                    .cpus = job.cpus.value_or(0),
                    .memory_gb = job.memory_gb.value_or(0)}};
      node.busy = true;
      return;
    }
  }
};

class FakeLink : public manager::Link {
 public:
  explicit FakeLink(FakeSlurm& slurm) : slurm_(slurm) {}

  manager::Abilities can() const override {
    return {.site_factor = true,
            .requeue = slurm_.requeues,
            .power = slurm_.powers,
            .begins = slurm_.leases};
  }
  std::string_view way() const override { return "fake"; }

  Result<manager::Site> site() override {
    if (slurm_.is_down) return down();
    manager::Site made = slurm_.site;
    slurm::tell_facts(made);
    return made;
  }

  Result<manager::News> news() override {
    if (slurm_.meanwhile) slurm_.meanwhile();
    if (slurm_.is_down) {
      told_ = false;
      return down();
    }
    manager::News made{.at = slurm_.now, .whole = !told_};
    std::map<manager::JobNumber, manager::Job> jobs;
    for (const auto& [number, one] : slurm_.jobs) jobs.emplace(number, one.job);
    for (const auto& [number, job] : jobs) {
      const auto known = jobs_.find(number);
      if (!told_ || known == jobs_.end() || !(known->second == job)) made.jobs.push_back(job);
    }
    for (const auto& [number, job] : jobs_) {
      if (told_ && !jobs.contains(number)) made.gone.push_back(number);
    }
    for (const auto& [name, node] : slurm_.nodes) {
      const auto known = nodes_.find(name);
      if (!told_ || known == nodes_.end() || !(known->second == node)) made.nodes.push_back(node);
    }
    for (const auto& [name, node] : nodes_) {
      if (told_ && !slurm_.nodes.contains(name)) made.lost_nodes.push_back(name);
    }
    if (!told_ || !(partitions_ == slurm_.partitions)) made.partitions = slurm_.partitions;
    jobs_ = std::move(jobs);
    nodes_ = slurm_.nodes;
    partitions_ = slurm_.partitions;
    made.reservations = slurm_.reservations;
    made.limits = slurm_.limits;
    made.associations = slurm_.associations;
    told_ = true;
    return made;
  }

  std::vector<Result<void>> change(std::span<const manager::JobChange> changes) override {
    std::vector<Result<void>> made;
    for (const manager::JobChange& each : changes) made.push_back(change(each));
    return made;
  }

  Result<void> end(manager::JobNumber job, manager::Fate fate) override {
    if (slurm_.is_down) return down();
    const auto found = slurm_.jobs.find(job);
    if (found == slurm_.jobs.end()) return fail(Code::not_found, "no such job");
    manager::Job& it = found->second.job;
    switch (fate) {
      case manager::Fate::cancel:
        it.state = manager::State::ended;
        it.outcome = trace::JobState::cancelled;
        it.end = slurm_.now;
        break;
      case manager::Fate::requeue:
        it.state = manager::State::pending;
        it.holds.clear();
        it.start = kNoTime;
        it.submit = slurm_.now;  // as Slurm does
        it.eligible = slurm_.now + FakeSlurm::kExpires;
        ++it.restarts;
        break;
      case manager::Fate::suspend:
        it.state = manager::State::suspended;
        break;
      case manager::Fate::resume:
        it.state = manager::State::running;
        break;
    }
    return {};
  }

  Result<void> power(std::span<const std::string> nodes, bool on) override {
    if (slurm_.is_down) return down();
    if (!slurm_.powers) return fail(Code::unsupported, "this way powers no nodes");
    for (const std::string& name : nodes) {
      manager::Power& power = slurm_.nodes.at(name).power;
      ++slurm_.changes;
      slurm_.powered[name] = slurm_.now;
      if (slurm_.dead.contains(name)) continue;
      if (!on && power == manager::Power::on) power = manager::Power::powering_down;
      // While it powers down it says yes and does nothing.
      if (on && power == manager::Power::off) power = manager::Power::powering_up;
    }
    return {};
  }

  Result<void> weigh(std::span<const std::string> nodes, std::uint32_t weight) override {
    if (slurm_.is_down) return down();
    if (!slurm_.powers) return fail(Code::unsupported, "this way weighs no nodes");
    for (const std::string& name : nodes) slurm_.nodes.at(name).weight = weight;
    slurm_.changes += static_cast<int>(nodes.size());
    return {};
  }

  Result<void> ended(Time, Time, const manager::TakeEnded&) override { return {}; }

 private:
  static tl::unexpected<Error> down() { return fail(Code::unavailable, "the controller is away"); }

  Result<void> change(const manager::JobChange& change) {
    if (slurm_.is_down || slurm_.changes >= slurm_.most_changes) return down();
    if (slurm_.refused.contains(change.job)) return fail(Code::unsupported, "it is not yours");
    ++slurm_.changes;
    const auto found = slurm_.jobs.find(change.job);
    if (found == slurm_.jobs.end()) return fail(Code::not_found, "no such job");
    manager::Job& job = found->second.job;
    if (job.state != manager::State::pending) return fail(Code::conflict, "it does not wait");
    if (change.site_factor) job.site_factor = *change.site_factor;
    if (change.priority) {
      job.priority = *change.priority == manager::JobChange::kUsual ? 1 : *change.priority;
    }
    if (change.held) {
      job.held = *change.held;
      job.reason = !job.held ? "" : change.of_user ? "JobHeldUser" : "JobHeldAdmin";
    }
    if (change.begins) job.eligible = std::max(*change.begins, slurm_.now);
    if (change.required_nodes) job.required_nodes = *change.required_nodes;
    if (change.comment) job.comment = *change.comment;
    if (change.shards) job.shards = *change.shards;
    if (slurm_.loses_answers) return down();
    return {};
  }

  FakeSlurm& slurm_;
  bool told_ = false;
  std::map<manager::JobNumber, manager::Job> jobs_;
  std::map<std::string, manager::Node> nodes_;
  std::vector<manager::Partition> partitions_;
};

}  // namespace almanac::steer
