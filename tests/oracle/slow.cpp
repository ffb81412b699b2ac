// SPDX-License-Identifier: Apache-2.0
#include "oracle/slow.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace almanac::oracle {
namespace {

using cluster::Amount;

enum class State { coming, never, waiting, running, stopped, done };

struct SlowJob {
  JobId id{};
  Time submit{};
  Duration run{};
  int gpus = 0;
  int milli = 0;         // of each GPU
  int units = 0;         // GPUs of a GPU job, tasks of a CPU job
  Amount unit{};         // of one
  Duration attained{0};  // before the present run
  Duration charged{0};
  Time since{};
  int joined = 0;   // when it joined the queue, counted
  int started = 0;  // when it started, counted
  State state = State::coming;
  std::vector<cluster::Grant> held{};

  Amount of(int count) const { return unit * count; }
  Duration total() const { return run + charged; }
  Duration ran(Time now) const {
    return state == State::running ? attained + (now - since) : attained;
  }
  Time end() const { return since + std::max(Duration{0}, total() - attained); }
  /// A job without run time is believed to run a millisecond.
  Time believed_end() const { return since + std::max(Duration{1}, total() - attained); }
};

/// A node: which job has how much of each GPU, and what is left of the rest.
struct SlowNode {
  using Owners = std::map<const SlowJob*, int>;  // thousandths
  std::vector<Owners> owners{};
  int cpu_milli = 0;
  int memory_mb = 0;

