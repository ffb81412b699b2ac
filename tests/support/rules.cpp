// SPDX-License-Identifier: Apache-2.0
#include "support/rules.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "schedule/admission.h"
#include "schedule/speed_book.h"
#include "trace/sizes.h"

namespace almanac {
namespace {

class Recount {
 public:
  Recount(const Case& input, const Played& played)
      : input_(input), played_(played), admission_(input.cluster, input.trace.names) {
    broken_ = played.faults;
    for (const Run& run : played.runs) runs_[run.job].push_back(&run);
    for (const auto& [job, reason] : played.result.never) never_.insert(job);
    find_changes();
  }

  std::vector<std::string> check() {
    check_gpus();
    check_rooms();
    check_places();
    check_power();
    for (const Run& run : played_.runs) check_gang(run);
    for (std::uint32_t job = 0; job < input_.trace.jobs.size(); ++job) check_job(JobId{job});
    for (const sim::Sample& sample : played_.result.timeline) check_sample(sample);
    check_integral();
    return std::move(broken_);
  }

 private:
  template <typename... Values>
  void say(fmt::format_string<Values...> sentence, Values&&... values) {
    broken_.push_back(fmt::format(sentence, std::forward<Values>(values)...));
  }

  /// Of each GPU no more is held than there is.
  void check_gpus() {
    for (const auto& [gpu, some] : gpu_changes_) {
      if (gpu.second >= input_.cluster.gpus(gpu.first)) {
        say("node {} has no GPU {}", index(gpu.first), gpu.second);
      }
      int held = 0;
      for (const GpuChange& change : some) {
        held += change.more;
        if (held <= cluster::kWholeGpu) continue;
        say("node {} GPU {}: {}/1000 of it are held at {} s", index(gpu.first), gpu.second, held,
            seconds(change.at));
      }
    }
  }

  struct Change {
    Time at{};
    cluster::Amount more{};
  };
  /// A GPU, or a part of it, for a job.
  struct Hold {
    Time from{};
    Time until{};
    cluster::Grant grant{};
  };
  struct GpuChange {
    Time at{};
    int more = 0;  // thousandths
  };

  /// What each node gives and gets back, resizes included; in order of time, back comes first.
  void find_changes() {
    const auto hold = [&](const std::vector<cluster::Grant>& grants, Time from, Time until) {
      for (const cluster::Grant& grant : grants) {
        changes_[grant.node].push_back({from, grant.amount()});
        changes_[grant.node].push_back({until, grant.amount() * -1});
        for (int gpu = 0; gpu < cluster::kMaxGpusPerNode; ++gpu) {
          if ((grant.gpus >> gpu & 1) == 0) continue;
          gpu_changes_[{grant.node, gpu}].push_back({from, grant.gpu_milli});
          gpu_changes_[{grant.node, gpu}].push_back({until, -grant.gpu_milli});
          held_[{grant.node, gpu}].push_back({from, until, grant});
        }
      }
    };
    for (const Run& run : played_.runs) {
      Time from = run.start;
      const std::vector<cluster::Grant>* held = &run.grants;
      for (const Run::Resize& resize : run.resizes) {
        hold(*held, from, resize.at);
        from = resize.at;
        held = &resize.grants;
      }
      hold(*held, from, run.end);
    }
    for (auto& [node, some] : changes_) {
      std::sort(some.begin(), some.end(), [](const Change& a, const Change& b) {
        return a.at != b.at ? a.at < b.at : !a.more.covers({}) && b.more.covers({});
      });
    }
    for (auto& [gpu, some] : gpu_changes_) {
      std::sort(some.begin(), some.end(), [](const GpuChange& a, const GpuChange& b) {
        return a.at != b.at ? a.at < b.at : a.more < b.more;
      });
    }
  }

