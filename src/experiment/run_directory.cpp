// SPDX-License-Identifier: Apache-2.0
#include "experiment/run_directory.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>

#include "cluster/capacity.h"
#include "cluster/read.h"
#include "experiment/failure_json.h"
#include "experiment/fitted_failures.h"
#include "experiment/run_tables.h"
#include "experiment/summary_fields.h"
#include "faults/model_file.h"
#include "policy/registry.h"
#include "predict/model_file.h"
#include "table/digest.h"
#include "table/output_file.h"
#include "table/stream.h"

namespace almanac::experiment {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// JSON has no NaN: what there is nothing to say of is null.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
/// NaN too for a figure that the version which wrote it did not have yet.
double number_in(const Json& object, const char* key) {
  const auto value = object.find(key);
  return value == object.end() || value->is_null() ? std::nan("") : value->get<double>();
}

Json to_object(const Summary& summary) {
  Json made = {{"policy", summary.policy},
               {"bound", summary.bound},
               {"needs", summary.needs},
               {"complete", summary.complete}};
  if (summary.recorded) made["recorded"] = true;
  for (const SummaryField& field : summary_fields()) {
    const bool of_fairness = field.where == SummaryField::Where::fairness;
    Json& value = (of_fairness ? made["fairness"] : made)[field.name];
    if (const auto* const count = std::get_if<SummaryField::Count>(&field.member)) {
      value = summary.*(*count);
    } else {
      value = number(summary.*std::get<SummaryField::Number>(field.member));
    }
  }
  if (!summary.worst_owner.empty()) made["fairness"]["worst_owner"] = summary.worst_owner;
  for (const TenantDue& each : summary.tenants) {
    made["fairness"]["tenants"].push_back({{"name", each.name},
                                           {"used_gpu_s", number(each.used_gpu_s)},
                                           {"fair_share_gpu_s", number(each.fair_share_gpu_s)}});
  }
  for (const TenantLoan& each : summary.loans) {
    made["fairness"]["loans"].push_back(
        {{"from", each.from}, {"to", each.to}, {"gpu_s", number(each.gpu_s)}});
  }
  for (const GpuCost& each : summary.gpu_costs) {
    made["gpu_costs"].push_back({{"type", each.type},
                                 {"gpu_h", number(each.gpu_h)},
                                 {"cost", number(each.cost)},
                                 {"by_hour", each.by_hour}});
  }
  if (!summary.failures.empty()) made["failures"] = failures_json(summary.failures);
  made["signature"] = fmt::format("{:016x}", summary.signature);
  return made;
}

Summary to_summary(const Json& object) {
  Summary made;
  made.policy = object.at("policy");
  made.bound = object.at("bound");
  made.complete = object.at("complete");
  made.recorded = object.value("recorded", false);
  made.needs = object.at("needs").get<std::vector<std::string>>();
  for (const SummaryField& field : summary_fields()) {
    const bool of_fairness = field.where == SummaryField::Where::fairness;
    const Json& from = of_fairness ? object.at("fairness") : object;
    const bool is_old = field.formerly != nullptr && !from.contains(field.name);
    const char* const name = is_old ? field.formerly : field.name;
    if (const auto* const count = std::get_if<SummaryField::Count>(&field.member)) {
      made.*(*count) = from.value(name, std::uint64_t{0});
    } else {
      made.*std::get<SummaryField::Number>(field.member) = number_in(from, name);
    }
  }
  made.worst_owner = object.at("fairness").value("worst_owner", std::string());
  for (const Json& each : object.at("fairness").value("tenants", Json::array())) {
    const bool is_old = each.contains("had_gpu_s");  // names of the release before
    made.tenants.push_back({each.at("name"), number_in(each, is_old ? "had_gpu_s" : "used_gpu_s"),
                            number_in(each, is_old ? "due_gpu_s" : "fair_share_gpu_s")});
  }
  for (const Json& each : object.at("fairness").value("loans", Json::array())) {
    made.loans.push_back({each.at("from"), each.at("to"), number_in(each, "gpu_s")});
  }
  for (const Json& each : object.value("gpu_costs", Json::array())) {
    made.gpu_costs.push_back(
        {each.at("type"), number_in(each, "gpu_h"), number_in(each, "cost"), each.at("by_hour")});
  }
  if (object.contains("failures")) made.failures = parse_failures(object.at("failures"));
  made.signature = std::stoull(object.at("signature").get<std::string>(), nullptr, 16);
  return made;
}

Json to_object(const schedule::RestartCost& cost) {
  return {{"one_gpu_s", seconds(cost.one_gpu)},
          {"up_to_8_gpus_s", seconds(cost.up_to_8_gpus)},
          {"more_gpus_s", seconds(cost.more_gpus)},
          {"launch_s", seconds(cost.launch)}};
}

Json to_object(const Prepared::Run& run) {
  Json made = {{"name", run.composition.name}};
  if (run.composition.scripted) made["scripted"] = true;
  if (!run.composition.whole.name.empty()) {
    const policy::Choice& whole = run.composition.whole;
    made["whole"] = to_string(whole, policy::registry().wholes.at(whole).parameters);
  }
  for (const policy::Registry::Slot& slot : policy::registry().slots()) {
    const policy::Choice& choice = run.composition.*slot.choice;
    made[slot.name()] = to_string(choice, slot.choices->at(choice).parameters);
  }
  made["restart"] = to_object(run.restart);
  return made;
}

Json board_of(const energy::PowerModel& power) {
  const energy::PowerCurve& curve = power.gpu_curve;
  Json board = {{"type", power.gpu_type},
                {"limit_w", power.gpu_limit_w},
                {"least_limit_w", power.gpu_least_limit_w},
                {"idle", curve.idle},
                {"full", curve.full},
                {"bend", curve.bend},
                {"strain", curve.strain}};
  for (const auto& [network, use] : power.gpu_use) board["use"][network] = use;
  return board;
}

Json to_object(const energy::PowerModel& power) {
  return {{"name", power.name},
          {"gpus", power.gpus},
          {"idle_w", power.idle_w},
          {"full_w", power.full_w},
          {"booting_w", power.booting_w},
          {"asleep_w", power.asleep_w},
          {"gpu", board_of(power)},
          {"boot_s", power.boot_s},
          {"pue", power.facility.pue},
          {"price_per_kwh", power.facility.price_per_kwh},
          {"currency", power.facility.currency},
          {"kg_co2_per_kwh", power.facility.kg_co2_per_kwh}};
}

Json configuration(const Prepared& prepared) {
  Json policies = Json::array();
  for (const Prepared::Run& run : prepared.runs) policies.push_back(to_object(run));
  const Experiment& given = prepared.experiment;
  Json made{{"trace", given.trace},
            {"format", given.reading.format},
            {"column_map", given.reading.column_map},
            {"time_zone", given.reading.time_zone},
            {"lenient", given.reading.lenient},
            {"cluster", given.cluster},
            {"policy", given.policies},
            {"profile", given.profile},
            {"power", given.power},
            {"power_model", to_object(prepared.power)},
            {"speed", given.speed},
            {"believed_speed", given.believed_speed},
            {"elastic", given.elastic},
            {"elastic_applications", prepared.elastic_digest},
            {"speed_models", prepared.catalogue},
            {"incidents", given.incidents},
            {"warm_up_s", seconds(given.warm_up)},
            {"model", given.model},
            {"restart", to_object(given.restart)},
            {"seed", given.seed},
            {"load", given.load},
            {"timeline_interval_s", seconds(given.timeline_interval)},
            {"resolved_policies", policies}};
  if (!given.queues.empty()) made["queues"] = given.queues;
  if (!given.signals.empty()) made["signals"] = given.signals;
  if (!given.failures.empty()) made["failures"] = given.failures;
  return made;
}

/// Digest of a file, or of all files in a folder and of their names; "" for what cannot be read.
std::string digest_of_files(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    const Result<std::string> text = table::read_file(path.string());
    return text ? table::sha256(*text) : "";
  }
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    if (entry.is_regular_file(error)) {
      files.emplace(entry.path().filename(), digest_of_files(entry.path()));
    }
  }
  return table::sha256(Json(files).dump());
}

