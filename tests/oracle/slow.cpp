// SPDX-License-Identifier: Apache-2.0
#include "oracle/slow.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

namespace almanac::oracle {
namespace {

enum class State { coming, waiting, running, stopped, done };

struct SlowJob {
  JobId id{};
  Time submit{};
  Duration run{};
  int gpus = 0;
  Duration attained{0};  // before the present run
  Duration charged{0};
  Time since{};
  int joined = 0;   // when it joined the queue, counted
  int started = 0;  // when it started, counted
  State state = State::coming;
  std::vector<cluster::Grant> held{};

  Duration total() const { return run + charged; }
  Duration ran(Time now) const {
    return state == State::running ? attained + (now - since) : attained;
  }
  Time end() const { return since + std::max(Duration{0}, total() - attained); }
  /// A job without run time is believed to run a millisecond.
  Time believed_end() const { return since + std::max(Duration{1}, total() - attained); }
};

/// One virtual cluster of equal nodes, second to none in slowness.
class SlowVc {
 public:
  SlowVc(const Case& input, VcId vc, Rule rule)
      : rule_(rule), cost_(input.options.restart), first_(input.cluster.vcs[index(vc)].first) {
    const cluster::VirtualCluster& home = input.cluster.vcs[index(vc)];
    size_ = input.cluster.gpus(home.first);
    owner_.assign(home.num_nodes, std::vector<const SlowJob*>(static_cast<std::size_t>(size_)));
    for (std::uint32_t job = 0; job < input.trace.jobs.size(); ++job) {
      const trace::Job& asked = input.trace.jobs[job];
      if (input.cluster.find_vc(input.trace.names[asked.request.vc]) != vc) continue;
      jobs_.push_back({.id = JobId{job},
                       .submit = asked.request.submit,
                       .run = asked.outcome.run,
                       .gpus = asked.request.gpus});
    }
  }

  std::vector<Run> play() {
    for (now_ = next_event(); now_ != kNever; now_ = next_event()) {
      do {
        end_jobs();
        for (SlowJob* job : std::exchange(stopped_, {})) join(*job);
        for (SlowJob& job : jobs_) {
          if (job.state == State::coming && job.submit == now_) join(job);
        }
        decide();
      } while (!stopped_.empty() || someone_ends_now());
    }
    return runs_;
  }

 private:
  using Nodes = std::vector<int>;  // a number for each node

  // Time.

  Time next_event() const {
    Time next = kNever;
    for (const SlowJob& job : jobs_) {
      if (job.state == State::coming) next = std::min(next, job.submit);
      if (job.state != State::running) continue;
      next = std::min(next, job.end());
      const Time jump = job.since + (threshold(job) - job.attained);
      if (rule_ == Rule::las && jump > now_) next = std::min(next, jump);
    }
    for (const Promise& promise : promises_) next = std::min(next, promise.start);
    return next;
  }

  bool someone_ends_now() const {
    return std::any_of(jobs_.begin(), jobs_.end(), [&](const SlowJob& job) {
      return job.state == State::running && job.end() == now_;
    });
  }

  void end_jobs() {
    for (SlowJob& job : jobs_) {
      if (job.state != State::running || job.end() > now_) continue;
      if (job.believed_end() > now_) promise_.reset();
      leave(job);
      job.state = State::done;
    }
  }

  /// Run time after which a job has had its share of the first queue: whole milliseconds, rounded
  /// up.
  static Duration threshold(const SlowJob& job) {
    return Duration{(kLasThresholdGpuSeconds * 1000 + job.gpus - 1) / job.gpus};
  }

  // Order.

  double rank(const SlowJob& job) const {
    switch (rule_) {
      case Rule::sjf:
      case Rule::sjf_easy:
        return seconds(job.run);
      case Rule::gpu_time:
        return job.gpus * seconds(job.run);
      case Rule::srtf:
        return seconds(job.total() - job.ran(now_));
      case Rule::las:
        return job.ran(now_) >= threshold(job) ? 1 : 0;
      default:
        return seconds(job.submit);
    }
  }
  double tie(const SlowJob& job) const {
    if (rule_ == Rule::gpu_time) return job.gpus;
    return rule_ == Rule::las ? seconds(job.submit) : 0;
  }

  std::vector<SlowJob*> queue() {
    std::vector<SlowJob*> waiting;
    for (SlowJob& job : jobs_) {
      if (job.state == State::waiting) waiting.push_back(&job);
    }
    std::sort(waiting.begin(), waiting.end(), [&](const SlowJob* a, const SlowJob* b) {
      return std::tuple(rank(*a), tie(*a), a->joined) < std::tuple(rank(*b), tie(*b), b->joined);
    });
    return waiting;
  }

  // Places.

  int free_on(std::size_t node) const {
    return static_cast<int>(std::count(owner_[node].begin(), owner_[node].end(), nullptr));
  }
  Nodes free() const {
    Nodes free;
    for (std::size_t node = 0; node < owner_.size(); ++node) free.push_back(free_on(node));
    return free;
  }