  /// Instances on a GPU do not overlap, lie beside nothing else, and begin where they may; parts
  /// have no more memory than there is.
  void check_places() {
    for (const auto& [gpu, some] : held_) {
      const cluster::NodeClass& make =
          input_.cluster.classes[input_.cluster.nodes[index(gpu.first)].node_class];
      for (const Hold& one : some) {
        double memory_gb = 0;
        std::optional<slices::Layout> layout;
        if (make.board != nullptr) layout.emplace(*make.board);
        for (const Hold& other : some) {
          // What is there as `one` begins.
          if (other.from > one.from || other.until <= one.from) continue;
          memory_gb += other.grant.gpu_memory_mb / 1e3;
          if (other.grant.profile == slices::kNoProfile) {
            if (one.grant.profile == slices::kNoProfile) continue;
            say("node {}: an instance lies beside a job without one", index(gpu.first));
          } else if (!layout || layout->create({slices::position(*make.board, other.grant.profile),
                                                other.grant.slice}) != slices::Refusal::none) {
            say("node {} at {} s: no place for a {} at slice {}", index(gpu.first),
                seconds(one.from), slices::profile_name(other.grant.profile), other.grant.slice);
          }
        }
        if (make.gpu_memory_gb > 0 && memory_gb > make.gpu_memory_gb) {
          say("node {} gives {} of {} GB of a GPU", index(gpu.first), memory_gb,
              make.gpu_memory_gb);
        }
      }
    }
  }

  /// No node gives more cores and memory than it has, or less than none to any job.
  void check_rooms() {
    for (const auto& [node, some] : changes_) {
      const cluster::NodeClass& make =
          input_.cluster.classes[input_.cluster.nodes[index(node)].node_class];
      cluster::Amount held;
      for (const Change& change : some) {
        held += change.more;
        const bool too_many_cores = make.cpus > 0 && held.cpus() > make.cpus;
        const bool too_much_memory = make.memory_gb > 0 && held.memory_gb() > make.memory_gb;
        if (too_many_cores)
          say("node {} gives {} of {} cores", index(node), held.cpus(), make.cpus);
        if (too_much_memory) {
          say("node {} gives {} of {} GB", index(node), held.memory_gb(), make.memory_gb);
        }
      }
    }
  }

  /// A node that sleeps or boots runs nothing, a job that waits for its boot waits no longer, and
  /// the books say how long it did.
  void check_power() {
    double asleep_node_s = 0;
    double asleep_gpu_s = 0;
    std::map<const Run*, Time> on;
    for (const Sleep& sleep : played_.sleeps) {
      const bool boots = sleep.end != kNever && !sleep.drained;
      const Time until = boots ? sleep.end + input_.options.nodes.boot : sleep.end;
      for (const Run& run : played_.runs) {
        if (run.start >= until || run.end <= sleep.start) continue;
        for (const cluster::Grant& grant : run.grants) {
          if (grant.node != sleep.node) continue;
          on[&run] = std::max(on[&run], until);
          if (run.begin >= until) continue;
          say("job {} runs on node {}, which sleeps", index(run.job), index(sleep.node));
        }
      }
      const double slept = seconds(std::min(sleep.end, played_.result.finish) - sleep.start);
      asleep_node_s += slept;
      asleep_gpu_s += slept * input_.cluster.gpus(sleep.node);
    }
    for (const Run& run : played_.runs) {
      const auto waits = on.find(&run);
      if (run.begin == (waits == on.end() ? run.start : waits->second)) continue;
      say("job {} begins at {} s, not when its nodes are on", index(run.job), seconds(run.begin));
    }
    // A node that is drained in its sleep leaves with its power.
    if (nodes_come_and_go()) return;
    const sim::NodeUse& told = played_.result.nodes;
    if (told.asleep_node_s != asleep_node_s || told.asleep_gpu_s != asleep_gpu_s) {
      say("nodes slept for {} s, not {}", asleep_node_s, told.asleep_node_s);
    }
    const double total = told.on_gpu_s + told.booting_gpu_s + told.asleep_gpu_s;
    if (total != played_.result.total_gpu_s) {
      say("{} GPU-s on, booting or asleep, {} in service", total, played_.result.total_gpu_s);
    }
  }

