// SPDX-License-Identifier: Apache-2.0
#include "cli/command/mcp/live_tools.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include "base/wall_clock.h"
#include "cli/job_list.h"
#include "cli/job_words.h"
#include "cli/wall_clock.h"
#include "serve/submission_json.h"
#include "serve/view_json.h"
#include "serve/what_if.h"
#include "text/human.h"

namespace almanac::cli::mcp {
namespace {

constexpr auto kForecastPatience = std::chrono::seconds(5);
constexpr int kLookAgain_ms = 50;
constexpr int kNotYet = 204;

constexpr const char* kJobAbout = "Job id: \"17\", or \"12_3\" for a task of an array.";

Json text_schema(const std::string& about) { return {{"type", "string"}, {"description", about}}; }

Json texts_schema(const std::string& about) {
  return {{"type", "array"}, {"items", {{"type", "string"}}}, {"description", about}};
}

Result<Json> ask(const ServiceOptions& service, const std::string& path) {
  auto client = service.client();
  if (!client) return tl::unexpected(client.error());
  return ask_json(*client, path);
}

/// What the service would answer, as JSON.
Json parsed(const std::string& text) { return Json::parse(text, nullptr, false); }

/// The text of `json`, for readers of the service's answers.
std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// The path of a job, of its id; anything else would be another path.
Result<std::string> path_of(const Arguments& arguments) {
  const std::string job = text_argument(arguments, "job");
  if (job.empty() || job.find_first_not_of("0123456789_") != std::string::npos) {
    return fail(Code::usage, fmt::format("`job` must be a job id, found \"{}\"", job), {},
                "give 17, or 12_3 for a task of an array");
  }
  return "/v1/jobs/" + job;
}

/// Asks until there is a forecast, which the service computes in the background.
template <typename Asking>
Result<std::optional<service::Expected>> await_forecast(const Asking& ask_once,
                                                        const process::Bell& stop) {
  const auto until = std::chrono::steady_clock::now() + kForecastPatience;
  for (;;) {
    const Result<serve::Client::Said> said = ask_once();
    if (!said) return tl::unexpected(said.error());
    if (said->status != kNotYet) {
      const auto expected = serve::read_expected(said->body);
      if (!expected) return tl::unexpected(expected.error());
      return std::optional(*expected);
    }
    pollfd wait{stop.get(), POLLIN, 0};
    const bool is_stopped = ::poll(&wait, 1, kLookAgain_ms) > 0;
    if (is_stopped || std::chrono::steady_clock::now() > until)
      return std::optional<service::Expected>();
  }
}

std::string name_of(const serve::ListedJob& listed) {
  const store::Submission& asked = listed.view.job.asked;
  return fmt::format("Job {}{} of {}", listed.id,
                     asked.name.empty() ? "" : fmt::format(" ({})", asked.name), asked.user);
}

/// State, why it waits, and when it starts or ends, in one sentence.
std::string state_of(const serve::ListedJob& listed, Time now) {
  const service::JobView& view = listed.view;
  std::string text = fmt::format("{} is {}{}", name_of(listed), trace::to_string(view.job.state),
                                 view.job.held ? ", held" : "");
  if (!view.why.empty()) text += ": " + view.why;
  if (view.job.end != kNoTime) {
    if (!view.job.reason.empty()) text += ": " + view.job.reason;
    text += fmt::format("; it ended {}", clock_text(view.job.end, now));
  } else if (view.expected) {
    const bool runs = view.job.state == trace::JobState::running;
    text += "; it " + (runs ? end_in_words(*view.expected, now) : in_words(*view.expected, now));
  }
  return text + ".";
}

Result<Answer> cluster_status(const ServiceOptions& service, const Arguments& arguments) {
  auto json = ask(service, "/v1/overview");
  if (!json) return tl::unexpected(json.error());
  const auto overview = serve::read_overview(text_of(*json));
  if (!overview) return tl::unexpected(overview.error());
  Answer made{
      .sentence = fmt::format(
          "{} of {} GPUs are allocated; {} and {} under policy {}{}.", overview->gpus_busy,
          overview->gpus,
          text::counted(static_cast<std::uint64_t>(overview->running), "job runs", "jobs run"),
          text::counted(static_cast<std::uint64_t>(overview->waiting), "waits", "wait"),
          overview->policy,
          overview->warnings.empty()
              ? ""
              : fmt::format(". Warning: {}", fmt::join(overview->warnings, "; ")))};
  made.data["overview"] = *std::move(json);
  if (arguments.value("nodes", false)) {
    auto nodes = ask(service, "/v1/nodes");
    if (!nodes) return tl::unexpected(nodes.error());
    made.data.update(*nodes);
  }
  return made;
}

/// Sort key: running jobs, then waiting jobs in the order of the policy, then held jobs.
auto order_of(const Json& job) {
  const bool runs = job.value("state", "") == "RUNNING";
  return std::tuple(!runs, runs ? 0 : job.value("place", std::numeric_limits<std::int64_t>::max()),
                    job.value("number", std::int64_t{0}));
}

Result<Answer> queue_of(const ServiceOptions& service, const Arguments& arguments) {
  auto client = service.client();
  if (!client) return tl::unexpected(client.error());
  serve::Client::Query query;
  for (const char* each : {"user", "state", "name"}) {
    if (arguments.contains(each)) query.emplace_back(each, text_argument(arguments, each));
  }
  auto all = ask_jobs(*client, std::move(query));
  if (!all) return tl::unexpected(all.error());
  auto jobs = all->at("jobs").get<std::vector<Json>>();
  std::sort(jobs.begin(), jobs.end(),
            [](const Json& a, const Json& b) { return order_of(a) < order_of(b); });
  const auto running = std::count_if(jobs.begin(), jobs.end(), [](const Json& each) {
    return each.value("state", "") == "RUNNING";
  });
  const auto held = std::count_if(jobs.begin(), jobs.end(), [](const Json& each) {
    return each.value("state", "") == "PENDING" && !each.contains("place");
  });
  const auto limit = static_cast<std::size_t>(arguments.value("limit", 50));
  const std::size_t shown = std::min(limit, jobs.size());
  Answer made{.sentence = fmt::format("{} running, {} waiting{}.", text::counted(running, "job"),
                                      static_cast<std::int64_t>(jobs.size()) - running - held,
                                      held > 0 ? fmt::format(", {} held", held) : "")};
  if (shown < jobs.size())
    made.sentence = fmt::format("{} Only the first {} are listed.", made.sentence, shown);
  made.data["left_off"] = jobs.size() - shown;
  made.data["jobs"] = Json::array();
  for (std::size_t at = 0; at < shown; ++at) made.data["jobs"].push_back(std::move(jobs[at]));
  return made;
}

Result<Answer> job_of(const ServiceOptions& service, const Arguments& arguments) {
  const auto path = path_of(arguments);
  if (!path) return tl::unexpected(path.error());
  auto json = ask(service, *path);
  if (!json) return tl::unexpected(json.error());
  const auto listed = serve::read_job(text_of(*json));
  if (!listed) return tl::unexpected(listed.error());
  return Answer{.sentence = state_of(*listed, wall_clock()), .data = *std::move(json)};
}

Result<Answer> explain_live_job(const ServiceOptions& service, const Arguments& arguments) {
  const auto path = path_of(arguments);
  if (!path) return tl::unexpected(path.error());
  auto json = ask(service, *path + "/explain");
  if (!json) return tl::unexpected(json.error());
  const auto lines = serve::read_explanation(text_of(*json));
  if (!lines) return tl::unexpected(lines.error());
  return Answer{.sentence = fmt::format("{}", fmt::join(*lines, " ")), .data = *std::move(json)};
}

Result<Answer> forecast_of(const ServiceOptions& service, const Arguments& arguments,
                           const process::Bell& stop) {
  const auto path = path_of(arguments);
  if (!path) return tl::unexpected(path.error());
  auto client = service.client();
  if (!client) return tl::unexpected(client.error());
  const auto job = client->get(*path);
  if (!job) return tl::unexpected(job.error());
  const auto listed = serve::read_job(job->body);
  if (!listed) return tl::unexpected(listed.error());
  const Time now = wall_clock();
  if (listed->view.job.end != kNoTime) return Answer{.sentence = state_of(*listed, now)};
  const auto expected = await_forecast([&] { return client->get(*path + "/forecast"); }, stop);
  if (!expected) return tl::unexpected(expected.error());
  if (!*expected) {
    return Answer{.sentence =
                      fmt::format("{} is {}; the service has no forecast of it.", name_of(*listed),
                                  trace::to_string(listed->view.job.state))};
  }
  const bool runs = listed->view.job.state == trace::JobState::running;
  Answer made{
      .sentence = fmt::format("{} {}", name_of(*listed),
                              runs ? end_in_words(**expected, now) : in_words(**expected, now)),
      .data = parsed(serve::to_json(**expected))};
  if ((*expected)->other_gpus) {
    for (const service::WithGpus& each : *(*expected)->other_gpus)
      made.sentence += "; " + in_words(each, now);
  }
  made.sentence += ".";
  return made;
}

Result<Answer> alternatives(const ServiceOptions& service, const Arguments& arguments) {
  auto client = service.client();
  if (!client) return tl::unexpected(client.error());
  serve::WhatIf what{.vcs = texts_argument(arguments, "vc"),
                     .limits = texts_argument(arguments, "time"),
                     .gpu_type = text_argument(arguments, "gpu_type"),
                     .cpus = text_argument(arguments, "cpus"),
                     .memory = text_argument(arguments, "mem"),
                     .name = text_argument(arguments, "name")};
  for (const Arguments& each : arguments.value("gpus", Arguments::array()))
    what.gpus.push_back(each.get<int>());
  const Time now = wall_clock();
  const auto shapes = serve::foresee(*client, what, now);
  if (!shapes) return tl::unexpected(shapes.error());
  Answer made;
  made.data["alternatives"] = Json::array();
  const serve::Shape* best = nullptr;
  for (const serve::Shape& each : *shapes) {
    Json row = {{"vc", each.asked.vc}, {"gpus", each.asked.gpus}};
    if (each.asked.time_limit != kNoDuration) row["time_limit_s"] = seconds(each.asked.time_limit);
    row["expected"] = parsed(serve::to_json(*each.expected));
    made.data["alternatives"].push_back(std::move(row));
    // Ends are not compared: the run time of each request is that of other jobs.
    const bool is_known = each.expected->start_by != kNoTime;
    if (is_known && (best == nullptr || each.expected->start_by < best->expected->start_by))
      best = &each;
  }
  made.sentence =
      best == nullptr
          ? "No forecast is known for these requests."
          : fmt::format("Of {}, {}{}{} starts first: it {}.",
                        text::counted(shapes->size(), "request"),
                        text::counted(static_cast<std::uint64_t>(best->asked.gpus), "GPU"),
                        best->asked.vc.empty() ? "" : " in " + best->asked.vc,
                        best->asked.time_limit == kNoDuration
                            ? ""
                            : fmt::format(" with a limit of {}",
                                          text::human_time(seconds(best->asked.time_limit))),
                        in_words(*best->expected, now));
  return made;
}

Result<Answer> usage_of(const ServiceOptions& service) {
  auto json = ask(service, "/v1/tenants");
  if (!json) return tl::unexpected(json.error());
  const auto tenancy = serve::read_tenancy(text_of(*json));
  if (!tenancy) return tl::unexpected(tenancy.error());
  const auto& all = tenancy->tenants;
  const auto most = std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.used_gpu_s < b.used_gpu_s;
  });
  if (most == all.end())
    return Answer{.sentence = "No one has requested a GPU yet.", .data = *std::move(json)};
  return Answer{.sentence = fmt::format(
                    "In the last {}, {} {} used the most: {:.3g} GPU-hours{}.",
                    text::human_time(seconds(tenancy->to - tenancy->from)),
                    tenancy->by_tenant ? "tenant" : "user",
                    most->name.empty() ? "(others)" : most->name, most->used_gpu_s / 3600,
                    most->fair_share_gpu_s > 0
                        ? fmt::format(" of a fair share of {:.3g}", most->fair_share_gpu_s / 3600)
                        : ""),
                .data = *std::move(json)};
}

}  // namespace

