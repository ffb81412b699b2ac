// SPDX-License-Identifier: Apache-2.0
#include "slurm/doctor.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slurm/age.h"
#include "text/number.h"

namespace almanac::slurm {
namespace {

using enum Lever;

// Releases whose answers the readers know.
constexpr double kOldest = 22.05;
constexpr double kNewest = 24.11;
/// The largest that is no matter: what is told is whole seconds old.
constexpr Duration kSkew = 5s;
/// A requeued job waits one second more than credentials live (measured on 22.05); Slurm's default
/// is 120 s.
constexpr std::int64_t kCredentialsLive_s = 30;
constexpr std::int64_t kUsualCredentialsLive_s = 120;
/// Seconds between two scheduling passes that nothing prompts; a change of a node's power prompts
/// none.
constexpr std::int64_t kPass_s = 10;
constexpr std::int64_t kUsualPass_s = 60;
/// A job that ended must be seen before the controller forgets it.
constexpr std::int64_t kLeastJobAge_s = 60;
/// A SuspendTime by which Slurm's own wish to let nodes sleep comes later than any of ours.
constexpr std::int64_t kOutOfTheWay_s = 86'400;

constexpr const char* kBuild = "build the gateway (almanac-slurm-gateway)";
const std::vector<Lever> kAll(std::begin(kLevers), std::end(kLevers));
const std::vector<Lever> kActing{order, placement, power, preemption, sharing};

/// Collects findings about one site.
class Doctor {
 public:
  Doctor(const Site& site, const News& news, Abilities can, std::string_view way)
      : site_(site), news_(news), can_(can), way_(way) {}

  Diagnosis examine() {
    examine_controller();
    examine_way();
    examine_rights();
    if (site_.parameters.empty()) {
      add("slurm.conf", "", Verdict::unknown, "not told this way, nor what hangs on it",
          "ask by the commands",
          {learning, order, placement, power, preemption, slimming, idle, sharing});
    } else {
      examine_accounting();
      examine_order();
      examine_power();
      examine_preemption();
      examine_slimming();
    }
    examine_gpus();
    return std::move(made_);
  }

 private:
  void add(std::string what, std::string found, Verdict verdict, std::string means,
           std::string to_do, std::vector<Lever> levers) {
    made_.findings.push_back({std::move(what), std::move(found), verdict, std::move(means),
                              std::move(to_do), std::move(levers)});
  }
  void fine(std::string what, std::string found, std::string means, std::vector<Lever> levers) {
    add(std::move(what), std::move(found), Verdict::fine, std::move(means), "", std::move(levers));
  }

  std::string value(const char* key) const {
    const auto found = site_.parameters.find(key);
    return found == site_.parameters.end() ? "" : found->second;
  }
  bool says(const char* key, std::string_view word) const {
    return value(key).find(word) != std::string::npos;
  }
  /// The number after `name`= in a list of options, or that a value begins with.
  static std::optional<std::int64_t> number_in(const std::string& list, std::string_view name) {
    std::string_view rest = list;
    if (!name.empty()) {
      const auto at = rest.find(name);
      if (at == std::string_view::npos) return std::nullopt;
      rest.remove_prefix(at + name.size());
    }
    return text::parse_whole(rest.substr(0, rest.find_first_not_of("0123456789")));
  }

  void examine_controller() {
    const double release =
        text::parse_decimal(std::string_view(site_.version).substr(0, 5)).value_or(0);
    if (release < kOldest) {
      add("version", site_.version, Verdict::broken, "older than 22.05: its answers are not read",
          "update Slurm", kAll);
    } else if (release > kNewest) {
      add("version", site_.version, Verdict::unknown,
          "later than what was tried; what is read is told as it is found", "", {watching});
    } else {
      fine("version", site_.version, "its answers are read", {watching});
    }
    if (site_.federated) {
      add("federation", "yes", Verdict::broken,
          "jobs are decided by several controllers, and we would speak with one",
          "leave this cluster out of the federation; shadow works", kActing);
    }
    if (site_.skew == kNoDuration) {
      add("clock", "", Verdict::unknown, "the controller's is not told this way", "", {});
    } else if (std::chrono::abs(site_.skew) > kSkew) {
      add("clock", fmt::format("{:+.0f} s", seconds(site_.skew)), Verdict::partly,
          "the controller's clock differs from ours: waits and ages come out wrong by as much",
          "run NTP on both machines", {watching, order});
    } else {
      fine("clock", "alike", "", {watching, order});
    }
    if (const auto age = number_in(value("MinJobAge"), ""); age && *age < kLeastJobAge_s) {
      add("MinJobAge", value("MinJobAge"), Verdict::partly,
          "jobs that ended may be forgotten before they are seen",
          fmt::format("MinJobAge={} or more", kLeastJobAge_s), {watching});
    }
  }