/// Returns the digest of a failure model, which is a preset or a file.
std::string digest_of_failures(const std::string& model) {
  for (const text::Preset& each : faults::presets()) {
    if (each.name == model) return table::sha256(each.text);
  }
  if (model == kFitted) return "";  // the trace decides
  return digest_of_files(model);
}

/// Returns a digest of the files of a Slurm site that policies read: the folder, or slurm.conf and
/// the files next to it.
std::string digest_of_site(const std::string& cluster) {
  std::error_code error;
  if (fs::is_directory(cluster, error)) return digest_of_files(cluster);
  const fs::path folder = fs::path(cluster).parent_path();
  return digest_of_files(folder.empty() ? "." : folder);
}

Duration duration_in(const Json& object, const char* key) {
  return Duration{std::llround(object.at(key).get<double>() * 1e3)};
}

Result<std::string> read_text(const fs::path& path) {
  Result<std::string> text = table::read_file(path.string());
  if (!text && text.error().code == Code::not_found)
    text.error().hint = "give a run directory, as almanac simulate LOG --out DIR writes";
  return text;
}

Result<Json> read_json(const fs::path& path) {
  const Result<std::string> text = read_text(path);
  if (!text) return tl::unexpected(text.error());
  try {
    return Json::parse(*text);
  } catch (const nlohmann::json::exception& error) {
    return fail(Code::corrupt, error.what(), {.file = path.string()});
  }
}

}  // namespace

