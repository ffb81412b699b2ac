// SPDX-License-Identifier: Apache-2.0
#include "kube/outlook.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <queue>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "kueue/multiply.h"
#include "kueue/scheduler.h"

namespace almanac::kube {
namespace {

constexpr Duration kHorizon = 24h * 30;

std::int64_t second_of(Time time) {
  return std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
}

/// "Job train-0042" -> "Job train".
std::string without_number(std::string name) {
  const auto last = std::find_if(name.rbegin(), name.rend(), [](unsigned char c) {
    return std::isdigit(c) == 0 && c != '-' && c != '_' && c != '.';
  });
  name.erase(last.base(), name.end());
  return name;
}

std::string kind_of_job(const std::string& account, const std::string& name) {
  return account + "\n" + without_number(name);
}

/// The flavor of each resource, and pods as they are counted now.
kueue::Submission held_by(const Picture& picture, const Workload& workload,
                          std::map<std::string, std::string>& flavors) {
  kueue::Submission made = submission_of(picture, workload);
  for (std::size_t at = 0; at < made.pod_sets.size(); ++at) {
    kueue::PodSet& pods = made.pod_sets[at];
    for (const Assigned& each : workload.assigned) {
      if (each.pod_set != pods.name) continue;
      pods.count = std::max(0, each.count - workload.pod_sets[at].reclaimable);
      flavors.insert(each.flavors.begin(), each.flavors.end());
    }
    pods.min_count = 0;
    std::erase_if(pods.requests,
                  [&](const auto& request) { return !flavors.contains(request.first); });
  }
  return made;
}

/// One future: the cluster from now on, with one draw of the run times.
class Future {
 public:
  Future(const Picture& picture, const kueue::Setup& setup, const Lifetimes& lifetimes,
         const std::vector<Outlook>& waiting, std::uint64_t number)
      : picture_(picture),
        lifetimes_(lifetimes),
        rng_(0, number),
        scheduler_(kueue::Scheduler::make(setup).value()),
        flavors_(setup.flavors.size()) {
    for (const Workload& each : picture.workloads) {
      if (!each.holds_quota()) continue;
      std::map<std::string, std::string> flavors;
      kueue::Submission held = held_by(picture, each, flavors);
      const Time since = each.reserved == kNoTime ? each.admitted : each.reserved;
      if (!scheduler_.submit_admitted(std::move(held), flavors, second_of(since))) continue;
      expect_end(each, each.admitted == kNoTime ? Duration{0} : picture.at - each.admitted);
    }
    for (const Outlook& each : waiting) {
      if (!each.obstacle.empty()) continue;
      const Workload& workload = picture.workloads[each.workload];
      if (scheduler_.submit(submission_of(picture, workload))) ++left_;
    }
    for (const Workload& each : picture.workloads) by_uid_.emplace(each.uid, &each);
  }

  /// Returns the starts by uid. A workload that does not start within kHorizon has none.
  std::unordered_map<std::string, Time> play() {
    now_ = picture_.at;
    cycle();
    while (left_ > 0 && !ends_.empty() && ends_.top().at <= picture_.at + kHorizon) {
      now_ = ends_.top().at;
      while (!ends_.empty() && ends_.top().at == now_) {
        const End end = ends_.top();
        ends_.pop();
        const auto run = runs_.find(end.uid);
        if (run == runs_.end() || run->second != end.run) continue;
        const Workload& ended = *by_uid_.at(end.uid);
        runs_.erase(run);
        scheduler_.remove(end.uid);
        scheduler_.retry(picture_.cluster_queue(ended));
      }
      cycle();
    }
    return std::move(starts_);
  }

  /// Whether some running workload has an unknown run time: who has not started may wait for it.
  bool has_unknown() const { return has_unknown_; }

 private:
  struct End {
    Time at{};
    std::string uid{};
    std::uint64_t run = 0;
    bool operator>(const End& other) const {
      return std::tie(at, uid) > std::tie(other.at, other.uid);
    }
  };