  /// Of each NVLink domain a run holds whole groups.
  void check_domains(const Run& run, int nvlink_gpus) {
    if (nvlink_gpus == 0) return;
    std::map<std::string, int> held;
    for (const cluster::Grant& grant : run.grants) {
      const cluster::Node& node = input_.cluster.nodes[index(grant.node)];
      const bool is_rack =
          input_.cluster.classes[node.node_class].nvlink_domain == cluster::NvlinkDomain::rack;
      held[is_rack ? node.rack : fmt::format("node {}", index(grant.node))] += grant.count();
    }
    for (const auto& [domain, gpus] : held) {
      if (gpus % nvlink_gpus == 0) continue;
      say("job {} holds {} GPUs of NVLink domain {} and needs groups of {}", index(run.job), gpus,
          domain, nvlink_gpus);
    }
  }

  void check_gang(const Run& run) {
    const trace::Request& request = input_.trace.jobs[index(run.job)].request;
    check_domains(run, request.nvlink_gpus);
    const VcId vc = admission_.vc(request);
    cluster::Demand demand = admission_.demands()[index(admission_.demand(request, vc))];
    int held = 0;
    for (const cluster::Grant& grant : run.grants) held += grant.count();
    if (request.alternatives != kNoName) {
      for (const policy::Acceptable& each : admission_.acceptable(request, vc)) {
        const cluster::Demand& other = admission_.demands()[index(each.demand)];
        const bool suits = cluster::Ledger(input_.cluster).suits(run.grants.front().node, other);
        if (suits && other.gpus == held) demand = other;
      }
    }
    const auto kinds = input_.cluster.gpu_kinds();
    for (const Run::Resize& resize : run.resizes) {
      const bool same = std::equal(
          resize.grants.begin(), resize.grants.end(), run.grants.begin(), run.grants.end(),
          [](const auto& a, const auto& b) { return a.node == b.node && a.gpus == b.gpus; });
      if (!same) say("job {} is resized to other GPUs", index(run.job));
    }
    std::set<NodeId> nodes;
    for (const cluster::Grant& grant : run.grants) {
      const cluster::Node& node = input_.cluster.nodes[index(grant.node)];
      const auto kind = cluster::Cluster::kind_of(input_.cluster.classes[node.node_class]);
      const auto bit = std::find(kinds.begin(), kinds.end(), kind) - kinds.begin();
      const bool as_asked = grant.gpu_milli == demand.gpu_milli;
      // The pass may count GPUs, or let the job join others: up to 16 have equal parts.
      const auto is_equal_part = [&] {
        for (int jobs = 2; jobs <= 16; ++jobs) {
          if (grant.gpu_milli == cluster::kWholeGpu / jobs) return true;
        }
        return false;
      };
      const bool otherwise =
          demand.is_part() ? grant.gpu_milli == cluster::kWholeGpu : is_equal_part();
      if (grant.gpus != 0 && !as_asked && !otherwise) {
        say("job {} asks {}/1000 of a GPU and gets {}/1000", index(run.job), demand.gpu_milli,
            grant.gpu_milli);
      }
      if (grant.cpu_milli < 0 || grant.memory_mb < 0)
        say("job {} holds less than none", index(run.job));
      const bool is_instance = grant.profile != slices::kNoProfile;
      if (is_instance && grant.profile != demand.profile) {
        say("job {} gets a {}", index(run.job), slices::profile_name(grant.profile));
      }
      if (!nodes.insert(grant.node).second && !is_instance)
        say("job {}: a node twice", index(run.job));
      if (node.vc != vc) say("job {} runs in another virtual cluster", index(run.job));
      if ((demand.gpu_types >> bit & 1) == 0) say("job {} on a wrong type", index(run.job));
    }
    if (held != demand.gpus && (held > request.max_gpus || held < request.min_gpus ||
                                held % trace::size_step(request) != 0)) {
      say("job {} asks {} GPUs and gets {}", index(run.job), demand.gpus, held);
    }
  }