Result<process::Descriptor> open_run_directory(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    return fail(Code::unavailable, fmt::format("cannot create the folder: {}", error.message()),
                {.file = path});
  }
  process::Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return fail(Code::unavailable, std::strerror(errno), {.file = path});
  if (::flock(folder.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return fail(Code::conflict, "another run is being written to this folder", {.file = path},
                "give another folder with --out");
  }
  const bool empty = fs::is_directory(path, error) && fs::is_empty(path, error);
  const bool earlier_run = fs::exists(fs::path(path) / "run.json", error);
  if (!empty && !earlier_run) {
    return fail(Code::conflict, "the folder is not empty and holds no earlier run", {.file = path},
                "give another folder with --out");
  }
  if (earlier_run) {
    for (const auto& entry : fs::directory_iterator(path, error)) {
      // What a run does not write stays: a user may keep notes, or the trace itself, there.
      const std::string name = entry.path().filename().string();
      const bool ours = name == "run.json" || name == "summary.json" || name == "cluster.toml" ||
                        name == "report.html" || fs::exists(entry.path() / "jobs.csv");
      if (ours) fs::remove_all(entry.path(), error);
    }
  }
  return folder;
}

Result<void> write_policy_run(const std::string& path, const Prepared& prepared, std::size_t run,
                              const sim::Schedule& schedule) {
  const fs::path folder = fs::path(path) / prepared.runs[run].composition.name;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return fail(Code::unavailable, error.message(), {.file = folder.string()});
  if (auto done = write_jobs((folder / "jobs.csv").string(), prepared, schedule); !done)
    return done;
  if (auto done = write_waits((folder / "waits.csv.zst").string(), prepared, schedule); !done)
    return done;
  if (prepared.failures != nullptr) {
    const auto done = write_failures((folder / "failures.csv").string(), prepared, schedule);
    if (!done) return done;
    if (prepared.experiment.failures == kFitted) {
      const auto model = fitted_failures(prepared.trace, prepared.cluster);
      const auto kept = table::write_file((folder / "failures.toml").string(), model.value());
      if (!kept) return kept;
    }
  }
  return write_timeline((folder / "timeline.csv").string(), prepared, schedule);
}

std::string to_json(const std::vector<Summary>& summaries) {
  Json list = Json::array();
  for (const Summary& summary : summaries) list.push_back(to_object(summary));
  return list.dump(2) + "\n";
}

std::string configuration_hash(const Prepared& prepared) {
  Json decided = configuration(prepared);
  // Where the trace lies decides nothing; what is in it does.
  decided["trace"] = prepared.trace.sha256;
  decided["model"] = prepared.model ? prepared.model->sha256 : "";
  decided["cluster"] = cluster::to_toml(prepared.cluster);
  decided.erase("timeline_interval_s");
  // Only where there are any: other configurations keep the hashes that they had.
  if (decided.contains("queues")) decided["queues"] = digest_of_files(prepared.experiment.queues);
  for (Json& each : decided.contains("signals") ? decided["signals"] : decided["none"]) {
    const std::string given = each;
    each = given.substr(0, given.find('=')) + digest_of_files(given.substr(given.find('=') + 1));
  }
  decided.erase("none");
  if (decided.contains("failures")) {
    decided["failures_model"] = digest_of_failures(prepared.experiment.failures);
  }
  const bool has_site = std::any_of(prepared.runs.begin(), prepared.runs.end(),
                                    [](const Prepared::Run& run) { return run.site != nullptr; });
  if (has_site) decided["site"] = digest_of_site(prepared.experiment.cluster);
  return table::sha256(decided.dump()).substr(0, 16);
}