  /// How many GPUs of each node `gpus` would get; empty = it does not fit.
  Nodes fit(int gpus, const Nodes& free) const {
    std::vector<std::size_t> order;
    for (std::size_t node = 0; node < free.size(); ++node) order.push_back(node);
    Nodes taken(free.size(), 0);
    if (gpus <= size_) {
      std::stable_sort(order.begin(), order.end(),
                       [&](std::size_t a, std::size_t b) { return free[a] < free[b]; });
      for (const std::size_t node : order) {
        if (free[node] < gpus) continue;
        taken[node] = gpus;
        return taken;
      }
      return {};
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return free[a] > free[b]; });
    for (const std::size_t node : order) {
      const int piece = std::min(gpus, size_);
      if (free[node] < piece) return {};
      taken[node] = piece;
      gpus -= piece;
      if (gpus == 0) return taken;
    }
    return {};
  }

  void join(SlowJob& job) {
    job.state = State::waiting;
    job.joined = ++count_;
  }

  void occupy(SlowJob& job, const Nodes& taken) {
    job.held.clear();
    for (std::size_t node = 0; node < taken.size(); ++node) {
      if (taken[node] == 0) continue;
      cluster::Grant grant{NodeId{static_cast<std::uint32_t>(index(first_) + node)}, 0};
      for (std::size_t gpu = 0; grant.count() < taken[node]; ++gpu) {
        if (owner_[node][gpu] != nullptr) continue;
        owner_[node][gpu] = &job;
        grant.gpus |= cluster::GpuMask{1} << gpu;
      }
      job.held.push_back(grant);
    }
  }
  void vacate(const SlowJob& job) {
    for (auto& node : owner_) std::replace(node.begin(), node.end(), &job, kNobody);
  }

  void start(SlowJob& job, const Nodes& taken) {
    occupy(job, taken);
    begin(job);
  }
  void begin(SlowJob& job) {
    job.state = State::running;
    job.since = now_;
    job.started = ++count_;
  }
  /// A running job leaves its GPUs and what it ran is written down.
  void leave(SlowJob& job) {
    vacate(job);
    job.attained = job.ran(now_);
    runs_.push_back({.job = job.id, .start = job.since, .end = now_, .grants = job.held});
  }

  bool try_start(SlowJob& job) {
    const Nodes taken = fit(job.gpus, free());
    if (taken.empty()) return false;
    start(job, taken);
    return true;
  }

  // Decisions.

  void decide() {
    switch (rule_) {
      case Rule::srtf:
      case Rule::las:
        return decide_preempting();
      case Rule::conservative:
        return decide_conservative();
      case Rule::easy:
      case Rule::sjf_easy:
        return decide_easy();
      default:
        start_heads();
    }
  }

  void start_heads() {
    for (SlowJob* job : queue()) {
      if (!try_start(*job)) return;
      promise_.reset();
    }
  }

  // EASY.

  struct Promise {
    SlowJob* job = nullptr;
    Time start{};
    Time end{};
    Nodes pieces{};
  };

  void decide_easy() {
    start_heads();
    const std::vector<SlowJob*> waiting = queue();
    if (waiting.empty()) return;
    if (!promise_ || promise_->job != waiting.front()) promise_ = promise(*waiting.front());
    for (std::size_t at = 1; at < waiting.size(); ++at) backfill(*waiting[at]);
  }

  /// Free GPUs when only those who run now and end later than `at` still run.
  Nodes free_at(Time at) const {
    Nodes free = this->free();
    for (const SlowJob& job : jobs_) {
      if (job.state != State::running || job.believed_end() > at) continue;
      for (const cluster::Grant& grant : job.held) {
        free[index(grant.node) - index(first_)] += grant.count();
      }
    }
    return free;
  }

  std::optional<Promise> promise(SlowJob& head) const {
    std::vector<Time> ends;
    for (const SlowJob& job : jobs_) {
      if (job.state == State::running) ends.push_back(job.believed_end());
    }
    std::sort(ends.begin(), ends.end());
    for (const Time end : ends) {
      Nodes pieces = fit(head.gpus, free_at(end));
      if (!pieces.empty()) return Promise{.job = &head, .start = end, .pieces = std::move(pieces)};
    }
    return std::nullopt;
  }

  /// Starts `job` if the head loses nothing. On nodes where it would, it may use only what the
  /// head will leave.
  void backfill(SlowJob& job) {
    const Time end = now_ + std::max(Duration{1}, job.total());
    Nodes usable = free();
    const Nodes later = free_at(promise_->start);
    for (;;) {
      const Nodes taken = fit(job.gpus, usable);
      if (taken.empty()) return;
      bool harmless = true;
      for (std::size_t node = 0; node < taken.size() && end > promise_->start; ++node) {
        const int left = std::max(0, later[node] - promise_->pieces[node]);
        if (promise_->pieces[node] == 0 || taken[node] <= left) continue;
        usable[node] = std::min(usable[node], left);
        harmless = false;
      }
      if (harmless) return start(job, taken);
    }
  }

  // Conservative, on one node: only numbers matter.

