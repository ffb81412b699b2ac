// SPDX-License-Identifier: Apache-2.0
#include "site/read_config.h"

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "cluster/slurm_words.h"
#include "text/nearest.h"
#include "text/number.h"

namespace almanac::site {
namespace {

using cluster::in_lower_case;

std::uint32_t weight(const Record& record, const std::string& key) {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(whole_up_to(record, key, 0, kMost));
}

/// The words of a list, in lower case.
std::set<std::string> words(const Record& record, const std::string& key) {
  std::set<std::string> made;
  for (const std::string& each : list(record, key)) {
    made.insert(in_lower_case(cluster::without_blanks(each)));
  }
  return made;
}

/// 2205 of "22.05.8".
int release_of(std::string_view version) {
  const auto dot = version.find('.');
  if (dot == std::string_view::npos) return 0;
  const auto year = text::parse_whole(version.substr(0, dot));
  const std::string_view rest = version.substr(dot + 1);
  const auto month = text::parse_whole(rest.substr(0, rest.find_first_not_of("0123456789")));
  if (!year || !month || *year < 0 || *year > 99 || *month < 1 || *month > 12) return 0;
  return static_cast<int>(*year * 100 + *month);
}

/// The keys that decide what a schedule is, in Slurm's spelling.
constexpr const char* kDecisiveKeys[] = {"AccountingStorageEnforce",
                                         "AccountingStorageTRES",
                                         "EnforcePartLimits",
                                         "FairShareDampeningFactor",
                                         "JobRequeue",
                                         "OverTimeLimit",
                                         "PreemptExemptTime",
                                         "PreemptMode",
                                         "PreemptParameters",
                                         "PreemptType",
                                         "PriorityCalcPeriod",
                                         "PriorityDecayHalfLife",
                                         "PriorityFavorSmall",
                                         "PriorityFlags",
                                         "PriorityMaxAge",
                                         "PriorityParameters",
                                         "PrioritySiteFactorPlugin",
                                         "PriorityType",
                                         "PriorityUsageResetPeriod",
                                         "PriorityWeightAge",
                                         "PriorityWeightAssoc",
                                         "PriorityWeightFairShare",
                                         "PriorityWeightJobSize",
                                         "PriorityWeightPartition",
                                         "PriorityWeightQOS",
                                         "PriorityWeightTRES",
                                         "SchedulerParameters",
                                         "SchedulerType",
                                         "SelectType",
                                         "SelectTypeParameters",
                                         "TopologyParam",
                                         "TopologyPlugin"};

class ConfigReader {
 public:
  ConfigReader(const Record& settings, Site& site)
      : settings_(settings), site_(site), made_(site.config) {}

  void read() {
    made_.all = settings_.fields;
    made_.cluster = word(settings_, "ClusterName");
    made_.version = word(settings_, "SLURM_VERSION");
    made_.release = release_of(made_.version);
    if (made_.release == 0) {
      assume(
          "the release of Slurm is unknown: the latest is assumed (add the output of scontrol show "
          "config)");
    }
    note_misspelled_keys();
    read_priority();
    read_scheduler();
    read_select();
    read_topology();
    read_preemption();
    read_enforcement();
    read_jobs();
    read_times();
  }

  void read_tres(std::span<const Record> rows);
  void read_licenses();

 private:
  void assume(std::string line) { site_.assumed.push_back(std::move(line)); }
  /// Whether the release is `release` or later; an unknown one is.
  bool is_since(int release) const { return made_.release == 0 || made_.release >= release; }

  /// slurmctld refuses to start with a key that it does not know.
  void note_misspelled_keys() {
    constexpr std::size_t kSlips = 2;
    for (const auto& [key, value] : settings_.fields) {
      const auto is = [&](const char* name) { return in_lower_case(name) == key; };
      if (std::any_of(std::begin(kDecisiveKeys), std::end(kDecisiveKeys), is)) continue;
      for (const char* const name : kDecisiveKeys) {
        if (text::edit_distance(key, in_lower_case(name)) > kSlips) continue;
        site_.unknown.push_back(fmt::format("{}{} is no setting of Slurm: did you mean {}?",
                                            place_of(settings_, key), settings_.spelling_of(key),
                                            name));
        break;
      }
    }
  }