  void examine_way() {
    if (way_ == "gateway") {
      fine("way", "gateway", "fast", kAll);
    } else {
      add("way", std::string(way_), Verdict::partly,
          "thousands of changes take minutes; and a job gets a priority, not a site factor: its "
          "QOS and fair share then count no more",
          kBuild, {order});
    }
    if (!can_.begins) {
      add("held jobs", "", Verdict::broken,
          "placing and sharing put off when jobs begin, which this way cannot", kBuild,
          {placement, sharing});
    }
    if (!can_.requeue) {
      add("requeue", "", Verdict::broken, "this way cannot requeue or suspend jobs",
          "ask by the commands", {preemption});
    }
    if (!can_.power) {
      add("power commands", "", Verdict::broken, "this way has none", "ask by the commands",
          {power});
    }
  }

  void examine_rights() {
    if (!site_.is_operator) {
      add("rights", fmt::format("user {}", site_.uid), Verdict::unknown,
          "whether that is an operator is not told this way",
          "sacctmgr show user NAME format=adminlevel; over a Unix socket NAME is the user of "
          "slurmrestd",
          kActing);
    } else if (*site_.is_operator) {
      fine("rights", "operator", "may change the jobs of others", kActing);
    } else {
      add("rights", fmt::format("user {}", site_.uid), Verdict::broken,
          "may look, and not change the jobs of others",
          says("AccountingStorageType", "slurmdbd")
              ? "run as SlurmUser, or: sacctmgr modify user NAME set adminlevel=operator"
              : "run as SlurmUser: without slurmdbd no other user may",
          kActing);
      if (says("PrivateData", "jobs")) {
        add("PrivateData", value("PrivateData"), Verdict::broken, "hides the jobs of others",
            "run as an operator", {watching, learning});
      }
    }
  }

  void examine_accounting() {
    const std::string storage = value("AccountingStorageType");
    if (storage.find("slurmdbd") == std::string::npos) {
      add("AccountingStorageType", storage, Verdict::broken, "there is no past to learn from",
          "set up slurmdbd: AccountingStorageType=accounting_storage/slurmdbd", {learning});
    } else if (!says("AccountingStorageTRES", "gres/gpu")) {
      add("AccountingStorageTRES", value("AccountingStorageTRES"), Verdict::broken,
          "does not count GPUs: past jobs look as if they had had none",
          "AccountingStorageTRES=gres/gpu and restart slurmctld; jobs from then on are of use",
          {learning});
    } else {
      fine("accounting", "slurmdbd, gres/gpu", "the past is known, GPUs and all", {learning});
    }
    if (const std::string enforced = value("AccountingStorageEnforce");
        enforced.find("limits") != std::string::npos) {
      fine("AccountingStorageEnforce", enforced,
           "a job over its limits waits whatever its priority: such jobs are left alone",
           {order, placement});
    }
  }

  void examine_order() {
    const std::string type = value("PriorityType");
    if (type == "priority/multifactor") {
      fine("PriorityType", type, "site factors add to what Slurm reckons itself", {order});
    } else {
      add("PriorityType", type, Verdict::partly,
          "a priority stays as set, and what Slurm would give by itself is lost",
          "PriorityType=priority/multifactor", {order});
    }
    if (const std::string plugin = value("PrioritySiteFactorPlugin");
        !plugin.empty() && plugin != "(null)" && plugin != "site_factor/none") {
      add("PrioritySiteFactorPlugin", plugin, Verdict::broken,
          "it sets the site factors that we would", "take it out, or order by it", {order});
    }
    if (says("SchedulerType", "backfill")) {
      fine("SchedulerType", value("SchedulerType"), "", {order});
    } else {
      add("SchedulerType", value("SchedulerType"), Verdict::partly,
          "one job that does not fit stops all behind it", "SchedulerType=sched/backfill", {order});
    }
    if (says("JobSubmitPlugins", "almanac")) {
      fine("JobSubmitPlugins", value("JobSubmitPlugins"), "new jobs come with their priority",
           {order});
    } else {
      add("JobSubmitPlugins", value("JobSubmitPlugins"), Verdict::fine,
          "a new job has Slurm's own priority until the next round, and may start with it",
          "JobSubmitPlugins=almanac makes it right from the first moment", {order});
    }
    examine_age();
    const std::string select = value("SelectType");
    if (select.find("cons_tres") == std::string::npos) {
      add("SelectType", select, Verdict::broken, "GPUs are not dealt out one by one",
          "SelectType=select/cons_tres", {placement, sharing});
    } else {
      fine("SelectType", select, "GPUs are dealt out one by one", {placement});
    }
  }