  static int left(const Owners& of) {
    int left = cluster::kWholeGpu;
    for (const auto& [job, milli] : of) left -= milli;
    return left;
  }
  /// The GPU where a part goes: of those that are open and have as much left the one with least,
  /// else, if that may be, the first that is free. -1 = none.
  int gpu_for(int milli, bool may_open) const {
    int best = -1;
    int least = cluster::kWholeGpu;
    for (std::size_t gpu = 0; gpu < owners.size(); ++gpu) {
      const int here = left(owners[gpu]);
      if (owners[gpu].empty() || here < milli || here >= least) continue;
      best = static_cast<int>(gpu);
      least = here;
    }
    for (std::size_t gpu = 0; may_open && best < 0 && gpu < owners.size(); ++gpu) {
      if (owners[gpu].empty()) best = static_cast<int>(gpu);
    }
    return best;
  }
};

/// One virtual cluster of equal nodes, second to none in slowness.
class SlowVc {
 public:
  SlowVc(const Case& input, VcId vc, Rule rule)
      : rule_(rule), cost_(input.options.restart), first_(input.cluster.vcs[index(vc)].first) {
    const cluster::VirtualCluster& home = input.cluster.vcs[index(vc)];
    const cluster::NodeClass& make =
        input.cluster.classes[input.cluster.nodes[index(home.first)].node_class];
    size_ = make.gpus;
    cpu_milli_ = make.cpus > 0 ? static_cast<int>(make.cpus * 1000) : kPlenty;
    memory_mb_ = make.memory_gb > 0 ? static_cast<int>(make.memory_gb * 1000) : kPlenty;
    nodes_.assign(home.num_nodes,
                  {.owners = std::vector<SlowNode::Owners>(static_cast<std::size_t>(size_)),
                   .cpu_milli = cpu_milli_,
                   .memory_mb = memory_mb_});
    for (std::uint32_t job = 0; job < input.trace.jobs.size(); ++job) {
      const trace::Job& asked = input.trace.jobs[job];
      if (input.cluster.find_vc(input.trace.names[asked.request.vc]) != vc) continue;
      // Without any cores there is no place for CPU jobs.
      if (asked.request.gpus == 0 && make.cpus == 0) continue;
      jobs_.push_back({.id = JobId{job},
                       .submit = asked.request.submit,
                       .run = asked.outcome.run,
                       .gpus = asked.request.gpus,
                       .milli = cluster::kWholeGpu});
      if (asked.request.gpus == 1) {
        jobs_.back().milli = static_cast<int>(std::lround(asked.request.gpu_share * 1000));
      }
      set_unit(asked.request, jobs_.back());
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
  using Nodes = std::vector<Amount>;  // of each node

  static constexpr int kPlenty = 1'000'000'000;

  /// A GPU and its part of the cores and memory that the job asks, or else of those that the node
  /// has; a task and its part. Both are rounded down to a thousandth, a part to one at least.
  void set_unit(const trace::Request& request, SlowJob& job) const {
    const bool on_gpus = request.gpus > 0;
    job.units = on_gpus ? request.gpus : std::max(1, request.nodes);
    const auto part = [&](float asked, int node_has, int otherwise) {
      if (node_has == kPlenty && cpu_milli_ == kPlenty && memory_mb_ == kPlenty) return 0;
      if (!std::isnan(asked)) {
        const auto thousandths = static_cast<int>(std::llround(static_cast<double>(asked) * 1000));
        return std::max(thousandths / job.units, std::min(thousandths, 1));
      }
      if (!on_gpus) return otherwise;
      return node_has == kPlenty ? 0 : node_has / size_ * job.milli / cluster::kWholeGpu;
    };
    job.unit = {.gpus = on_gpus ? 1 : 0,
                .cpu_milli = part(request.cpus, cpu_milli_, 1000),
                .memory_mb = part(request.memory_gb, memory_mb_, 0)};
  }

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
  /// up. A CPU job has no GPU time ever.
  static Duration threshold(const SlowJob& job) {
    if (job.gpus == 0) return kLongest;
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

  Nodes free() const {
    Nodes free;
    for (const SlowNode& node : nodes_) {
      const auto gpus = std::count_if(node.owners.begin(), node.owners.end(),
                                      [](const auto& owners) { return owners.empty(); });
      free.push_back({static_cast<int>(gpus), node.cpu_milli, node.memory_mb});
    }
    return free;
  }
  Nodes all_free() const { return Nodes(nodes_.size(), {size_, cpu_milli_, memory_mb_}); }

  /// Nodes by free GPUs, ties by number.
  static std::vector<std::size_t> by_free(const Nodes& free, bool fullest_first) {
    std::vector<std::size_t> order;
    for (std::size_t node = 0; node < free.size(); ++node) order.push_back(node);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return fullest_first ? free[a].gpus < free[b].gpus : free[a].gpus > free[b].gpus;
    });
    return order;
  }

  /// What of each node `job` would get; empty = it does not fit.
  Nodes fit(const SlowJob& job, Nodes free) const {
    Nodes taken(free.size());
    const auto take = [&](int units, bool fullest_first) {
      for (const std::size_t node : by_free(free, fullest_first)) {
        if (!free[node].covers(job.of(units))) continue;
        free[node] -= job.of(units);
        taken[node] += job.of(units);
        return true;
      }
      return false;
    };
    if (job.gpus == 0) {
      for (int task = 0; task < job.units; ++task) {
        if (!take(1, true)) return {};
      }
      return taken;
    }
    if (job.gpus <= size_) return take(job.gpus, true) ? taken : Nodes{};
    for (int left = job.gpus; left > 0; left -= std::min(left, size_)) {
      if (!take(std::min(left, size_), false)) return {};
    }
    return taken;
  }

  /// The same now, where parts go to GPUs that are open if there are any.
  Nodes fit_now(const SlowJob& job) const {
    const Nodes free = this->free();
    Nodes taken(nodes_.size());
    std::size_t best = nodes_.size();
    int least = cluster::kWholeGpu;
    for (std::size_t at = 0; job.milli < cluster::kWholeGpu && at < nodes_.size(); ++at) {
      const int gpu = nodes_[at].gpu_for(job.milli, false);
      const Amount beside{0, job.unit.cpu_milli, job.unit.memory_mb};
      if (gpu < 0 || !free[at].covers(beside)) continue;
      const int left = SlowNode::left(nodes_[at].owners[static_cast<std::size_t>(gpu)]);
      if (left >= least) continue;
      best = at;
      least = left;
    }
    if (best == nodes_.size()) return fit(job, free);
    taken[best] = job.unit;
    return taken;
  }

  void join(SlowJob& job) {
    job.state = fit(job, all_free()).empty() ? State::never : State::waiting;
    job.joined = ++count_;
  }

  void occupy(SlowJob& job, const Nodes& taken) {
    job.held.clear();
    for (std::size_t at = 0; at < taken.size(); ++at) {
      if (taken[at].empty()) continue;
      SlowNode& node = nodes_[at];
      cluster::Grant grant{.node = NodeId{static_cast<std::uint32_t>(index(first_) + at)},
                           .gpu_milli = job.milli,
                           .cpu_milli = taken[at].cpu_milli,
                           .memory_mb = taken[at].memory_mb};
      while (grant.count() < taken[at].gpus) {
        const int gpu = node.gpu_for(job.milli, true);
        node.owners[static_cast<std::size_t>(gpu)][&job] = job.milli;
        grant.gpus |= cluster::GpuMask{1} << gpu;
      }
      node.cpu_milli -= grant.cpu_milli;
      node.memory_mb -= grant.memory_mb;
      job.held.push_back(grant);
    }
  }
  void vacate(const SlowJob& job) {
    for (const cluster::Grant& grant : job.held) {
      SlowNode& node = node_of(grant);
      for (SlowNode::Owners& owners : node.owners) owners.erase(&job);
      node.cpu_milli += grant.cpu_milli;
      node.memory_mb += grant.memory_mb;
    }
  }
  SlowNode& node_of(const cluster::Grant& grant) {
    return nodes_[index(grant.node) - index(first_)];
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
    const Nodes taken = fit_now(job);
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

  /// What is free when only those that run now and end later than `at` still run.
  Nodes free_at(Time at) const {
    Nodes free = this->free();
    for (const SlowJob& job : jobs_) {
      if (job.state != State::running || job.believed_end() > at) continue;
      for (const cluster::Grant& grant : job.held) {
        free[index(grant.node) - index(first_)] += grant.amount();
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
      Nodes pieces = fit(head, free_at(end));
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
      const Nodes taken = fit(job, usable);
      if (taken.empty()) return;
      bool harmless = true;
      for (std::size_t node = 0; node < taken.size() && end > promise_->start; ++node) {
        const Amount left = most({}, later[node] - promise_->pieces[node]);
        if (promise_->pieces[node].empty() || left.covers(taken[node])) continue;
        usable[node] = least(usable[node], left);
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

  Amount used_at(Time at) const {
    Amount used;
    for (const SlowJob& job : jobs_) {
      if (job.state == State::running && at < job.end()) used += job.of(job.units);
    }
    for (const Promise& promise : promises_) {
      if (promise.start <= at && at < promise.end) used += promise.job->of(promise.job->units);
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
        return at < start || at >= end || all_free()[0].covers(used_at(at) + job.of(job.units));
      });
      if (fits) return {.job = &job, .start = start, .end = end};
    }
    return {.job = &job, .start = kNever, .end = kNever};
  }

  // Preemption by rank.

  void decide_preempting() {
    std::vector<const SlowJob*> fresh;
    for (SlowJob* job : queue()) {
      if (try_start(*job) || make_room(*job, fresh)) fresh.push_back(job);
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
    const auto before = nodes_;
    for (std::size_t count = 1; count <= victims.size(); ++count) {
      vacate(*victims[count - 1]);
      const Nodes taken = fit_now(job);
      if (taken.empty()) continue;
      start(job, taken);
      victims.resize(count);
      spare(victims);
      for (SlowJob* victim : victims) stop(*victim);
      return true;
    }
    nodes_ = before;
    return false;
  }

  /// Those whose very GPUs, and cores and memory, are still free go on, the one of best rank first.
  void spare(std::vector<SlowJob*>& victims) {
    for (std::size_t at = victims.size(); at-- > 0;) {
      const SlowJob& victim = *victims[at];
      bool free = true;
      for (const cluster::Grant& grant : victim.held) {
        const SlowNode& node = node_of(grant);
        free = free && node.cpu_milli >= grant.cpu_milli && node.memory_mb >= grant.memory_mb;
        for_gpus(grant, [&](const SlowNode::Owners& owners) {
          free = free && SlowNode::left(owners) >= grant.gpu_milli;
        });
      }
      if (!free) continue;
      for (const cluster::Grant& grant : victim.held) {
        node_of(grant).cpu_milli -= grant.cpu_milli;
        node_of(grant).memory_mb -= grant.memory_mb;
        for_gpus(grant, [&](SlowNode::Owners& owners) { owners[&victim] = grant.gpu_milli; });
      }
      victims.erase(victims.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }

  template <typename Visit>
  void for_gpus(const cluster::Grant& grant, Visit&& visit) {
    SlowNode& node = node_of(grant);
    for (std::size_t gpu = 0; gpu < node.owners.size(); ++gpu) {
      if ((grant.gpus >> gpu & 1) != 0) visit(node.owners[gpu]);
    }
  }

  void stop(SlowJob& job) {
    job.attained = job.ran(now_);
    runs_.push_back({.job = job.id, .start = job.since, .end = now_, .grants = job.held});
    job.charged += cost_.of(job.gpus);
    job.state = State::stopped;
    stopped_.push_back(&job);
  }

  static constexpr Duration kLongest{1'000'000'000'000};

  Rule rule_;
  schedule::RestartCost cost_;
  NodeId first_;
  int size_ = 0;       // GPUs of a node
  int cpu_milli_ = 0;  // of a node, and so on
  int memory_mb_ = 0;
  std::vector<SlowJob> jobs_;  // in order of the trace
  std::vector<SlowNode> nodes_;
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
