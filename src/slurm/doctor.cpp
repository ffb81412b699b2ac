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
      add("slurm.conf", "", Verdict::unknown,
          "this way does not report it, or anything that depends on it", "use --way commands",
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
      add("version", site_.version, Verdict::broken, "older than 22.05: not supported",
          "update Slurm", kAll);
    } else if (release > kNewest) {
      add("version", site_.version, Verdict::unknown,
          "newer than the tested releases; known fields are read as they are", "", {watching});
    } else {
      fine("version", site_.version, "supported", {watching});
    }
    if (site_.federated) {
      add("federation", "yes", Verdict::broken,
          "several controllers schedule jobs, and Almanac would talk to one only",
          "leave this cluster out of the federation; shadow mode works", kActing);
    }
    if (site_.skew == kNoDuration) {
      add("clock", "", Verdict::unknown, "this way does not report the controller's clock", "", {});
    } else if (std::chrono::abs(site_.skew) > kSkew) {
      add("clock", fmt::format("{:+.0f} s", seconds(site_.skew)), Verdict::partly,
          "the controller's clock differs from this machine's: waits and ages are wrong by that "
          "much",
          "run NTP on both machines", {watching, order});
    } else {
      fine("clock", "alike", "", {watching, order});
    }
    if (const auto age = number_in(value("MinJobAge"), ""); age && *age < kLeastJobAge_s) {
      add("MinJobAge", value("MinJobAge"), Verdict::partly,
          "jobs that ended may be forgotten before Almanac sees them",
          fmt::format("MinJobAge={} or more", kLeastJobAge_s), {watching});
    }
  }

  void examine_way() {
    if (way_ == "gateway") {
      fine("way", "gateway", "fast", kAll);
    } else {
      add("way", std::string(way_), Verdict::partly,
          "thousands of changes take minutes; and Almanac sets a job's priority instead of its "
          "site factor, so QOS and fair share no longer count",
          kBuild, {order});
    }
    if (!can_.begins) {
      add("held jobs", "", Verdict::broken,
          "placement and sharing delay the start of jobs, which this way cannot do", kBuild,
          {placement, sharing});
    }
    if (!can_.requeue) {
      add("requeue", "", Verdict::broken, "this way cannot requeue or suspend jobs",
          "use --way commands", {preemption});
    }
    if (!can_.power) {
      add("power commands", "", Verdict::broken, "this way has no power commands",
          "use --way commands", {power});
    }
  }

  void examine_rights() {
    if (!site_.is_operator) {
      add("rights", fmt::format("user {}", site_.uid), Verdict::unknown,
          "this way does not report whether this user is an operator",
          "sacctmgr show user NAME format=adminlevel; over a Unix socket NAME is the user of "
          "slurmrestd",
          kActing);
    } else if (*site_.is_operator) {
      fine("rights", "operator", "may change other users' jobs", kActing);
    } else {
      add("rights", fmt::format("user {}", site_.uid), Verdict::broken,
          "may read but not change other users' jobs",
          says("AccountingStorageType", "slurmdbd")
              ? "run as SlurmUser, or: sacctmgr modify user NAME set adminlevel=operator"
              : "run as SlurmUser: without slurmdbd no other user has the rights",
          kActing);
      if (says("PrivateData", "jobs")) {
        add("PrivateData", value("PrivateData"), Verdict::broken, "hides other users' jobs",
            "run as an operator", {watching, learning});
      }
    }
  }

  void examine_accounting() {
    const std::string storage = value("AccountingStorageType");
    if (storage.find("slurmdbd") == std::string::npos) {
      add("AccountingStorageType", storage, Verdict::broken, "there is no history to learn from",
          "set up slurmdbd: AccountingStorageType=accounting_storage/slurmdbd", {learning});
    } else if (!says("AccountingStorageTRES", "gres/gpu")) {
      add("AccountingStorageTRES", value("AccountingStorageTRES"), Verdict::broken,
          "does not count GPUs: past jobs look as if they had none",
          "set AccountingStorageTRES=gres/gpu and restart slurmctld; jobs from then on can be used",
          {learning});
    } else {
      fine("accounting", "slurmdbd, gres/gpu", "job history includes GPUs", {learning});
    }
    if (const std::string enforced = value("AccountingStorageEnforce");
        enforced.find("limits") != std::string::npos) {
      fine("AccountingStorageEnforce", enforced,
           "a job over its limits waits whatever its priority: Almanac leaves such jobs alone",
           {order, placement});
    }
  }

  void examine_order() {
    const std::string type = value("PriorityType");
    if (type == "priority/multifactor") {
      fine("PriorityType", type, "site factors add to what Slurm computes itself", {order});
    } else {
      add("PriorityType", type, Verdict::partly,
          "a priority that is set stays fixed, and Slurm's own priority is lost",
          "PriorityType=priority/multifactor", {order});
    }
    if (const std::string plugin = value("PrioritySiteFactorPlugin");
        !plugin.empty() && plugin != "(null)" && plugin != "site_factor/none") {
      add("PrioritySiteFactorPlugin", plugin, Verdict::broken,
          "it sets the site factors that Almanac needs to set",
          "remove the plugin, or leave the order to it", {order});
    }
    if (says("SchedulerType", "backfill")) {
      fine("SchedulerType", value("SchedulerType"), "", {order});
    } else {
      add("SchedulerType", value("SchedulerType"), Verdict::partly,
          "a job that does not fit blocks all jobs behind it", "SchedulerType=sched/backfill",
          {order});
    }
    if (says("JobSubmitPlugins", "almanac")) {
      fine("JobSubmitPlugins", value("JobSubmitPlugins"),
           "new jobs get their priority at submission", {order});
    } else {
      add("JobSubmitPlugins", value("JobSubmitPlugins"), Verdict::fine,
          "a new job has Slurm's own priority until the next round, and may start with it",
          "JobSubmitPlugins=almanac sets it from the first moment", {order});
    }
    examine_age();
    const std::string select = value("SelectType");
    if (select.find("cons_tres") == std::string::npos) {
      add("SelectType", select, Verdict::broken, "GPUs are not allocated individually",
          "SelectType=select/cons_tres", {placement, sharing});
    } else {
      fine("SelectType", select, "GPUs are allocated individually", {placement});
    }
  }

  /// What a hold costs a job of the age that its priority counts.
  void examine_age() {
    const std::string weight = value("PriorityWeightAge");
    if (weight.empty() || weight == "0") return;
    if (!loses_age_when_held(site_)) {
      fine("PriorityWeightAge", weight, "a held job keeps its age", {placement, sharing});
      return;
    }
    add("PriorityWeightAge", weight, Verdict::partly,
        fmt::format("a hold resets a job's age, which costs it up to {} of its priority, and all "
                    "of it after {}: Almanac does not hold jobs that have waited for two minutes",
                    weight, value("PriorityMaxAge").empty() ? "7 days" : value("PriorityMaxAge")),
        "PriorityFlags=ACCRUE_ALWAYS prevents that", {placement, sharing});
  }

  void examine_power() {
    const bool has_programs = !value("SuspendProgram").empty() && !value("ResumeProgram").empty();
    if (!has_programs) {
      add("SuspendProgram, ResumeProgram", "", Verdict::broken,
          "Slurm cannot power nodes down and up",
          "write the two programs (for example with IPMI) and name them in slurm.conf", {power});
      return;
    }
    const auto idle = number_in(value("SuspendTime"), "");
    if (!idle || *idle <= 0) {
      add("SuspendTime", value("SuspendTime"), Verdict::broken,
          "Slurm's power saving is off, and so are its commands", "SuspendTime=2592000 (30 days)",
          {power});
    } else if (*idle < kOutOfTheWay_s) {
      add("SuspendTime", value("SuspendTime"), Verdict::partly,
          "Slurm powers nodes down by itself too: two programs would decide",
          "SuspendTime=2592000 (30 days)", {power});
    } else {
      fine("power saving", fmt::format("wakes within {}", value("ResumeTimeout")),
           "the programs exist, and Slurm leaves the decisions to Almanac", {power});
    }
    const auto pass = number_in(value("SchedulerParameters"), "sched_interval=");
    if (pass.value_or(kUsualPass_s) > kPass_s) {
      add("sched_interval", fmt::format("{} s", pass.value_or(kUsualPass_s)), Verdict::partly,
          "a node that has woken may stay idle this long before Slurm schedules again",
          "SchedulerParameters=...,sched_interval=5", {power});
    }
  }

  void examine_preemption() {
    if (value("JobRequeue") == "0") {
      add("JobRequeue", "0", Verdict::partly, "only jobs submitted with --requeue can be preempted",
          "set JobRequeue=1 if users' jobs can restart", {preemption});
    } else {
      fine("JobRequeue", "1", "jobs can be requeued unless they opt out", {preemption});
    }
    const std::string preempt = value("PreemptMode");
    if (!preempt.empty() && preempt != "OFF") {
      fine("PreemptMode", fmt::format("{}, {}", preempt, value("PreemptType")),
           "Slurm preempts by itself too; Almanac accepts its choices", {preemption});
    }
    const auto live =
        number_in(value("AuthInfo"), "cred_expire=").value_or(kUsualCredentialsLive_s);
    if (live > kCredentialsLive_s) {
      add("cred_expire", fmt::format("{} s", live), Verdict::partly,
          "a requeued job cannot start again for this long",
          "AuthInfo=...,cred_expire=10 and restart slurmctld", {preemption});
    }
  }

  void examine_slimming() {
    const bool in_cgroups = says("TaskPlugin", "cgroup") && says("ProctrackType", "cgroup");
    if (!in_cgroups) {
      add("TaskPlugin, ProctrackType",
          fmt::format("{}, {}", value("TaskPlugin"), value("ProctrackType")), Verdict::broken,
          "jobs run in no control group, so agents cannot find them",
          "TaskPlugin=task/cgroup,task/affinity, ProctrackType=proctrack/cgroup", {slimming, idle});
      return;
    }
    fine("ProctrackType", value("ProctrackType"), "almanac agent on each node can find jobs",
         {idle});
    if (value("ConstrainCores") == "no") {
      add("ConstrainCores", "no", Verdict::broken,
          "control groups do not confine jobs to their CPUs", "ConstrainCores=yes in cgroup.conf",
          {slimming});
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
      add("nodes", "", Verdict::partly, "all nodes with GPUs are down or drained: nothing starts",
          "sinfo -R shows the reasons", {watching, order, placement, power});
    }
    if (types.empty()) {
      add("GPU types", "", Verdict::partly, "GPUs have no type: all count as alike",
          "set Gres=gpu:TYPE:N if nodes differ", {placement});
    }
    if (mixed > 0) {
      fine("GPU types", fmt::format("several on each of {} nodes", mixed),
           "each type counts as a separate node with all cores of the node", {placement});
    }
    examine_mps();
    examine_shards();
  }

  void examine_mps() {
    int mps = 0;
    for (const Node& node : news_.nodes) mps += node.mps;
    if (mps == 0) return;
    fine("gres/mps", fmt::format("{} in all", mps),
         "jobs that request it count as fractions of a GPU; no lever changes how much they get",
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
          "no node has two shards for each GPU", "set Gres=gpu:8,shard:16 for each node",
          {sharing});
      return;
    }
    fine("gres/shard", fmt::format("{} shards", shards), "jobs can share a GPU", {sharing});
    const bool is_mixed = std::any_of(news_.jobs.begin(), news_.jobs.end(), [&](const Job& job) {
      return job.gpus > 0 && partitions.contains(job.partition);
    });
    if (!is_mixed) return;
    add("whole GPUs", "next to shards", Verdict::partly,
        "when one of two jobs on a GPU ends, Slurm 22.05 may give the GPU to a job that requests "
        "it whole; Almanac lets no jobs share where such jobs may come",
        "use a partition only for jobs with shards, on nodes of its own", {sharing});
  }

  const Site& site_;
  const News& news_;
  Abilities can_;
  std::string_view way_;
  Diagnosis made_;
};

}  // namespace

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
