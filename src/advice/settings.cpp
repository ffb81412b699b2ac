// SPDX-License-Identifier: Apache-2.0
#include "advice/settings.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/slurm_words.h"
#include "site/read_config.h"
#include "site/values.h"
#include "text/duration.h"
#include "text/nearest.h"
#include "text/number.h"

namespace almanac::advice {
namespace {

using cluster::in_lower_case;
using site::Config;
using site::Partition;
using site::Qos;
using site::Record;
using site::Tres;
using Place = Setting::Place;

constexpr const char* kSchedulerParameters = "SchedulerParameters";

std::string count_text(std::int64_t count) {
  return count == site::kNoLimit ? "-1" : fmt::format("{}", count);
}

std::string length_text(Duration length) {
  return length == kNoDuration ? "-1" : text::format_duration(length);
}

std::string tres_text(const site::TresCounts& counts, const std::vector<Tres>& tres) {
  std::vector<std::string> items;
  for (const site::TresCount& each : counts) {
    const char* const unit = each.tres == site::kMemory ? "M" : "";
    items.push_back(fmt::format("{}={}{}", tres[each.tres].name, each.count, unit));
  }
  return items.empty() ? "-1" : fmt::format("{}", fmt::join(items, ","));
}

struct OfConfig {
  const char* name;
  std::string (*value)(const Config&);
};

const OfConfig kConfig[] = {
    {"PriorityWeightAge", [](const Config& c) { return fmt::to_string(c.priority.weight_age); }},
    {"PriorityWeightAssoc",
     [](const Config& c) { return fmt::to_string(c.priority.weight_assoc); }},
    {"PriorityWeightFairshare",
     [](const Config& c) { return fmt::to_string(c.priority.weight_fair_share); }},
    {"PriorityWeightJobSize",
     [](const Config& c) { return fmt::to_string(c.priority.weight_job_size); }},
    {"PriorityWeightPartition",
     [](const Config& c) { return fmt::to_string(c.priority.weight_partition); }},
    {"PriorityWeightQOS", [](const Config& c) { return fmt::to_string(c.priority.weight_qos); }},
    {"PriorityMaxAge", [](const Config& c) { return length_text(c.priority.max_age); }},
    {"PriorityDecayHalfLife",
     [](const Config& c) { return length_text(c.priority.decay_half_life); }},
    {"PriorityCalcPeriod", [](const Config& c) { return length_text(c.priority.calc_period); }},
    {"PriorityFavorSmall",
     [](const Config& c) { return std::string(c.priority.favor_small ? "YES" : "NO"); }},
    {"PriorityType",
     [](const Config& c) {
       return std::string(c.priority.type == site::PriorityType::basic ? "priority/basic"
                                                                       : "priority/multifactor");
     }},
    {"FairShareDampeningFactor",
     [](const Config& c) { return fmt::to_string(c.priority.dampening); }},
    {"SchedulerType", [](const Config& c) {
       return std::string(c.scheduler.type == site::SchedulerType::builtin ? "sched/builtin"
                                                                           : "sched/backfill");
     }}};

/// A limit of a QOS: a count, a length of time, or resources.
struct OfQos {
  const char* name;
  const char* long_name;  ///< As sacctmgr also takes it.
  std::int64_t* (*count)(Qos&);
  Duration* (*length)(Qos&);
  site::TresCounts* (*tres)(Qos&);
};

const OfQos kQos[] = {
    {"GrpJobs", "GrpJobs", [](Qos& q) { return &q.group.jobs; }, nullptr, nullptr},
    {"GrpTRES", "GrpTRES", nullptr, nullptr, [](Qos& q) { return &q.group.tres; }},
    {"MaxJobsPU", "MaxJobsPerUser", [](Qos& q) { return &q.per_user.jobs; }, nullptr, nullptr},
    {"MaxTRESPU", "MaxTRESPerUser", nullptr, nullptr, [](Qos& q) { return &q.per_user.tres; }},
    {"MaxJobsPA", "MaxJobsPerAccount", [](Qos& q) { return &q.per_account.jobs; }, nullptr,
     nullptr},
    {"MaxTRESPA", "MaxTRESPerAccount", nullptr, nullptr,
     [](Qos& q) { return &q.per_account.tres; }},
    {"MaxTRES", "MaxTRESPerJob", nullptr, nullptr, [](Qos& q) { return &q.job.tres; }},
    {"MaxWall", "MaxWallDurationPerJob", nullptr, [](Qos& q) { return &q.job.wall; }, nullptr}};

/// A limit of a partition: a count or a length of time.
struct OfPartition {
  const char* name;
  std::int64_t* (*count)(Partition&);
  Duration* (*length)(Partition&);
};

const OfPartition kPartition[] = {
    {"MaxTime", nullptr, [](Partition& p) { return &p.max_time; }},
    {"DefaultTime", nullptr, [](Partition& p) { return &p.default_time; }},
    {"MaxNodes", [](Partition& p) { return &p.max_nodes; }, nullptr},
    {"MaxCPUsPerNode", [](Partition& p) { return &p.max_cpus_per_node; }, nullptr}};

template <typename Rows>
auto find(const Rows& rows, std::string_view name) {
  const std::string lower = in_lower_case(name);
  const auto at = std::find_if(std::begin(rows), std::end(rows), [&](const auto& row) {
    if constexpr (requires { row.long_name; }) {
      if (in_lower_case(row.long_name) == lower) return true;
    }
    return in_lower_case(row.name) == lower;
  });
  return at == std::end(rows) ? nullptr : &*at;
}

template <typename Rows>
std::vector<std::string> names_of(const Rows& rows) {
  std::vector<std::string> made;
  for (const auto& row : rows) made.emplace_back(row.name);
  return made;
}

tl::unexpected<Error> unknown(std::string_view what, std::string_view name,
                              const std::vector<std::string>& known) {
  return fail(Code::usage, fmt::format("no {} is called \"{}\"", what, name), {},
              text::meant_or_known(name, known));
}

std::vector<std::string> names_of_all() {
  std::vector<std::string> made = names_of(kConfig);
  for (const auto& [name, value] : site::scheduler_parameters({})) made.push_back(name);
  return made;
}

/// "qos.normal.MaxJobsPU" after its first word.
template <typename Owners, typename Rows>
Result<Setting> parse_owned(Place place, std::string_view what, std::string_view rest,
                            const Owners& owners, const Rows& rows) {
  const auto dot = rest.rfind('.');
  if (dot == std::string_view::npos) {
    return fail(Code::usage, fmt::format("\"{}.{}\" names no limit", what, rest), {},
                fmt::format("write {}.NAME.LIMIT=VALUE", what));
  }
  const auto* const owner = find(owners, rest.substr(0, dot));
  if (owner == nullptr) return unknown(what, rest.substr(0, dot), names_of(owners));
  const auto* const row = find(rows, rest.substr(dot + 1));
  if (row == nullptr) {
    return unknown(fmt::format("limit of a {}", what), rest.substr(dot + 1), names_of(rows));
  }
  return Setting{.place = place, .owner = owner->name, .name = row->name};
}

Result<Setting> parse_name(std::string_view name, const site::Site& site) {
  const std::string lower = in_lower_case(name);
  if (lower.starts_with("qos.")) {
    return parse_owned(Place::qos, "qos", name.substr(4), site.qos, kQos);
  }
  if (lower.starts_with("partition.")) {
    return parse_owned(Place::partition, "partition", name.substr(10), site.partitions, kPartition);
  }
  if (const OfConfig* const row = find(kConfig, name)) return Setting{.name = row->name};
  if (site::scheduler_parameters({}).contains(lower)) {
    return Setting{.place = Place::scheduler, .name = lower};
  }
  return unknown("setting that Almanac simulates", name, names_of_all());
}

bool is_flag(const Setting& setting) {
  const auto known = site::scheduler_parameters({});
  const auto at = known.find(setting.name);
  return setting.place == Place::scheduler && at != known.end() &&
         (at->second == "yes" || at->second == "no");
}

/// Fails with usage for a number that Slurm does not take. -1 switches intervals off.
Result<void> check_number(const Setting& setting) {
  const auto told = text::parse_whole(setting.value);
  const bool is_off =
      told && *told == -1 && (setting.name == "bf_interval" || setting.name == "sched_interval");
  if (is_off) return {};
  const site::ParameterRange range = site::range_of(setting.name);
  if (told && range.has(*told)) return {};
  return fail(Code::usage, fmt::format("{} must be a whole number from {} to {}, found \"{}\"",
                                       setting.name, range.least, range.most, setting.value));
}

/// SchedulerParameters with one word changed.
std::string with_word(const std::string& all, const Setting& setting) {
  std::vector<std::string> items;
  for (const std::string& item : cluster::split_list(all)) {
    const std::string word = item.substr(0, item.find('='));
    if (in_lower_case(cluster::without_blanks(word)) != setting.name) items.push_back(item);
  }
  if (!is_flag(setting)) items.push_back(setting.name + "=" + setting.value);
  if (is_flag(setting) && setting.value == "yes") items.push_back(setting.name);
  return fmt::format("{}", fmt::join(items, ","));
}

/// The keys of slurm.conf that the settings change.
std::map<std::string, std::string> config_keys(const site::Site& site,
                                               std::span<const Setting> settings) {
  std::map<std::string, std::string> made;
  for (const Setting& each : settings) {
    if (each.place == Place::config) made[each.name] = each.value;
    if (each.place != Place::scheduler) continue;
    if (!made.contains(kSchedulerParameters)) {
      const auto told = site.config.all.find(in_lower_case(kSchedulerParameters));
      const bool is_set = told != site.config.all.end() && told->second != "(null)";
      made[kSchedulerParameters] = is_set ? told->second : "";
    }
    made[kSchedulerParameters] = with_word(made[kSchedulerParameters], each);
  }
  return made;
}

/// As sacctmgr does: only the resources that are named change.
void set_tres(site::TresCounts& counts, const Record& record, const std::string& key,
              std::vector<Tres>& tres) {
  const std::string value = record.get(in_lower_case(key));
  if (value == "-1") return counts.clear();
  const site::TresCounts more = site::counts(record, key, tres);
  for (const std::string& item : cluster::split_list(value)) {
    const int named = site::tres_index(tres, item.substr(0, item.find('=')), true);
    std::erase_if(counts, [&](const site::TresCount& each) { return each.tres == named; });
  }
  counts.insert(counts.end(), more.begin(), more.end());
  std::sort(counts.begin(), counts.end(),
            [](const site::TresCount& a, const site::TresCount& b) { return a.tres < b.tres; });
}

/// Throws site::BadValue.
void set_owned(site::Site& site, const Setting& setting) {
  const Record record{.fields = {{in_lower_case(setting.name), setting.value}}, .where = {}};
  if (setting.place == Place::qos) {
    const auto owner = std::find_if(site.qos.begin(), site.qos.end(),
                                    [&](const Qos& each) { return each.name == setting.owner; });
    const OfQos& row = *find(kQos, setting.name);
    if (row.count != nullptr) *row.count(*owner) = site::limit(record, setting.name);
    if (row.tres != nullptr) set_tres(*row.tres(*owner), record, setting.name, site.tres);
    if (row.length == nullptr) return;
    const Duration length = site::length(record, setting.name, site::Unit::minutes, kNoDuration);
    *row.length(*owner) = length == text::kUnlimited ? kNoDuration : length;
    return;
  }
  const auto owner =
      std::find_if(site.partitions.begin(), site.partitions.end(),
                   [&](const Partition& each) { return each.name == setting.owner; });
  const OfPartition& row = *find(kPartition, setting.name);
  if (row.count != nullptr) *row.count(*owner) = site::limit(record, setting.name);
  if (row.length == nullptr) return;
  *row.length(*owner) = site::length(record, setting.name, site::Unit::minutes, text::kUnlimited);
}

/// The resource of a limit that is a list of them; "" for other settings.
std::string resource_of(const Setting& setting) {
  const auto equals = setting.value.find('=');
  return equals == std::string::npos
             ? ""
             : in_lower_case(cluster::without_blanks(setting.value.substr(0, equals)));
}

/// Fails with usage for resources that the site does not count, and for negative amounts but -1.
Result<void> check_resources(const Setting& setting, const site::Site& site) {
  if (setting.place != Place::qos || find(kQos, setting.name)->tres == nullptr) return {};
  if (setting.value == "-1") return {};
  for (const std::string& item : cluster::split_list(setting.value)) {
    const auto equals = item.find('=');
    const std::string name(cluster::without_blanks(std::string_view(item).substr(0, equals)));
    if (!site.find_tres(in_lower_case(name))) {
      return fail(Code::usage,
                  fmt::format("{}: this site counts no resource \"{}\"", name_of(setting), name),
                  {}, text::meant_or_known(name, names_of(site.tres)));
    }
    const std::string_view amount =
        equals == std::string::npos
            ? std::string_view{}
            : cluster::without_blanks(std::string_view(item).substr(equals + 1));
    if (amount.empty() || (amount.front() == '-' && amount != "-1")) {
      return fail(Code::usage, fmt::format("{}: {} must be 0 or more, or -1 for no limit, found "
                                           "\"{}\"",
                                           name_of(setting), name, amount));
    }
  }
  return {};
}

}  // namespace

std::string name_of(const Setting& setting) {
  if (setting.place == Place::qos) return fmt::format("qos.{}.{}", setting.owner, setting.name);
  if (setting.place == Place::partition) {
    return fmt::format("partition.{}.{}", setting.owner, setting.name);
  }
  return setting.name;
}

Result<std::vector<Setting>> parse_settings(std::string_view text, const site::Site& site) {
  std::vector<Setting> made;
  for (const std::string& item : cluster::split_list(text)) {
    const auto equals = item.find('=');
    auto setting = parse_name(cluster::without_blanks(item.substr(0, equals)), site);
    if (!setting) return tl::unexpected(setting.error());
    if (equals != std::string::npos) {
      setting->value = cluster::without_blanks(std::string_view(item).substr(equals + 1));
    }
    if (is_flag(*setting)) {
      const std::string lower = in_lower_case(setting->value);
      if (!lower.empty() && lower != "yes" && lower != "no") {
        return fail(Code::usage, fmt::format("{} must be yes or no, found \"{}\"", setting->name,
                                             setting->value));
      }
      setting->value = lower == "no" ? "no" : "yes";
    }
    if (setting->value.empty()) {
      return fail(Code::usage, fmt::format("{} has no value", name_of(*setting)), {},
                  fmt::format("write {}=VALUE", name_of(*setting)));
    }
    if (setting->place == Place::scheduler && !is_flag(*setting)) {
      if (auto fits = check_number(*setting); !fits) return tl::unexpected(fits.error());
    }
    if (auto known = check_resources(*setting, site); !known) return tl::unexpected(known.error());
    const bool is_twice = std::any_of(made.begin(), made.end(), [&](const Setting& each) {
      return name_of(each) == name_of(*setting) && resource_of(each) == resource_of(*setting);
    });
    if (is_twice) {
      return fail(Code::usage, fmt::format("{} has two values", name_of(*setting)), {},
                  "give each setting once");
    }
    made.push_back(std::move(*setting));
  }
  if (made.empty()) {
    return fail(Code::usage, "no setting is named", {},
                "write for example bf_max_job_test=500,PriorityWeightFairshare=20000");
  }
  return made;
}

std::string value_of(const Setting& setting, const site::Site& site) {
  switch (setting.place) {
    case Place::config:
      return find(kConfig, setting.name)->value(site.config);
    case Place::scheduler:
      return site::scheduler_parameters(site.config.scheduler).at(setting.name);
    case Place::qos: {
      Qos owner = *site.find_qos(setting.owner);
      const OfQos& row = *find(kQos, setting.name);
      if (row.count != nullptr) return count_text(*row.count(owner));
      if (row.length != nullptr) return length_text(*row.length(owner));
      return tres_text(*row.tres(owner), site.tres);
    }
    case Place::partition:
      break;
  }
  Partition owner = *site.find_partition(setting.owner);
  const OfPartition& row = *find(kPartition, setting.name);
  return row.count != nullptr ? count_text(*row.count(owner)) : length_text(*row.length(owner));
}

Result<site::Site> changed(const site::Site& site, std::span<const Setting> settings) {
  site::Site made = site;
  const auto keys = config_keys(site, settings);
  if (!keys.empty()) {
    auto config = site::with_settings(site, keys);
    if (!config) return fail(Code::usage, config.error().message);
    made.config = std::move(*config);
  }
  const auto set = site::catching([&] {
    for (const Setting& each : settings) {
      if (each.place == Place::qos || each.place == Place::partition) set_owned(made, each);
    }
    return true;
  });
  if (!set) return fail(Code::usage, set.error().message);
  return made;
}

std::vector<Line> lines_for(const site::Site& site, std::span<const Setting> settings) {
  std::vector<Line> made;
  for (const auto& [key, value] : config_keys(site, settings)) {
    made.push_back({"slurm.conf", key + "=" + value});
  }
  for (const Setting& each : settings) {
    if (each.place == Place::qos) {
      made.push_back({"shell", fmt::format("sacctmgr modify qos {} set {}={}", each.owner,
                                           each.name, each.value)});
    }
    if (each.place == Place::partition) {
      made.push_back({"shell", fmt::format("scontrol update PartitionName={} {}={}  # until "
                                           "slurmctld restarts; set it in slurm.conf, too",
                                           each.owner, each.name, each.value)});
    }
  }
  return made;
}

}  // namespace almanac::advice