  void expect_end(const Workload& workload, Duration age) {
    const Duration run = lifetimes_.draw(workload, age, rng_);
    runs_[workload.uid] = ++next_run_;
    if (run == kNoDuration) has_unknown_ = true;
    if (run == kNoDuration || run == Lifetimes::kForever) return;
    const Time from = now_ == kNoTime ? picture_.at : now_;
    ends_.push({from - age + run, workload.uid, next_run_});
  }

  /// Runs cycles until one admits and preempts no workload and has tried all flavors of all heads.
  void cycle() {
    std::set<std::string> preempted;
    std::size_t fruitless = 0;
    std::vector<std::string_view> heads = scheduler_.heads();
    while (!heads.empty() && fruitless <= flavors_) {
      const kueue::Cycle done = scheduler_.cycle(second_of(now_));
      for (const kueue::Admitted& each : done.admitted) {
        const Workload& workload = *by_uid_.at(each.workload);
        if (starts_.try_emplace(each.workload, now_).second && !workload.holds_quota()) --left_;
        expect_end(workload, Duration{0});
      }
      bool is_repeated = false;
      for (const kueue::Preempted& each : done.preempted) {
        runs_.erase(each.workload);
        is_repeated = !preempted.insert(each.workload).second || is_repeated;
      }
      if (is_repeated) return;
      std::vector<std::string_view> next = scheduler_.heads();
      const bool is_fruitful = !done.admitted.empty() || !done.preempted.empty() || next != heads;
      fruitless = is_fruitful ? 0 : fruitless + 1;
      heads = std::move(next);
    }
  }