std::string text_argument(const Arguments& arguments, const char* name) {
  return arguments.value(name, std::string());
}

std::vector<std::string> texts_argument(const Arguments& arguments, const char* name) {
  return arguments.value(name, std::vector<std::string>());
}

Result<std::optional<service::Expected>> foresee_submission(serve::Client& client,
                                                            const store::Submission& asked,
                                                            const process::Bell& stop) {
  const std::string body = serve::to_json(asked);
  return await_forecast([&] { return client.post("/v1/forecast", body); }, stop);
}

std::vector<Tool> live_tools(const ServiceOptions& service) {
  const Json job = {{"job", text_schema(kJobAbout)}};
  std::vector<Tool> tools;
  tools.push_back(
      {.name = "cluster_status",
       .title = "Cluster status",
       .about = "Allocated GPUs, running and waiting jobs, policy and warnings of the service.",
       .arguments = {{"nodes",
                      {{"type", "boolean"},
                       {"description", "Also list the nodes, their GPUs and the jobs on them."}}}},
       .call = [service](const Arguments& a, const auto&) { return cluster_status(service, a); }});
  tools.push_back(
      {.name = "queue",
       .title = "Queue",
       .about = "Running jobs, then waiting jobs in the order in which the policy would start "
                "them, with "
                "why they wait and expected starts. Keys ending in _s are seconds since 1970.",
       .arguments = {{"user", text_schema("Only jobs of this user.")},
                     {"state",
                      text_schema("Only jobs in this state: PD (pending) or R (running).")},
                     {"name", text_schema("Only jobs with this name.")},
                     {"limit",
                      {{"type", "integer"},
                       {"minimum", 1},
                       {"maximum", 1000},
                       {"description", "Jobs to list at most (default 50)."}}}},
       .call = [service](const Arguments& a, const auto&) { return queue_of(service, a); }});
  tools.push_back(
      {.name = "show_job",
       .title = "Show a job",
       .about = "What a job requests, its state, allocation, usage, and expected start and end.",
       .arguments = job,
       .required = {"job"},
       .call = [service](const Arguments& a, const auto&) { return job_of(service, a); }});
  tools.push_back({.name = "explain_job",
                   .title = "Why a job waits",
                   .about = "Why a job is waiting, or how it ended.",
                   .arguments = job,
                   .required = {"job"},
                   .call = [service](const Arguments& a, const auto&) {
                     return explain_live_job(service, a);
                   }});
  tools.push_back(
      {.name = "forecast_job",
       .title = "When a job starts",
       .about = "When a job is expected to start and end, with 90 % intervals, also with other "
                "numbers of GPUs if its scaling is known.",
       .arguments = job,
       .required = {"job"},
       .call = [service](const Arguments& a, const process::Bell& stop) {
         return forecast_of(service, a, stop);
       }});
  tools.push_back(
      {.name = "what_if",
       .title = "What would start sooner",
       .about =
           "When a job would start and end if it were submitted now, for each combination of GPUs, "
           "time limit and virtual cluster, at most 32. Submits nothing.",
       .arguments = {{"gpus",
                      {{"type", "array"},
                       {"items", {{"type", "integer"}, {"minimum", 0}, {"maximum", 100000}}},
                       {"description", "Numbers of GPUs (default 1)."}}},
                     {"time", texts_schema("Time limits such as \"2:00:00\" (default: none).")},
                     {"vc", texts_schema("Virtual clusters (default: all).")},
                     {"gpu_type", text_schema("GPU type.")},
                     {"cpus", text_schema("CPU cores.")},
                     {"mem", text_schema("Memory, such as \"32G\".")},
                     {"name", text_schema("Job name; past run times of this name count.")}},
       .call = [service](const Arguments& a, const auto&) { return alternatives(service, a); }});
  tools.push_back({.name = "usage",
                   .title = "Who uses what",
                   .about = "GPUs and GPU time of each tenant or user, against fair share.",
                   .call = [service](const Arguments&, const auto&) { return usage_of(service); }});
  return tools;
}

}  // namespace almanac::cli::mcp