  /// What a hold costs a job of the age that its priority counts.
  void examine_age() {
    const std::string weight = value("PriorityWeightAge");
    if (weight.empty() || weight == "0") return;
    if (!loses_age_when_held(site_)) {
      fine("PriorityWeightAge", weight, "a job that is held keeps its age", {placement, sharing});
      return;
    }
    add("PriorityWeightAge", weight, Verdict::partly,
        fmt::format("a hold begins a job's age anew, which costs it up to {} of its priority, all "
                    "of it after {}: jobs that have waited for two minutes are not held",
                    weight, value("PriorityMaxAge").empty() ? "7 days" : value("PriorityMaxAge")),
        "PriorityFlags=ACCRUE_ALWAYS keeps it", {placement, sharing});
  }

  void examine_power() {
    const bool has_programs = !value("SuspendProgram").empty() && !value("ResumeProgram").empty();
    if (!has_programs) {
      add("SuspendProgram, ResumeProgram", "", Verdict::broken,
          "Slurm does not know how to turn nodes off and on",
          "write the two programs (IPMI or the like) and name them in slurm.conf", {power});
      return;
    }
    const auto idle = number_in(value("SuspendTime"), "");
    if (!idle || *idle <= 0) {
      add("SuspendTime", value("SuspendTime"), Verdict::broken,
          "Slurm's power saving is off, its commands too", "SuspendTime=2592000 (30 days)",
          {power});
    } else if (*idle < kOutOfTheWay_s) {
      add("SuspendTime", value("SuspendTime"), Verdict::partly,
          "Slurm lets nodes sleep by itself too: two would decide", "SuspendTime=2592000 (30 days)",
          {power});
    } else {
      fine("power saving", fmt::format("wakes within {}", value("ResumeTimeout")),
           "the programs are there, and Slurm leaves it to us", {power});
    }
    const auto pass = number_in(value("SchedulerParameters"), "sched_interval=");
    if (pass.value_or(kUsualPass_s) > kPass_s) {
      add("sched_interval", fmt::format("{} s", pass.value_or(kUsualPass_s)), Verdict::partly,
          "a node that woke may stand idle so long before Slurm looks again",
          "SchedulerParameters=...,sched_interval=5", {power});
    }
  }

  void examine_preemption() {
    if (value("JobRequeue") == "0") {
      add("JobRequeue", "0", Verdict::partly, "only jobs submitted with --requeue can be stopped",
          "JobRequeue=1, where users' jobs can begin again", {preemption});
    } else {
      fine("JobRequeue", "1", "jobs can begin again unless they say no", {preemption});
    }
    const std::string preempt = value("PreemptMode");
    if (!preempt.empty() && preempt != "OFF") {
      fine("PreemptMode", fmt::format("{}, {}", preempt, value("PreemptType")),
           "Slurm preempts by itself too; its choices are taken as they come", {preemption});
    }
    const auto live =
        number_in(value("AuthInfo"), "cred_expire=").value_or(kUsualCredentialsLive_s);
    if (live > kCredentialsLive_s) {
      add("cred_expire", fmt::format("{} s", live), Verdict::partly,
          "a job that is requeued cannot start again for so long",
          "AuthInfo=...,cred_expire=10 and restart slurmctld", {preemption});
    }
  }

  void examine_slimming() {
    const bool in_cgroups = says("TaskPlugin", "cgroup") && says("ProctrackType", "cgroup");
    if (!in_cgroups) {
      add("TaskPlugin, ProctrackType",
          fmt::format("{}, {}", value("TaskPlugin"), value("ProctrackType")), Verdict::broken,
          "jobs are in no control group, where agents find them",
          "TaskPlugin=task/cgroup,task/affinity, ProctrackType=proctrack/cgroup", {slimming, idle});
      return;
    }
    fine("ProctrackType", value("ProctrackType"), "almanac agent on each node can find jobs",
         {idle});
    if (value("ConstrainCores") == "no") {
      add("ConstrainCores", "no", Verdict::broken, "control groups leave jobs all CPUs",
          "ConstrainCores=yes in cgroup.conf", {slimming});
    } else {
      fine("TaskPlugin", value("TaskPlugin"),
           "almanac agent on each node can change the CPUs of a job", {slimming});
    }
  }

