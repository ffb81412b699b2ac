// SPDX-License-Identifier: Apache-2.0
#include "serve/view_json.h"

#include <algorithm>

#include "serve/brief.h"
#include "serve/submission_fields.h"

namespace almanac::serve {

void list(auto& fields, Is<service::Overview> auto& of) {
  fields.field("revision", of.revision);
  fields.field("now_s", of.now);
  fields.field("started_s", of.started);
  fields.field("policy", of.policy);
  fields.sparse("shadow", of.shadow);
  fields.sparse("manager", of.manager);
  fields.field("waiting", of.waiting);
  fields.field("held", of.held);
  fields.field("running", of.running);
  fields.field("gpus", of.gpus);
  fields.field("gpus_busy", of.gpus_busy);
  fields.field("gpu_share_busy", of.gpu_share_busy);
  fields.field("power_w", of.power_w);
  fields.field("power_is_measured", of.power_is_measured);
  fields.sparse("limits_by", of.limits_by);
  fields.field("warnings", of.warnings);
}

void list(auto& fields, Is<service::GpuView> auto& of) {
  fields.field("number", of.number);
  fields.field("name", of.name);
  fields.field("in_service", of.in_service);
  fields.sparse("trouble", of.trouble);
  fields.field("jobs", of.jobs);
  fields.sparse("instances", of.instances);
  fields.measured("use", of.use);
  fields.measured("memory_gb", of.memory_gb);
  fields.measured("power_w", of.power_w);
}

void list(auto& fields, Is<service::NodeView> auto& of) {
  fields.field("name", of.name);
  fields.field("vc", of.vc);
  fields.field("drained", of.drained);
  fields.field("silent", of.silent);
  fields.field("cpus", of.cpus);
  fields.deprecated("cpus_held", of.cpus_held);
  fields.field("cpus_allocated", of.cpus_held);
  fields.field("memory_gb", of.memory_gb);
  fields.deprecated("memory_held_gb", of.memory_held_gb);
  fields.field("memory_allocated_gb", of.memory_held_gb);
  fields.field("gpus", of.gpus);
}

void list(auto& fields, Is<service::WithGpus> auto& of) {
  fields.field("gpus", of.gpus);
  fields.sparse("end_by_s", of.end_by);
  fields.sparse("deadline_probability", of.kept);
  fields.formerly("deadline_kept", of.kept);
}

void list(auto& fields, Is<service::Expected> auto& of) {
  fields.field("at_s", of.at);
  fields.sparse("start_from_s", of.start_from);
  fields.sparse("start_to_s", of.start_to);
  fields.sparse("start_by_s", of.start_by);
  fields.sparse("end_from_s", of.end_from);
  fields.sparse("end_to_s", of.end_to);
  fields.sparse("end_by_s", of.end_by);
  fields.sparse("deadline_probability", of.kept);
  fields.formerly("deadline_kept", of.kept);
  fields.field("run_time_guessed", of.guessed);
  fields.sparse("with_other_gpus", of.other_gpus);
}

void list(auto& fields, Is<service::ChangedForecast> auto& of) {
  fields.field("job_id", of.id);
  fields.field("name", of.name);
  fields.field("user", of.user);
  fields.field("gpus", of.gpus);
  fields.field("running", of.runs);
  fields.field("cancelled", of.cancelled);
  fields.sparse("start_by_before_s", of.start_before);
  fields.sparse("start_by_after_s", of.start_after);
  fields.sparse("end_by_before_s", of.end_before);
  fields.sparse("end_by_after_s", of.end_after);
}

void list(auto& fields, Is<service::ChangedForecasts> auto& of) {
  fields.field("at_s", of.at);
  fields.field("waiting", of.waiting);
  fields.field("jobs", of.jobs);
}

void list(auto& fields, Is<service::StartsIf> auto& of) {
  fields.field("at_s", of.at);
  fields.field("starts_now", of.starts_now);
  fields.field("changes", of.changes);
}

void list(auto& fields, Is<service::Pace> auto& of) {
  fields.field("model", of.model);
  fields.field("rate", of.rate);
  fields.field("gpus", of.parts.gpus);
  fields.field("type", of.parts.type);
  fields.field("neighbours", of.parts.neighbours);
  fields.field("cpus", of.parts.cpus);
  fields.field("memory", of.parts.memory);
  fields.field("power", of.parts.power);
  fields.field("computing", of.parts.computing);
}

void list(auto& fields, Is<service::Figures> auto& of) {
  fields.field("jobs", of.jobs);
  fields.field("avg_wait_s", of.avg_wait_s);
  fields.field("p99_wait_s", of.p99_wait_s);
  fields.field("avg_jct_s", of.avg_jct_s);
  fields.field("p99_jct_s", of.p99_jct_s);
  fields.field("preemptions", of.preemptions);
  fields.sparse("guarantee", of.guarantee);
}

void list(auto& fields, Is<service::Comparison> auto& of) {
  fields.field("at_s", of.at);
  fields.field("since_s", of.since);
  fields.field("policy", of.policy);
  fields.field("shadow", of.shadow);
  fields.field("actual", of.real);
  fields.field("active_simulated", of.played);
  fields.field("shadow_simulated", of.other);
  fields.deprecated("real", of.real);
  fields.deprecated("played", of.played);
  fields.deprecated("other", of.other);
}

void list(auto& fields, Is<store::Note> auto& of) {
  fields.field("at_s", of.at);
  fields.field("what", of.what);
  fields.sparse("detail", of.detail);
}

void list(auto& fields, Is<store::Told> auto& of) {
  fields.field("at_s", of.at);
  fields.field("policy", of.policy);
  fields.field("start_from_s", of.start_from);
  fields.field("start_to_s", of.start_to);
  fields.field("end_from_s", of.end_from);
  fields.field("end_to_s", of.end_to);
  fields.field("share", of.share);
  fields.sparse("deadline_probability", of.kept);
  fields.formerly("deadline_kept", of.kept);
}

void list(auto& fields, Is<store::Moment> auto& of) {
  fields.field("at_s", of.at);
  fields.field("gpus", of.gpus);
  fields.field("gpus_busy", of.gpus_busy);
  fields.field("jobs_running", of.jobs_running);
  fields.field("jobs_waiting", of.jobs_waiting);
  fields.sparse("gpu_use", of.gpu_use);
  fields.field("power_w", of.power_w);
  fields.sparse("power_is_measured", of.power_is_measured);
}

void list(auto& fields, Is<store::SweepCount> auto& of) {
  fields.field("name", of.name);
  fields.field("user", of.user);
  fields.field("trials", of.trials);
  fields.field("waiting", of.waiting);
  fields.field("running", of.running);
  fields.field("first_submit_s", of.begun);
  fields.deprecated("begun_s", of.begun);
}

void list(auto& fields, Is<store::ArrayTask> auto& of) {
  fields.field("number", of.array);
  fields.field("index", of.index);
  fields.field("at_once", of.at_once);
}

namespace {

const store::Submission& asked_of(const store::Job& job) { return job.asked; }
store::Submission& asked_of(store::Job& job) { return job.asked.change(); }

}  // namespace

void list(auto& fields, Is<store::Job> auto& of) {
  fields.field("number", of.number);
  auto& asked = asked_of(of);
  list_asked(fields, asked, store::Audience::of_job);
  list_asked(fields, asked, store::Audience::all);
  fields.field("submit_s", of.submit);
  fields.field("held", of.held);
  fields.field("since_s", of.since);
  fields.sparse("start_s", of.start);
  fields.sparse("end_s", of.end);
  fields.field("attained_s", of.attained);
  fields.field("attempts", of.attempts);
  fields.field("preemptions", of.preemptions);
  fields.sparse("failures", of.failures);
  fields.deprecated("again_at_s", of.again_at);
  fields.sparse("retry_at_s", of.again_at);
  fields.sparse("cores", of.cores);
  fields.field("energy_measured_j", of.energy.measured_j);
  fields.field("energy_modelled_j", of.energy.modelled_j);
  fields.field("used_core_s", of.used.core_s);
  fields.field("used_core_seen_s", of.used.core_seen_s);
  fields.field("used_gpu_s", of.used.gpu_s);
  fields.field("used_gpu_seen_s", of.used.gpu_seen_s);
  fields.field("used_most_memory_gb", of.used.most_memory_gb);
  fields.sparse("lost_output_bytes", of.lost_output);
  fields.sparse("exit_status", of.exit_status);
  fields.sparse("signal", of.signal);
  fields.sparse("reason", of.reason);
}

void list(auto& fields, Is<service::JobView> auto& of) {
  list(fields, of.job);
  fields.sparse("why", of.why);
  fields.sparse("why_word", of.why_word);
  fields.sparse("place", of.place);
  fields.deprecated("believed_s", of.believed);
  fields.sparse("predicted_run_time_s", of.believed);
  fields.measured("gpu_use", of.gpu_use);
  fields.sparse("step", of.step);
  fields.sparse("metric", of.metric);
  fields.sparse("metric_step", of.metric_step);
  fields.measured("cpu_use", of.cpu_use);
  fields.measured("memory_used_gb", of.memory_gb);
  fields.measured("gpu_memory_used_gb", of.gpu_memory_gb);
  fields.sparse("limits_by", of.limits_by);
  fields.sparse("array", of.job.task);
  fields.sparse("expected", of.expected);
  fields.deprecated("pace", of.pace);
  fields.sparse("speed", of.pace);
  fields.sparse("terminal", of.terminal);
}

namespace {

std::vector<int> numbers(cluster::GpuMask gpus) {
  std::vector<int> set;
  for (int i = 0; i < cluster::kMaxGpusPerNode; ++i) {
    if ((gpus >> i & 1) != 0) set.push_back(i);
  }
  return set;
}

Json job_object(const service::JobView& view, const cluster::Cluster& cluster) {
  Json out = {{"job_id", job_id(view.job)},
              {"state", std::string(trace::to_string(view.job.state))}};
  out.update(written(view));
  Json held = Json::array();
  for (const cluster::Grant& each : view.job.held_gpus) {
    held.push_back({{"node", cluster.node_label(each.node)},
                    {"gpus", numbers(each.gpus)},
                    {"gpu_share", static_cast<double>(each.gpu_milli) / cluster::kWholeGpu},
                    {"cpus", static_cast<double>(each.cpu_milli) / 1e3},
                    {"memory_gb", static_cast<double>(each.memory_mb) / 1e3}});
    if (each.profile == slices::kNoProfile) continue;
    held.back()["gpu_profile"] = slices::profile_name(each.profile);
    held.back()["slice"] = each.slice;
  }
  out["holds"] = std::move(held);
  return out;
}

Json job_object(const Brief::Shown& shown, const cluster::Cluster& cluster) {
  Json out = job_object(*shown.view, cluster);
  if (shown.is_shortened) out["shortened"] = true;
  return out;
}

// A client reads what it knows and passes over what a later service says besides.
ListedJob job_of(const Json& json) {
  ListedJob listed{.view = read_record<service::JobView>(json)};
  Reader reader(json);
  std::string state;
  reader.field("job_id", listed.id);
  reader.field("state", state);
  reader.sparse("batch_script", listed.is_script);
  listed.view.job.state = trace::parse_state(state).value_or(trace::JobState::unknown);
  if (const auto holds = json.find("holds"); holds != json.end()) {
    std::vector<std::string> nodes;
    std::vector<std::string> gpus;
    for (const Json& each : *holds) {
      Reader of(each);
      std::vector<int> set;
      std::string profile;
      int slice = 0;
      of.field("node", nodes.emplace_back());
      of.field("gpus", set);
      of.sparse("gpu_profile", profile);
      of.sparse("slice", slice);
      if (set.empty()) continue;
      listed.num_gpus_held += static_cast<int>(set.size());
      gpus.push_back(fmt::format("{}:{}", nodes.back(), fmt::join(set, ",")));
      if (!profile.empty()) gpus.back() += fmt::format("x{}@{}", profile, slice);
    }
    listed.nodes = fmt::format("{}", fmt::join(nodes, ","));
    listed.gpus_held = fmt::format("{}", fmt::join(gpus, " "));
  }
  return listed;
}

}  // namespace

std::string to_json(const service::JobView& view, const cluster::Cluster& cluster) {
  Json out = job_object(view, cluster);
  if (!view.job.asked->script.empty()) out["batch_script"] = true;
  return dumped(out);
}

std::string to_json(const std::vector<service::JobView>& views, const cluster::Cluster& cluster,
                    std::uint64_t revision, bool has_more) {
  Json jobs = Json::array();
  Brief brief;
  std::size_t bytes = 0;
  std::size_t shown = 0;
  for (; shown < views.size() && bytes < kMostListBytes; ++shown) {
    const Brief::Shown each = brief.of(views[shown]);
    jobs.push_back(job_object(each, cluster));
    bytes += each.bytes;
  }
  Json out = {{"revision", revision}, {"jobs", std::move(jobs)}};
  if (has_more || shown < views.size()) {
    out["next"] = static_cast<std::int64_t>(views[shown - 1].job.number);
  }
  return dumped(out);
}

std::string to_json(const service::Overview& overview) { return dumped(written(overview)); }

std::string to_json(const std::vector<service::NodeView>& nodes) {
  Json out = Json::array();
  for (const service::NodeView& each : nodes) {
    Json& node = out.emplace_back(written(each));
    for (const cluster::Connection& one : each.connections) {
      Json& made = node["connections"].emplace_back();
      made = {{"by", cluster::word_of(one.by)}, {"gpus", one.gpus}};
      if (one.by == cluster::Between::nvlink) made["links"] = one.links;
    }
  }
  return dumped(Json{{"nodes", std::move(out)}});
}

std::string to_json(const service::Expected& expected) { return dumped(written(expected)); }

std::string to_json(const service::ChangedForecasts& changed) { return dumped(written(changed)); }

std::string to_json(const service::StartsIf& changes) { return dumped(written(changes)); }

std::string changes_json(const std::vector<std::string>& changes) {
  return dumped(Json{{"if", changes}});
}

std::string shadow_json(const std::string& policy, const std::optional<service::Comparison>& last) {
  Json out = {{"policy", policy}};
  if (last) out["comparison"] = written(*last);
  return dumped(out);
}

std::string to_json(const std::vector<store::Note>& notes, const std::vector<store::Told>& told) {
  Writer out;
  out.field("events", notes);
  out.field("forecasts", told);
  return dumped(out.take());
}

std::string to_json(const std::vector<store::Moment>& moments) {
  return written_as("moments", moments);
}

std::string to_json(const std::vector<store::SweepCount>& sweeps) {
  return written_as("sweeps", sweeps);
}

std::string to_json(const std::string& sweep, const std::vector<Trial>& trials,
                    const cluster::Cluster& cluster) {
  Json list = Json::array();
  Brief brief;
  for (const Trial& each : trials) {
    Json& out = list.emplace_back(Json{{"job", job_object(brief.of(each.view), cluster)}});
    if (each.best) {
      out["best"] = each.best->metric;
      out["best_step"] = each.best->step;
    }
    out["reports"] = Json::array();
    for (const store::Report& report : each.reports) {
      out["reports"].push_back({report.step, report.metric});
    }
  }
  const bool smaller = !trials.empty() && trials.front().view.job.asked->smaller_is_better;
  return dumped(Json{{"name", sweep}, {"smaller_is_better", smaller}, {"trials", std::move(list)}});
}

Result<ListedTuning> read_tuning(std::string_view text) {
  return read_json(text, [](const Json& json) {
    ListedTuning out;
    Reader reader(json);
    reader.field("name", out.name);
    reader.field("smaller_is_better", out.smaller_is_better);
    if (const auto trials = json.find("trials"); trials != json.end()) {
      for (const Json& each : *trials) {
        Reader of(each);
        ListedTrial& trial = out.trials.emplace_back();
        if (each.contains("job")) trial.job = job_of(each.at("job"));
        of.field("best", trial.best);
        of.field("best_step", trial.best_step);
        of.field("reports", trial.reports);
      }
    }
    return out;
  });
}

Result<ListedJob> read_job(std::string_view text) { return read_json(text, job_of); }

Result<JobList> read_jobs(std::string_view text) {
  return read_json(text, [](const Json& json) {
    JobList out;
    Reader reader(json);
    reader.field("next", out.next);
    if (const auto jobs = json.find("jobs"); jobs != json.end()) {
      for (const Json& each : *jobs) out.jobs.push_back(job_of(each));
    }
    return out;
  });
}

Result<service::Overview> read_overview(std::string_view text) {
  return read_json(text, read_record<service::Overview>);
}

Result<std::vector<service::NodeView>> read_nodes(std::string_view text) {
  return read_field<std::vector<service::NodeView>>(text, "nodes");
}

Result<std::vector<std::string>> read_explanation(std::string_view text) {
  return read_field<std::vector<std::string>>(text, "lines");
}

Result<std::string> read_policy(std::string_view text) {
  return read_field<std::string>(text, "policy");
}

Result<service::Expected> read_expected(std::string_view text) {
  return read_json(text, read_record<service::Expected>);
}

Result<service::ChangedForecasts> read_changed_forecasts(std::string_view text) {
  return read_json(text, read_record<service::ChangedForecasts>);
}

Result<service::StartsIf> read_starts_if(std::string_view text) {
  return read_json(text, read_record<service::StartsIf>);
}

Result<std::vector<std::string>> read_changes(std::string_view text) {
  return read_json(text, [](const Json& json) {
    std::vector<std::string> changes;
    Reader(json).field("if", changes);
    return changes;
  });
}

}  // namespace almanac::serve
