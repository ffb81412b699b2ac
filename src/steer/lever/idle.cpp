// SPDX-License-Identifier: Apache-2.0

/// \file
/// The lever `idle`: notifies users of jobs whose GPUs are idle and, after a grace period, requeues
/// the jobs that may be requeued.
///
/// Only reports of the agents of all nodes of a job count. GPUs without reports are not idle. A gap
/// of a minute, another run of the job and a restart of the service start the count again. A job is
/// requeued only after the site's hook, if there is one, has notified its user without failing.
/// While the lever is dry or rests, users are not notified and grace periods do not begin.
///
/// Cost: O(running jobs) per look; one thread per running hook, at most eight.
#include "service/idle.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "steer/lever_registry.h"
#include "steer/record.h"
#include "steer/slimmer.h"
#include "text/duration.h"

namespace almanac::steer::lever {
namespace {

using manager::Fate;
using manager::JobNumber;

/// Between two looks that follow each other.
constexpr Duration kGap = 1min;
/// After a hook that failed.
constexpr Duration kTriesAgain = 5min;
constexpr std::size_t kHooksAtOnce = 8;

class IdleLever final : public Lever {
 public:
  IdleLever(const Slimmer& slimmer, Present present)
      : slimmer_(slimmer), present_(std::move(present)) {}

  std::optional<std::string> obstacle(const manager::Site&,
                                      const manager::Abilities&) const override {
    if (!present_)
      return "the service does not listen for agents: start it with almanac serve --agents "
             "HOST:PORT";
    if (present_().empty()) return "no node agent reports";
    return std::nullopt;
  }

  std::optional<std::string> lacks(const Scene& scene) const override {
    if (!scene.settings.idle.requeues) return std::nullopt;
    if (scene.site.is_operator == false)
      return "Almanac has no operator rights on this Slurm cluster";
    if (!scene.can.requeue) return "this connection to Slurm cannot requeue jobs";
    return std::nullopt;
  }

  std::vector<Action> want(const Scene& scene) override {
    now_ = scene.mirror.at();
    settings_ = scene.settings.idle;
    collect();
    std::erase_if(seen_, [&](const auto& each) {
      const manager::Job* const job = scene.mirror.find(each.first);
      return job == nullptr || !holds_nodes(*job);
    });
    std::vector<Action> made;
    for (const auto& [number, job] : scene.mirror.jobs()) {
      if (!holds_nodes(job) || job.gpus == 0) continue;
      const JobUse* const use = slimmer_.use(number);
      if (use == nullptr) continue;
      Seen& seen = seen_[number];
      look(job, use->used(), seen);
      if (auto action = next(job, seen)) made.push_back(std::move(*action));
    }
    return made;
  }

  void hear(const Change& change, const Outcome& outcome) override {
    if (const auto* const fate = std::get_if<FateChange>(&change)) {
      // If the manager refuses, Almanac does not try again at once: it first notifies the user
      // again.
      if (outcome.kind == Outcome::Kind::unknown) return;
      seen_.erase(fate->job);
      return;
    }
    const auto* const word = std::get_if<WordChange>(&change);
    if (word == nullptr || !outcome) return;
    service::IdleRule rule{.hook = settings_.hook};
    service::IdleLetter letter{word->user, to_store(word->job), word->text};
    hooks_[word->job] =
        std::async(std::launch::async, [rule = std::move(rule), letter = std::move(letter)] {
          return service::send(rule, letter);
        });
  }

  std::vector<std::string> warnings() const override {
    if (trouble_.empty()) return {};
    return {"lever idle: the hook fails, so no job is requeued: " + trouble_};
  }

 private:
  struct Seen {
    int restarts = 0;
    Time at = kNoTime;     // of the last look that told something
    store::Used used{};    // until then
    Time since = kNoTime;  // its GPUs are idle; kNoTime = they are not, or it is not known
    Time told = kNoTime;   // its user heard of it
    Time again{};          // not before, after a hook that failed
  };

  /// Takes what has become known since the last look.
  void look(const manager::Job& job, const store::Used& used, Seen& seen) const {
    const double told_s = used.gpu_seen_s - seen.used.gpu_seen_s;
    const bool is_another = seen.at == kNoTime || seen.restarts != job.restarts || told_s < 0;
    if (!is_another && told_s == 0) {
      if (now_ - seen.at > kGap) seen.since = seen.told = kNoTime;
      return;
    }
    const double busy_s = used.gpu_s - seen.used.gpu_s;
    const Time before = std::exchange(seen.at, now_);
    seen.used = used;
    if (is_another) {
      seen.restarts = job.restarts;
      seen.since = seen.told = kNoTime;
    } else if (now_ - before > kGap || busy_s >= settings_.below * told_s) {
      seen.since = seen.told = kNoTime;
    } else if (seen.since == kNoTime) {
      seen.since = before;
    }
  }

  /// What is to be done about a job now.
  std::optional<Action> next(const manager::Job& job, const Seen& seen) const {
    if (seen.since == kNoTime || now_ - seen.since < settings_.after) return std::nullopt;
    const bool goes = settings_.requeues && job.requeueable;
    const std::string idle =
        fmt::format("its GPUs have been idle for {}", text::format_duration(now_ - seen.since));
    if (seen.told == kNoTime) {
      if (hooks_.contains(job.number) || hooks_.size() >= kHooksAtOnce || now_ < seen.again) {
        return std::nullopt;
      }
      std::string text = fmt::format("Job {}: {}.", job.number, idle);
      if (goes) {
        text += fmt::format(" The job will be requeued in {} if its GPUs stay idle.",
                            text::format_duration(settings_.grace));
      }
      return Action{WordChange{job.number, job.user, std::move(text)}, idle};
    }
    if (!goes || now_ - seen.told < settings_.grace) return std::nullopt;
    return Action{FateChange{job.number, Fate::requeue}, idle};
  }

  /// What has become of hooks.
  void collect() {
    for (auto each = hooks_.begin(); each != hooks_.end();) {
      if (each->second.wait_for(std::chrono::seconds{0}) != std::future_status::ready) {
        ++each;
        continue;
      }
      const Result<void> sent = each->second.get();
      trouble_ = sent ? "" : to_string(sent.error());
      if (const auto found = seen_.find(each->first); found != seen_.end()) {
        if (sent) found->second.told = now_;
        if (!sent) found->second.again = now_ + kTriesAgain;
      }
      each = hooks_.erase(each);
    }
  }

  const Slimmer& slimmer_;
  Present present_;
  IdleSettings settings_;
  Time now_{};
  std::map<JobNumber, Seen> seen_;
  std::map<JobNumber, std::future<Result<void>>> hooks_;
  std::string trouble_;
};

}  // namespace

void register_idle(LeverRegistry& registry) {
  registry.add({.name = "idle", .priority = 40, .make = [](const LeverParts& parts) {
                  return std::make_unique<IdleLever>(parts.slimmer, parts.present);
                }});
}

}  // namespace almanac::steer::lever