  void read_priority() {
    PrioritySettings& made = made_.priority;
    const bool says = !word(settings_, "PriorityType").empty();
    made.type = choice(settings_, "PriorityType",
                       is_since(2311) ? PriorityType::multifactor : PriorityType::basic,
                       {{"priority/basic", PriorityType::basic},
                        {"priority/multifactor", PriorityType::multifactor}});
    if (!says) {
      assume(fmt::format("PriorityType is not set: assumed {}, the default",
                         is_since(2311) ? "priority/multifactor" : "priority/basic"));
    }
    made.weight_age = weight(settings_, "PriorityWeightAge");
    made.weight_assoc = weight(settings_, "PriorityWeightAssoc");
    made.weight_fair_share = weight(settings_, "PriorityWeightFairShare");
    made.weight_job_size = weight(settings_, "PriorityWeightJobSize");
    made.weight_partition = weight(settings_, "PriorityWeightPartition");
    made.weight_qos = weight(settings_, "PriorityWeightQOS");
    made.weight_tres = weights(settings_, "PriorityWeightTRES", site_.tres, site_.unknown);
    made.max_age = length(settings_, "PriorityMaxAge", Unit::minutes, made.max_age);
    made.decay_half_life =
        length(settings_, "PriorityDecayHalfLife", Unit::minutes, made.decay_half_life);
    made.calc_period = std::max<Duration>(
        1min, length(settings_, "PriorityCalcPeriod", Unit::minutes, made.calc_period));
    made.usage_reset = choice(settings_, "PriorityUsageResetPeriod", UsageReset::none,
                              {{"now", UsageReset::now},
                               {"daily", UsageReset::daily},
                               {"weekly", UsageReset::weekly},
                               {"monthly", UsageReset::monthly},
                               {"quarterly", UsageReset::quarterly},
                               {"yearly", UsageReset::yearly}});
    constexpr std::int64_t kMostDampening = std::numeric_limits<std::uint16_t>::max();
    made.dampening =
        std::max<std::uint32_t>(1, static_cast<std::uint32_t>(whole_up_to(
                                       settings_, "FairShareDampeningFactor", 1, kMostDampening)));
    made.favor_small = truth(settings_, "PriorityFavorSmall");
    made.site_factor_plugin = word(settings_, "PrioritySiteFactorPlugin");
    read_priority_flags();
  }

  void read_priority_flags() {
    PrioritySettings& made = made_.priority;
    for (const std::string& flag : words(settings_, "PriorityFlags")) {
      if (flag == "accrue_always")
        made.accrue_always = true;
      else if (flag == "calculate_running")
        made.calculate_running = true;
      else if (flag == "depth_oblivious")
        made.depth_oblivious = true;
      else if (flag == "no_fair_tree")
        made.no_fair_tree = true;
      else if (flag == "incr_only")
        made.increase_only = true;
      else if (flag == "max_tres")
        made.max_tres = true;
      else if (flag == "max_tres_gres")
        made.max_tres_gres = true;
      else if (flag == "no_normal_assoc")
        made.no_normal_assoc = true;
      else if (flag == "no_normal_part")
        made.no_normal_partition = true;
      else if (flag == "no_normal_qos")
        made.no_normal_qos = true;
      else if (flag == "no_normal_tres")
        made.no_normal_tres = true;
      else if (flag == "small_relative_to_time")
        made.small_relative_to_time = true;
      else if (flag == "no_normal_all") {
        made.no_normal_assoc = made.no_normal_partition = true;
        made.no_normal_qos = made.no_normal_tres = true;
      } else if (flag != "fair_tree" && flag != "ticket_based") {
        site_.unknown.push_back(fmt::format("PriorityFlags: {} is not modelled", flag));
      }
    }
  }

  void read_scheduler() {
    made_.message_timeout =
        length(settings_, "MessageTimeout", Unit::seconds, made_.message_timeout);
    made_.scheduler.type = choice(
        settings_, "SchedulerType", SchedulerType::backfill,
        {{"sched/backfill", SchedulerType::backfill}, {"sched/builtin", SchedulerType::builtin}});
    made_.scheduler.max_sched_time = std::min<Duration>(2s, made_.message_timeout / 2);
    read_scheduler_parameters(settings_, made_.scheduler, site_.unknown);
    made_.sched_time_slice =
        length(settings_, "SchedulerTimeSlice", Unit::seconds, made_.sched_time_slice);
  }