  void examine_gpus() {
    int gpus = 0;
    int nodes = 0;
    int mixed = 0;
    std::set<std::string> types;
    for (const Node& node : news_.nodes) {
      gpus += node.gpus;
      nodes += node.gpus > 0;
      mixed += node.types.empty() ? 0 : 1;
      for (const Node& part : by_type(node)) {
        if (!part.gpu_type.empty()) types.insert(part.gpu_type);
      }
    }
    if (gpus == 0) {
      add("GRES", fmt::format("{} nodes", news_.nodes.size()), Verdict::broken, "no node has GPUs",
          "GresTypes=gpu, Gres=gpu:TYPE:N of each node, gres.conf", {watching, placement, sharing});
      return;
    }
    fine("GRES", fmt::format("{} GPUs ({}) on {} nodes", gpus, fmt::join(types, ", "), nodes), "",
         {watching, placement});
    const auto out = std::count_if(news_.nodes.begin(), news_.nodes.end(),
                                   [](const Node& node) { return node.gpus > 0 && node.drained; });
    if (out == nodes) {
      add("nodes", "", Verdict::partly, "all that have GPUs are down or drained: nothing starts",
          "sinfo -R says why", {watching, order, placement, power});
    }
    if (types.empty()) {
      add("GPU types", "", Verdict::partly, "GPUs have no type: all count as alike",
          "Gres=gpu:TYPE:N where nodes differ", {placement});
    }
    if (mixed > 0) {
      fine("GPU types", fmt::format("several on each of {} nodes", mixed),
           "each counts as a node of its own with all cores of the node", {placement});
    }
    examine_mps();
    examine_shards();
  }

  void examine_mps() {
    int mps = 0;
    for (const Node& node : news_.nodes) mps += node.mps;
    if (mps == 0) return;
    fine("gres/mps", fmt::format("{} in all", mps),
         "jobs that ask it count as parts of a GPU; no lever changes how much they have",
         {watching});
  }

  void examine_shards() {
    int shards = 0;
    bool has_pairs = false;
    std::set<std::string> partitions;  // of nodes that let jobs share
    for (const Node& node : news_.nodes) {
      shards += node.shards;
      if (node.shards == 0) continue;
      has_pairs = has_pairs || node.shards >= 2 * node.gpus;
      partitions.insert(node.partitions.begin(), node.partitions.end());
    }
    if (shards == 0) {
      add("gres/shard", "", Verdict::broken, "no node lets jobs share a GPU",
          "GresTypes=gpu,shard, Gres=...,shard:N, gres.conf Name=shard", {sharing});
      return;
    }
    if (!has_pairs) {
      add("gres/shard", fmt::format("{} shards", shards), Verdict::broken,
          "no node has two shards for each GPU", "Gres=gpu:8,shard:16 of each node", {sharing});
      return;
    }
    fine("gres/shard", fmt::format("{} shards", shards), "jobs can share a GPU", {sharing});
    const bool is_mixed = std::any_of(news_.jobs.begin(), news_.jobs.end(), [&](const Job& job) {
      return job.gpus > 0 && partitions.contains(job.partition);
    });
    if (!is_mixed) return;
    add("whole GPUs", "beside shards", Verdict::partly,
        "when one of two jobs on a GPU ends, Slurm 22.05 gives the GPU to one that asks it whole; "
        "where such jobs may come none share",
        "a partition for jobs of shards alone, on nodes of its own", {sharing});
  }

  const Site& site_;
  const News& news_;
  Abilities can_;
  std::string_view way_;
  Diagnosis made_;
};

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::fine:
      return "ok";
    case Verdict::unknown:
      return "not told";
    case Verdict::partly:
      return "in part";
    case Verdict::broken:
      return "no";
  }
  return "";
}

std::string_view to_string(Lever lever) {
  switch (lever) {
    case watching:
      return "watching";
    case learning:
      return "learning";
    case order:
      return "order";
    case placement:
      return "placement";
    case power:
      return "power";
    case preemption:
      return "preemption";
    case slimming:
      return "CPU slimming";
    case idle:
      return "idle";
    case sharing:
      return "sharing";
  }
  return "";
}

Verdict Diagnosis::of(Lever lever) const {
  Verdict worst = Verdict::fine;
  for (const Finding& finding : findings) {
    if (std::find(finding.levers.begin(), finding.levers.end(), lever) != finding.levers.end()) {
      worst = std::max(worst, finding.verdict);
    }
  }
  return worst;
}

Diagnosis diagnose(const Site& site, const News& news, Abilities can, std::string_view way) {
  return Doctor(site, news, can, way).examine();
}

}  // namespace almanac::slurm