  void check_job(JobId job) {
    const trace::Job& asked = input_.trace.jobs[index(job)];
    const sim::JobResult& told = played_.result.jobs[index(job)];
    const std::vector<const Run*>& runs = runs_[job];
    const bool left_out = !sim::is_simulated(asked.request, input_.cluster);
    if (left_out || never_.contains(job)) {
      if (!runs.empty()) say("job {} runs, but cannot", index(job));
      const policy::Phase phase = left_out ? policy::Phase::unknown : policy::Phase::never;
      if (told.phase != phase) say("job {} is in the wrong phase", index(job));
      return;
    }
    if (told.phase == policy::Phase::cut_off) {
      if (asked.request.group == kNoName) say("job {} is ended and is no trial", index(job));
      return;
    }
    if (runs.empty() || runs.back()->stopped || runs.back()->end == kNever) {
      if (is_whole_at_the_end(admission_.vc(asked.request))) say("job {} never ends", index(job));
      return;
    }
    if (runs.front()->start < asked.request.submit) say("job {} starts early", index(job));
    Duration ran{0};
    std::uint32_t stops = 0;
    Duration lost{0};
    for (std::size_t at = 0; at < runs.size(); ++at) {
      stops += runs[at]->stopped && !runs[at]->failed ? 1 : 0;
      ran += runs[at]->end - runs[at]->begin;
      if (runs[at]->failed && std::isnan(asked.request.checkpoint_s)) {
        lost += ran % played_.restart.assumed_checkpoint;
      }
      if (at > 0 && runs[at]->start < runs[at - 1]->end) say("job {} runs twice", index(job));
    }
    check_length(job, ran - lost, static_cast<int>(runs.size()) - 1);
    const std::span<const cluster::Grant> last{played_.result.grants.data() + told.first_grant,
                                               told.num_grants};
    const bool same = told.phase == policy::Phase::ended && told.start == runs.front()->begin &&
                      told.end == runs.back()->end && told.ran == ran &&
                      told.preemptions == stops &&
                      std::equal(last.begin(), last.end(), runs.back()->last().begin(),
                                 runs.back()->last().end());
    if (!same) say("job {}: the result is not what happened", index(job));
  }

  bool nodes_come_and_go() const { return !input_.cluster.changes.empty() || input_.incidents; }

  /// Whether a virtual cluster has all its nodes when the last change of its size is over.
  bool is_whole_at_the_end(VcId vc) const {
    bool whole = true;
    for (const cluster::CapacityChange& change : input_.cluster.changes) {
      if (change.vc != vc) continue;
      whole = change.nodes == static_cast<int>(input_.cluster.vcs[index(vc)].num_nodes);
    }
    if (!input_.incidents) return whole;
    std::set<std::uint32_t> down;
    for (const cluster::Incident& each : input_.incidents->all) {
      using Kind = cluster::Incident::Kind;
      if (each.kind == Kind::down && input_.cluster.nodes[each.subject].vc == vc) {
        down.insert(each.subject);
      } else if (each.kind == Kind::up) {
        down.erase(each.subject);
      }
    }
    return whole && down.empty();
  }

  void check_length(JobId job, Duration ran, int stops) {
    if (!input_.speed.empty() || !input_.elastic.empty()) return;
    if (schedule::tells_sharing(input_.trace, input_.cluster)) return;
    const schedule::RestartCost& cost = played_.restart;
    const trace::Job& asked = input_.trace.jobs[index(job)];
    const Duration least = asked.outcome.run + stops * cost.of(asked.request.gpus);
    // What is in the way of an instance is removed, seven at most of each GPU, and it is made.
    Duration changes{0};
    for (const cluster::NodeClass& make : input_.cluster.classes) {
      if (make.board == nullptr) continue;
      changes =
          std::max(changes, Duration{std::llround(8e3 * make.instance_s)} * asked.request.gpus);
    }
    // A run that is stopped during its launch second has used some of it.
    if (ran < least || ran > least + (stops + 1) * (cost.launch + changes)) {
      say("job {} runs {} s, not {} s", index(job), seconds(ran), seconds(least));
    }
  }