  void read_select() {
    SelectSettings& made = made_.select;
    if (word(settings_, "SelectType").empty()) {
      made.type = is_since(2311) ? SelectType::cons_tres : SelectType::linear;
      assume(fmt::format("SelectType is not set: assumed {}, the default",
                         is_since(2311) ? "select/cons_tres" : "select/linear"));
    } else {
      made.type = choice(settings_, "SelectType", SelectType::cons_tres,
                         {{"select/cons_tres", SelectType::cons_tres},
                          {"select/cons_res", SelectType::cons_res},
                          {"select/cray_aries", SelectType::cons_tres},
                          {"select/linear", SelectType::linear}});
    }
    if (made.type == SelectType::linear)
      made = {.type = made.type, .consumable = Consumable::none, .memory = false};
    read_select_parameters(settings_, made, site_.unknown);
  }

  void read_topology() {
    TopologySettings& made = made_.topology;
    const std::string type = in_lower_case(word(settings_, "TopologyPlugin"));
    made.type = type.empty() || type == "topology/none" || type == "topology/default" ||
                        type == "topology/flat"
                    ? TopologyType::flat
                : type == "topology/tree"                                   ? TopologyType::tree
                : type == "topology/block"                                  ? TopologyType::block
                : type == "topology/3d_torus" || type == "topology/torus3d" ? TopologyType::torus3d
                                                                            : TopologyType::other;
    if (made.type == TopologyType::other || made.type == TopologyType::torus3d) {
      site_.unknown.push_back(fmt::format("TopologyPlugin={} is not modelled", type));
    }
    for (const std::string& each : words(settings_, "TopologyParam")) {
      if (each == "topooptional") made.optional = true;
      if (each == "switchasnoderank") made.switch_as_node_rank = true;
      if (each == "dragonfly") made.dragonfly = true;
      if (each.starts_with("topomaxsizeunroll=")) {
        made.max_size_unroll =
            static_cast<int>(text::parse_whole(each.substr(each.find('=') + 1)).value_or(-1));
      }
    }
  }

  void read_preemption() {
    PreemptSettings& made = made_.preempt;
    made.type = choice(settings_, "PreemptType", PreemptType::none,
                       {{"preempt/none", PreemptType::none},
                        {"preempt/qos", PreemptType::qos},
                        {"preempt/partition_prio", PreemptType::partition_priority}});
    made.mode = read_preempt_mode(settings_, "PreemptMode", PreemptMode::off);
    const auto modes = words(settings_, "PreemptMode");
    made.gang = modes.count("gang") > 0;
    made.within = modes.count("within") > 0;
    made.by_priority = modes.count("priority") > 0;
    made.exempt_time = length(settings_, "PreemptExemptTime", Unit::minutes, Duration{0});
    if (made.exempt_time == text::kUnlimited) made.exempt_time = Duration{0};  // -1 is "disabled"
    // Until 22.05 these options were in SchedulerParameters.
    for (const char* const key : {"SchedulerParameters", "PreemptParameters"}) {
      for (const std::string& each : words(settings_, key)) {
        const auto equals = each.find('=');
        const std::string name = each.substr(0, equals);
        const std::int64_t value = equals == std::string::npos
                                       ? 0
                                       : text::parse_whole(each.substr(equals + 1)).value_or(0);
        if (name == "preempt_youngest_first" || name == "youngest_first") {
          made.youngest_first = true;
        } else if (name == "preempt_strict_order" || name == "strict_order") {
          made.strict_order = true;
        } else if (name == "preempt_reorder_count" || name == "reorder_count") {
          made.reorder_count = static_cast<int>(value);
        } else if (name == "reclaim_licenses") {
          made.reclaim_licenses = true;
        } else if (name == "min_exempt_priority") {
          made.min_exempt_priority = static_cast<std::uint32_t>(value);
        } else if (name == "suspend_grace_time") {
          made.suspend_grace_time = std::chrono::seconds(value);
        }
      }
    }
  }

  void read_enforcement() {
    Enforced& made = made_.enforced;
    for (const std::string& each : words(settings_, "AccountingStorageEnforce")) {
      if (each == "all") made = {true, true, true, true, false, false, true};
      if (each == "associations") made.associations = true;
      if (each == "limits") made.limits = true;
      if (each == "qos") made.qos = true;
      if (each == "safe") made.safe = true;
      if (each == "nojobs") made.no_jobs = true;
      if (each == "nosteps") made.no_steps = true;
      if (each == "wckeys") made.wckeys = true;
    }
    // list() reads a lone "all" as no restriction.
    if (in_lower_case(word(settings_, "AccountingStorageEnforce")) == "all") {
      made = {true, true, true, true, false, false, true};
    }
    made.limits = made.limits || made.safe;
    made.associations = made.associations || made.limits || made.qos || made.wckeys;
    made_.part_limits = choice(settings_, "EnforcePartLimits", EnforcePartLimits::no,
                               {{"no", EnforcePartLimits::no},
                                {"any", EnforcePartLimits::any},
                                {"all", EnforcePartLimits::all},
                                {"yes", EnforcePartLimits::all}});
  }