  const Picture& picture_;
  const Lifetimes& lifetimes_;
  Rng rng_;
  kueue::Scheduler scheduler_;
  std::size_t flavors_;
  std::unordered_map<std::string, const Workload*> by_uid_{};
  std::unordered_map<std::string, std::uint64_t> runs_{};  ///< The current run of each.
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_{};
  std::unordered_map<std::string, Time> starts_{};
  Time now_ = kNoTime;
  std::size_t left_ = 0;
  std::uint64_t next_run_ = 0;
  bool has_unknown_ = false;
};

/// Returns the workloads without quota, by queue and then in Kueue's order.
std::vector<Outlook> waiting_in(const Picture& picture) {
  std::vector<Outlook> made;
  for (std::size_t at = 0; at < picture.workloads.size(); ++at) {
    const Workload& each = picture.workloads[at];
    if (each.stage != Stage::pending) continue;
    made.push_back({.workload = at,
                    .cluster_queue = picture.cluster_queue(each),
                    .obstacle = obstacle_of(picture, each)});
  }
  std::sort(made.begin(), made.end(), [&](const Outlook& a, const Outlook& b) {
    const Workload& one = picture.workloads[a.workload];
    const Workload& other = picture.workloads[b.workload];
    const auto rank = [](const Workload& of) { return -of.priority; };
    return std::tuple(a.cluster_queue, !a.obstacle.empty(), rank(one), one.created, one.uid) <
           std::tuple(b.cluster_queue, !b.obstacle.empty(), rank(other), other.created, other.uid);
  });
  const Outlook* first = nullptr;
  for (Outlook& each : made) {
    if (!each.obstacle.empty()) continue;
    const bool is_first = first == nullptr || first->cluster_queue != each.cluster_queue;
    if (is_first) {
      first = &each;
    } else if (picture.objects.setup.queues[*picture.queue_at(each.cluster_queue)].is_strict) {
      each.blocker = picture.workloads[first->workload].full_name();
    }
  }
  return made;
}

}  // namespace

std::string obstacle_of(const Picture& picture, const Workload& workload) {
  const auto queue = picture.queue_at(picture.cluster_queue(workload));
  if (workload.is_deleted) return "it is being deleted";
  if (!workload.is_active) return "it is deactivated (spec.active is false)";
  if (workload.is_gated) return "it is gated (annotation admission-gated-by)";
  const auto local = picture.local_queues.find(workload.name_space + "/" + workload.local_queue);
  if (local == picture.local_queues.end()) {
    return "its LocalQueue " + workload.local_queue + " does not exist";
  }
  if (!queue) return "its ClusterQueue " + local->second.cluster_queue + " does not exist";
  if (local->second.is_stopped) return "its LocalQueue is stopped (stopPolicy)";
  if (picture.objects.setup.queues[*queue].is_stopped) {
    return "its ClusterQueue is stopped (stopPolicy)";
  }
  return "";
}

bool never_ends(const Workload& workload) {
  for (const char* const kind : {"Deployment", "StatefulSet", "RayService", "LeaderWorkerSet"}) {
    if (workload.owner_kind == kind) return true;
  }
  return false;
}

void Lifetimes::learn(const trace::Trace& log) {
  const auto name = [&](NameId id) { return id == kNoName ? "" : std::string(log.names[id]); };
  for (const trace::Job& job : log.jobs) {
    const bool has_ended = job.outcome.state != trace::JobState::running &&
                           job.outcome.state != trace::JobState::pending;
    if (!has_ended || job.outcome.run <= Duration{0}) continue;
    const std::string account = name(job.request.account);
    of_[account].push_back(job.outcome.run);
    of_[kind_of_job(account, name(job.request.name))].push_back(job.outcome.run);
    all_.push_back(job.outcome.run);
  }
  for (auto& [key, runs] : of_) std::sort(runs.begin(), runs.end());
  std::sort(all_.begin(), all_.end());
}

std::span<const Duration> Lifetimes::runs_like(const Workload& workload, Duration age) const {
  const std::string account = workload.name_space + "/" + workload.local_queue;
  const std::string name = workload.owner.empty() ? workload.name : workload.owner;
  const auto longer = [&](const std::vector<Duration>& runs) {
    return std::span(std::upper_bound(runs.begin(), runs.end(), age), runs.end());
  };
  std::span<const Duration> past = longer(all_);
  for (const std::string& key : {account, kind_of_job(account, name)}) {
    const auto found = of_.find(key);
    if (found == of_.end() || found->second.size() < kFewest) continue;
    if (const auto own = longer(found->second); !own.empty()) past = own;
  }
  return past;
}

Duration Lifetimes::draw(const Workload& workload, Duration age, Rng& rng) const {
  if (never_ends(workload)) return kForever;
  const Duration limit = workload.limit == kNoDuration
                             ? kNoDuration
                             : std::max(age, workload.limit - workload.earlier);
  const std::span<const Duration> past = runs_like(workload, age);
  if (past.empty()) return limit;
  const Duration drawn = past[rng.below(past.size())];
  return limit == kNoDuration ? drawn : std::min(drawn, limit);
}

kueue::Submission submission_of(const Picture& picture, const Workload& workload) {
  kueue::Submission made{.name = workload.uid,
                         .queue = picture.cluster_queue(workload),
                         .created = second_of(workload.created),
                         .priority = workload.priority,
                         .pod_sets = {}};
  for (const PodSet& each : workload.pod_sets) {
    kueue::PodSet& pods = made.pod_sets.emplace_back(each.pods);
    std::erase_if(pods.requests,
                  [&](const auto& request) { return picture.uncounted.contains(request.first); });
    if (each.affinity.empty()) continue;
    pods.flavors.emplace();
    for (const kueue::Flavor& flavor : picture.objects.setup.flavors) {
      if (suits(each.affinity, flavor.labels)) pods.flavors->push_back(flavor.name);
    }
  }
  return made;
}

kueue::Wants held_quota(const kueue::World& world, const Picture& picture,
                        const Workload& workload) {
  kueue::Wants made;
  if (!workload.holds_quota()) return made;
  const std::vector<kueue::Flavor>& flavors = world.setup.flavors;
  std::map<std::string, std::string> assigned;
  for (const kueue::PodSet& pods : held_by(picture, workload, assigned).pod_sets) {
    for (const auto& [resource, amount] : pods.requests) {
      const auto flavor = std::find_if(
          flavors.begin(), flavors.end(),
          [&name = assigned.at(resource)](const auto& each) { return each.name == name; });
      const kueue::ResourceAt at = world.tree.resource(resource);
      if (flavor == flavors.end() || at == world.tree.num_resources()) continue;
      const auto number = static_cast<kueue::FlavorAt>(flavor - flavors.begin());
      kueue::add(made, world.tree.slot(number, at), kueue::times(amount, pods.count));
    }
  }
  return made;
}

kueue::World world_of(const Picture& picture, const kueue::Setup& setup) {
  kueue::World world(setup);
  for (const Workload& each : picture.workloads) {
    if (!each.holds_quota()) continue;
    const auto queue = picture.queue_at(picture.cluster_queue(each));
    if (!queue) continue;
    world.tree.take(static_cast<kueue::NodeAt>(*queue), held_quota(world, picture, each));
  }
  return world;
}

std::string flavor_of(kueue::World& world, const Picture& picture, const Workload& workload) {
  const auto resolved = world.resolve(submission_of(picture, workload));
  if (!resolved) return "";
  std::string only;
  for (const kueue::Queue::Group& group : world.queues[resolved->queue].groups) {
    const auto& resources = world.tree.resources();
    const auto has_gpus = [&] {
      for (std::size_t at = 0; at < resources.size(); ++at) {
        if (group.covers[at] && kueue::is_gpu(resources[at])) return true;
      }
      return false;
    };
    if (!has_gpus()) continue;
    for (const kueue::FlavorAt flavor : group.flavors) {
      const bool fits = std::all_of(resolved->pod_sets.begin(), resolved->pod_sets.end(),
                                    [&](const kueue::Pods& pods) { return pods.suits[flavor]; });
      if (!fits) continue;
      if (!only.empty()) return "";
      only = world.setup.flavors[flavor].name;
    }
  }
  return only;
}

std::vector<Outlook> outlook_of(const Picture& picture, const Lifetimes& lifetimes, bool shares,
                                int futures) {
  kueue::Setup setup = picture.objects.setup;
  setup.is_fair = shares;
  std::vector<Outlook> made = waiting_in(picture);
  kueue::World world = world_of(picture, setup);
  for (Outlook& each : made) {
    if (!each.obstacle.empty()) continue;
    const auto resolved = world.resolve(submission_of(picture, picture.workloads[each.workload]));
    if (resolved) each.shortages = kueue::shortages_of(world, *resolved);
  }
  std::unordered_map<std::string, std::vector<Time>> starts;
  bool has_unknown = false;
  for (int number = 0; number < futures; ++number) {
    Future future(picture, setup, lifetimes, made, static_cast<std::uint64_t>(number));
    for (const auto& [uid, start] : future.play()) starts[uid].push_back(start);
    has_unknown = has_unknown || future.has_unknown();
  }
  const Time otherwise = has_unknown ? kNoTime : kNever;
  for (Outlook& each : made) {
    if (!each.obstacle.empty()) continue;
    std::vector<Time>& found = starts[picture.workloads[each.workload].uid];
    std::sort(found.begin(), found.end());
    each.never_starts = !each.shortages.empty() &&
                        std::all_of(each.shortages.begin(), each.shortages.end(),
                                    [](const kueue::Shortage& of) { return of.is_for_ever(); });
    const auto quantile = [&](double share) {
      // The smallest start that this share of all futures has reached.
      const auto at = static_cast<std::size_t>(std::ceil(share * futures - 1e-9)) - 1;
      if (at < found.size()) return found[at];
      return each.never_starts ? kNever : otherwise;
    };
    each.start_half = quantile(0.5);
    each.start_by = quantile(0.9);
    each.start_from = quantile(0.05);
    each.start_to = quantile(0.95);
  }
  return made;
}

}  // namespace almanac::kube