  void decide_conservative() {
    for (SlowJob* job : queue()) {
      if (std::none_of(promises_.begin(), promises_.end(),
                       [&](const Promise& promise) { return promise.job == job; })) {
        promises_.push_back(earliest(*job));
      }
    }
    for (std::size_t at = 0; at < promises_.size();) {
      if (promises_[at].start > now_) {
        ++at;
        continue;
      }
      SlowJob& job = *promises_[at].job;
      promises_.erase(promises_.begin() + static_cast<std::ptrdiff_t>(at));
      try_start(job);
    }
  }

  int used_at(Time at) const {
    int used = 0;
    for (const SlowJob& job : jobs_) {
      if (job.state == State::running && at < job.end()) used += job.gpus;
    }
    for (const Promise& promise : promises_) {
      if (promise.start <= at && at < promise.end) used += promise.job->gpus;
    }
    return used;
  }

  Promise earliest(SlowJob& job) const {
    std::vector<Time> moments = {now_};
    for (const SlowJob& other : jobs_) {
      if (other.state == State::running) moments.push_back(other.end());
    }
    for (const Promise& promise : promises_) {
      moments.push_back(promise.start);
      moments.push_back(promise.end);
    }
    std::sort(moments.begin(), moments.end());
    for (const Time start : moments) {
      const Time end = start + job.run;
      const bool fits = std::all_of(moments.begin(), moments.end(), [&](Time at) {
        return at < start || at >= end || used_at(at) + job.gpus <= size_;
      });
      if (fits) return {.job = &job, .start = start, .end = end};
    }
    return {.job = &job, .start = kNever, .end = kNever};
  }

  // Preemption by rank.

  void decide_preempting() {
    int too_many = 1'000'000;
    std::vector<const SlowJob*> fresh;
    for (SlowJob* job : queue()) {
      if (job->gpus >= too_many) continue;
      if (try_start(*job) || make_room(*job, fresh)) {
        fresh.push_back(job);
      } else {
        too_many = job->gpus;
      }
    }
  }

  bool make_room(SlowJob& job, const std::vector<const SlowJob*>& fresh) {
    std::vector<SlowJob*> victims;
    for (SlowJob& other : jobs_) {
      const bool is_fresh = std::find(fresh.begin(), fresh.end(), &other) != fresh.end();
      if (other.state == State::running && !is_fresh && rank(other) > rank(job)) {
        victims.push_back(&other);
      }
    }
    std::sort(victims.begin(), victims.end(), [&](const SlowJob* a, const SlowJob* b) {
      return std::tuple(rank(*a), a->started) > std::tuple(rank(*b), b->started);
    });
    const auto before = owner_;
    for (std::size_t count = 1; count <= victims.size(); ++count) {
      vacate(*victims[count - 1]);
      const Nodes taken = fit(job.gpus, free());
      if (taken.empty()) continue;
      start(job, taken);
      victims.resize(count);
      spare(victims);
      for (SlowJob* victim : victims) stop(*victim);
      return true;
    }
    owner_ = before;
    return false;
  }

  /// Those whose very GPUs are still free go on, the one of best rank first.
  void spare(std::vector<SlowJob*>& victims) {
    for (std::size_t at = victims.size(); at-- > 0;) {
      bool free = true;
      for_gpus(*victims[at], [&](const SlowJob*& owner) { free = free && owner == nullptr; });
      if (!free) continue;
      for_gpus(*victims[at], [&](const SlowJob*& owner) { owner = victims[at]; });
      victims.erase(victims.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }

  template <typename Visit>
  void for_gpus(const SlowJob& job, Visit&& visit) {
    for (const cluster::Grant& grant : job.held) {
      auto& node = owner_[index(grant.node) - index(first_)];
      for (std::size_t gpu = 0; gpu < node.size(); ++gpu) {
        if ((grant.gpus >> gpu & 1) != 0) visit(node[gpu]);
      }
    }
  }

  void stop(SlowJob& job) {
    job.attained = job.ran(now_);
    runs_.push_back({.job = job.id, .start = job.since, .end = now_, .grants = job.held});
    job.charged += cost_.of(job.gpus);
    job.state = State::stopped;
    stopped_.push_back(&job);
  }

  static constexpr const SlowJob* kNobody = nullptr;

  Rule rule_;
  schedule::RestartCost cost_;
  NodeId first_;
  int size_ = 0;
  std::vector<SlowJob> jobs_;  // in order of the trace
  std::vector<std::vector<const SlowJob*>> owner_;
  std::vector<SlowJob*> stopped_;
  std::optional<Promise> promise_;  // EASY
  std::vector<Promise> promises_;   // conservative
  std::vector<Run> runs_;
  Time now_ = Time::min();
  int count_ = 0;
};

}  // namespace

std::vector<Run> slow_runs(const Case& input, Rule rule) {
  std::vector<Run> runs;
  for (std::uint32_t vc = 0; vc < input.cluster.vcs.size(); ++vc) {
    const std::vector<Run> some = rule == Rule::helios_srtf ? helios_srtf(input, VcId{vc})
                                                            : SlowVc(input, VcId{vc}, rule).play();
    runs.insert(runs.end(), some.begin(), some.end());
  }
  return runs;
}

}  // namespace almanac::oracle