  void read_jobs() {
    made_.max_job_count = whole_int(settings_, "MaxJobCount", made_.max_job_count);
    made_.max_array_size = whole_int(settings_, "MaxArraySize", made_.max_array_size);
    made_.requeue = truth(settings_, "JobRequeue", made_.requeue);
    JobDefaults& made = made_.job_defaults;
    made.memory_per_cpu_mb = whole(settings_, "DefMemPerCPU", 0);
    made.memory_per_node_mb = whole(settings_, "DefMemPerNode", 0);
    made.max_memory_per_cpu_mb = whole(settings_, "MaxMemPerCPU", 0);
    made.max_memory_per_node_mb = whole(settings_, "MaxMemPerNode", 0);
    read_job_defaults(settings_, made);
  }

  void read_times() {
    const auto seconds = [&](const char* key, Duration& value) {
      value = length(settings_, key, Unit::seconds, value);
    };
    seconds("KillWait", made_.kill_wait);
    seconds("CompleteWait", made_.complete_wait);
    seconds("MinJobAge", made_.min_job_age);
    seconds("SuspendTimeout", made_.suspend_timeout);
    seconds("ResumeTimeout", made_.resume_timeout);
    made_.over_time_limit = length(settings_, "OverTimeLimit", Unit::minutes, Duration{0});
    made_.resv_over_run = length(settings_, "ResvOverRun", Unit::minutes, Duration{0});
    made_.suspend_time = length(settings_, "SuspendTime", Unit::seconds, kNoDuration);
    if (made_.suspend_time == text::kUnlimited) made_.suspend_time = kNoDuration;
    for (const std::string& each : words(settings_, "AuthInfo")) {
      constexpr std::string_view kExpire = "cred_expire=";
      if (!each.starts_with(kExpire)) continue;
      const auto value = text::parse_whole(std::string_view(each).substr(kExpire.size()));
      if (value && *value > 0) made_.cred_expire = std::chrono::seconds(*value);
    }
  }

  const Record& settings_;
  Site& site_;
  Config& made_;
};

void ConfigReader::read_tres(std::span<const Record> rows) {
  site_.tres = standard_tres();
  std::uint32_t next_id = 1001;
  for (const std::string& name : list(settings_, "AccountingStorageTRES")) {
    const auto known = site_.tres.size();
    tres_index(site_.tres, name, true);
    if (site_.tres.size() > known) site_.tres.back().id = next_id++;
  }
  std::uint32_t largest = next_id;
  for (const Record& row : rows) {
    const std::string name = word(row, "Name");
    const std::string full = word(row, "Type") + (name.empty() ? "" : "/" + name);
    const auto id = static_cast<std::uint32_t>(whole(row, "ID", 0));
    largest = std::max(largest, id + 1);
    // The database also has what other clusters of it count.
    const bool is_counted = word(settings_, "AccountingStorageTRES").empty();
    const int at = tres_index(site_.tres, full, is_counted);
    if (at >= 0) site_.tres[static_cast<std::size_t>(at)].id = id;
  }
  std::stable_sort(site_.tres.begin(), site_.tres.end(),
                   [](const Tres& a, const Tres& b) { return a.id < b.id; });
}

/// "matlab:4,comsol:20"; without a number there is one.
void ConfigReader::read_licenses() {
  for (const std::string& item : list(settings_, "Licenses")) {
    const auto colon = item.find(':');
    License license{.name = item.substr(0, colon), .total = 1};
    if (colon != std::string::npos) {
      const auto total = text::parse_whole(item.substr(colon + 1));
      if (!total || *total < 0) refuse(settings_, "Licenses", "a list like matlab:4,comsol:20");
      license.total = *total;
    }
    site_.licenses.push_back(std::move(license));
  }
}

}  // namespace

void read_job_defaults(const Record& record, JobDefaults& made) {
  for (const std::string& each : words(record, "JobDefaults")) {
    const auto equals = each.find('=');
    if (equals == std::string::npos) continue;
    const std::int64_t value = text::parse_whole(each.substr(equals + 1)).value_or(0);
    if (each.starts_with("defmempergpu")) made.memory_per_gpu_mb = value;
    if (each.starts_with("defcpupergpu")) made.cpus_per_gpu = static_cast<int>(value);
  }
}

Record config_record(const std::string& path, std::string_view text) {
  Record made{.first = "scontrol show config", .where = {path}};
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const std::string_view line = cluster::take_line(text);
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view written = cluster::without_blanks(line.substr(0, equals));
    const std::string key = in_lower_case(written);
    if (key != written) made.spelled[key] = written;
    made.fields[key] = cluster::without_blanks(line.substr(equals + 1));
    made.places[key] = {path, number};
  }
  return made;
}