Result<void> write_run(const std::string& path, const Prepared& prepared,
                       const std::vector<Summary>& summaries,
                       const std::vector<std::string>& command, bool complete) {
  const fs::path folder(path);
  const auto summary = table::write_file((folder / "summary.json").string(), to_json(summaries));
  if (!summary) return summary;
  const auto machines =
      table::write_file((folder / "cluster.toml").string(), cluster::to_toml(prepared.cluster));
  if (!machines) return machines;
  const cluster::Capacity most = cluster::most_at_once(prepared.cluster);
  const Json run = {{"command", command},
                    {"version", ALMANAC_VERSION},
                    {"complete", complete},
                    {"configuration", configuration(prepared)},
                    {"configuration_hash", configuration_hash(prepared)},
                    {"seed", prepared.experiment.seed},
                    {"trace_sha256", prepared.trace.sha256},
                    {"trace_jobs", prepared.trace.jobs.size()},
                    {"nodes", most.nodes},
                    {"gpus", most.gpus},
                    {"notes", prepared.notes}};
  return table::write_file((folder / "run.json").string(), run.dump(2) + "\n");
}

Result<RunRecord> read_run(const std::string& path) {
  const fs::path file = fs::path(path) / "run.json";
  const Result<Json> read = read_json(file);
  if (!read) return tl::unexpected(read.error());
  try {
    RunRecord record;
    const Json& c = read->at("configuration");
    Experiment& e = record.experiment;
    e.trace = c.at("trace");
    e.reading.format = c.at("format");
    e.reading.column_map = c.at("column_map");
    e.reading.time_zone = c.value("time_zone", "");
    e.reading.lenient = c.at("lenient");
    e.cluster = c.at("cluster");
    e.queues = c.value("queues", "");
    e.policies = c.at("policy").get<std::vector<std::string>>();
    e.profile = c.at("profile");
    e.power = c.at("power");
    e.speed = c.at("speed");
    e.believed_speed = c.value("believed_speed", "");
    e.incidents = c.value("incidents", "");
    e.signals = c.value("signals", std::vector<std::string>{});
    e.failures = c.value("failures", "");
    e.elastic = c.value("elastic", "");
    e.warm_up = duration_in(c, "warm_up_s");
    e.model = c.at("model");
    const Json& restart = c.at("restart");
    e.restart = {.one_gpu = duration_in(restart, "one_gpu_s"),
                 .up_to_8_gpus = duration_in(restart, "up_to_8_gpus_s"),
                 .more_gpus = duration_in(restart, "more_gpus_s"),
                 .launch = duration_in(restart, "launch_s")};
    e.seed = c.at("seed");
    e.load = c.at("load");
    e.timeline_interval = duration_in(c, "timeline_interval_s");
    record.trace_sha256 = read->at("trace_sha256");
    record.configuration_hash = read->at("configuration_hash");
    record.version = read->at("version");
    record.complete = read->at("complete");
    return record;
  } catch (const nlohmann::json::exception& error) {
    return fail(Code::corrupt, error.what(), {.file = file.string()},
                "check whether another version wrote it");
  }
}

Result<std::vector<Summary>> parse_summaries(const std::string& text, const std::string& file) {
  try {
    std::vector<Summary> summaries;
    for (const Json& object : Json::parse(text)) summaries.push_back(to_summary(object));
    return summaries;
  } catch (const std::exception& error) {
    return fail(Code::corrupt, error.what(), {.file = file},
                "check whether another version wrote it");
  }
}

Result<std::vector<Summary>> read_summaries(const std::string& path) {
  const fs::path file = fs::path(path) / "summary.json";
  const Result<std::string> text = read_text(file);
  if (!text) return tl::unexpected(text.error());
  return parse_summaries(*text, file.string());
}

}  // namespace almanac::experiment