  void check_sample(const sim::Sample& sample) {
    sim::Sample ours{.at = sample.at, .gpus_total = input_.cluster.gpus()};
    for (std::uint32_t number = 0; number < input_.trace.jobs.size(); ++number) {
      const JobId job{number};
      const trace::Request& request = input_.trace.jobs[number].request;
      if (!sim::is_simulated(request, input_.cluster)) continue;
      if (request.submit > sample.at || never_.contains(job)) continue;
      const sim::JobResult& told = played_.result.jobs[number];
      if (told.phase == policy::Phase::cut_off && told.end <= sample.at) continue;
      const Run* running = nullptr;
      bool ended = false;
      for (const Run* run : runs_[job]) {
        if (run->start <= sample.at && sample.at < run->end) running = run;
        ended = ended || (!run->stopped && run->end <= sample.at);
      }
      if (ended) continue;
      (running != nullptr ? ours.jobs_running : ours.jobs_waiting) += 1;
      if (running == nullptr) ours.gpus_waiting += request.gpus;
    }
    for (const auto& [gpu, some] : gpu_changes_) {
      int held = 0;
      for (const GpuChange& change : some) held += change.at <= sample.at ? change.more : 0;
      ours.gpus_busy += held > 0 ? 1 : 0;
    }
    for (const auto& [node, some] : changes_) {
      for (const Change& change : some) {
        if (change.at <= sample.at) ours.cpus_busy += change.more.cpus();
      }
    }
    if (std::abs(ours.cpus_busy - sample.cpus_busy) > 1e-6) {
      say("{} s: {} cores busy, not {}", seconds(sample.at), ours.cpus_busy, sample.cpus_busy);
    }
    const bool total_is_known = !nodes_come_and_go();
    if (ours.gpus_busy != sample.gpus_busy || ours.gpus_waiting != sample.gpus_waiting ||
        ours.jobs_running != sample.jobs_running || ours.jobs_waiting != sample.jobs_waiting ||
        (total_is_known && ours.gpus_total != sample.gpus_total) ||
        sample.gpus_busy > sample.gpus_total) {
      say("{} s: the sample is not what happened", seconds(sample.at));
    }
  }

  void check_integral() {
    double busy = 0;
    for (const auto& [gpu, some] : gpu_changes_) {
      int held = 0;
      Time since{};
      for (const GpuChange& change : some) {
        const Time at = std::min(change.at, played_.result.finish);
        if (held > 0) busy += seconds(at - since);
        held += change.more;
        since = at;
      }
    }
    if (std::abs(busy - played_.result.busy_gpu_s) > 1e-6 * std::max(1.0, busy)) {
      say("busy for {} GPU-s, not {}", busy, played_.result.busy_gpu_s);
    }
    if (nodes_come_and_go()) return;
    const double span = seconds(played_.result.finish - played_.result.begin);
    const double total = span * input_.cluster.gpus();
    if (std::abs(total - played_.result.total_gpu_s) > 1e-6 * std::max(1.0, total)) {
      say("{} GPU-s in service, not {}", total, played_.result.total_gpu_s);
    }
  }

  const Case& input_;
  const Played& played_;
  schedule::Admission admission_;
  std::map<JobId, std::vector<const Run*>> runs_;
  std::set<JobId> never_;
  std::map<NodeId, std::vector<Change>> changes_;
  std::map<std::pair<NodeId, int>, std::vector<GpuChange>> gpu_changes_;
  std::map<std::pair<NodeId, int>, std::vector<Hold>> held_;
  std::vector<std::string> broken_;
};

}  // namespace

std::vector<std::string> broken_rules(const Case& input, const Played& played) {
  return Recount(input, played).check();
}

}  // namespace almanac