Record config_record(std::span<const Record> lines) {
  static const std::set<std::string> kTables{"nodename",   "partitionname", "nodeset", "downnodes",
                                             "switchname", "blockname",     "name"};
  Record made{.first = "slurm.conf"};
  for (const Record& line : lines) {
    if (kTables.count(line.first) > 0) continue;
    if (made.where.file.empty()) made.where = {line.where.file};
    for (const auto& [key, value] : line.fields) {
      made.fields[key] = value;
      made.places[key] = line.where;
      made.spelled[key] = line.spelling_of(key);
    }
  }
  return made;
}

Result<void> read_config(const Record& settings, std::span<const Record> rows, Site& site) {
  auto read = catching([&] {
    ConfigReader reader(settings, site);
    reader.read_tres(rows);
    reader.read();
    reader.read_licenses();
    return true;
  });
  if (!read) return tl::unexpected(read.error());
  return {};
}

Result<Config> with_settings(const Site& site, const std::map<std::string, std::string>& changed) {
  Record settings{.fields = site.config.all, .where = {"changed settings"}};
  for (const auto& [key, value] : changed) settings.fields[in_lower_case(key)] = value;
  Site copy{.tres = site.tres};
  return catching([&] {
    ConfigReader(settings, copy).read();
    return std::move(copy.config);
  });
}

PreemptMode read_preempt_mode(const Record& record, const std::string& key, PreemptMode missing) {
  PreemptMode made = missing;
  for (const std::string& each : words(record, key)) {
    if (each == "off")
      made = PreemptMode::off;
    else if (each == "cancel")
      made = PreemptMode::cancel;
    else if (each == "requeue")
      made = PreemptMode::requeue;
    else if (each == "suspend")
      made = PreemptMode::suspend;
    else if (each == "cluster")
      made = PreemptMode::cluster;
    else if (each != "gang" && each != "within" && each != "priority" && each != "disabled") {
      refuse(record, key, "OFF, CANCEL, REQUEUE or SUSPEND");
    }
  }
  return made;
}

void read_select_parameters(const Record& record, SelectSettings& made,
                            std::vector<std::string>& unknown) {
  for (const std::string& each : words(record, "SelectTypeParameters")) {
    const bool memory = each.ends_with("_memory");
    const std::string what = memory ? each.substr(0, each.size() - 7) : each;
    if (what == "cr_cpu" || what == "cr_core" || what == "cr_socket" || what == "cr_board") {
      made.consumable = what == "cr_cpu"    ? Consumable::cpu
                        : what == "cr_core" ? Consumable::core
                                            : Consumable::socket;
      made.memory = memory;
    } else if (each == "cr_memory") {
      made.memory = true;
    } else if (each == "cr_one_task_per_core") {
      made.one_task_per_core = true;
    } else if (each == "cr_pack_nodes") {
      made.pack_nodes = true;
    } else if (each == "cr_lln") {
      made.least_loaded = true;
    } else if (each == "cr_core_default_dist_block") {
      made.default_dist_block = true;
    } else if (each == "ll_shared_gres") {
      made.ll_shared_gres = true;
    } else if (each == "multiple_sharing_gres_pj") {
      made.multiple_sharing_gres_per_job = true;
    } else if (each == "enforce_binding_gres") {
      made.enforce_binding_gres = true;
    } else if (each == "one_task_per_sharing_gres") {
      made.one_task_per_sharing_gres = true;
    } else if (each != "other_cons_res" && each != "other_cons_tres" && each != "none") {
      unknown.push_back(fmt::format("SelectTypeParameters: {} is not modelled", each));
    }
  }
}

}  // namespace almanac::site
