// SPDX-License-Identifier: Apache-2.0
#include "cli/service_use.h"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/wall_clock.h"
#include "cli/job_list.h"
#include "serve/view_json.h"
#include "store/asked_gpus.h"

namespace almanac::cli {
namespace {

constexpr double kNotTold = std::numeric_limits<double>::quiet_NaN();

study::JobUse use_of(const serve::ListedJob& listed, Time now) {
  const store::Job& job = listed.view.job;
  const bool runs = job.state == trace::JobState::running;
  study::JobUse made{.id = listed.id,
                     .name = job.asked->name,
                     .user = job.asked->user,
                     .partition = job.asked->vc,
                     .state = std::string(trace::to_string(job.state)),
                     .submit = job.submit,
                     .elapsed = job.attained + (runs ? now - job.since : Duration{0}),
                     .limit = job.asked->time_limit,
                     .cores = job.asked->cpus.value_or(kNotTold),
                     .gpus = store::gpus_of(job.asked),
                     .memory_gb = job.asked->memory_gb.value_or(kNotTold),
                     .cores_used = kNotTold,
                     .memory_used_gb = kNotTold,
                     .gpu_type = job.asked->gpu_type};
  const auto is_known = [&](double seen_s) {
    return seen_s > 0 && 2 * seen_s >= seconds(made.elapsed);
  };
  const store::Used& used = job.used;
  if (is_known(used.core_seen_s)) made.cores_used = used.core_s / used.core_seen_s;
  if (is_known(used.gpu_seen_s) && made.gpus > 0) made.gpu_use = used.gpu_s / used.gpu_seen_s;
  if (used.most_memory_gb > 0) made.memory_used_gb = used.most_memory_gb;
  if (listed.view.gpu_memory_gb >= 0) made.gpu_memory_gb = listed.view.gpu_memory_gb;
  if (job.energy.total_j() > 0) made.energy_j = job.energy.total_j();
  return made;
}

}  // namespace

Result<std::vector<study::JobUse>> use_of_jobs(const ServiceOptions& service, Time since,
                                               const std::string& user) {
  auto client = service.client();
  if (!client) return tl::unexpected(client.error());
  serve::Client::Query query;
  if (!user.empty()) query.emplace_back("user", user);
  const Time now = wall_clock();
  std::vector<study::JobUse> made;
  serve::Client::Query running = query;
  running.emplace_back("state", "RUNNING");
  const auto run = list_jobs(*client, running);
  if (!run) return tl::unexpected(run.error());
  for (const serve::ListedJob& each : *run) made.push_back(use_of(each, now));
  query.emplace_back("since", fmt::format("{}", seconds(since)));
  const auto ended = list_ended(*client, query);
  if (!ended) return tl::unexpected(ended.error());
  for (const serve::ListedJob& each : *ended) made.push_back(use_of(each, now));
  std::erase_if(made, [](const study::JobUse& job) { return job.elapsed <= Duration{0}; });
  return made;
}

Result<std::vector<study::JobUse>> use_of_job(const ServiceOptions& service,
                                              const std::string& number) {
  auto client = service.client();
  if (!client) return tl::unexpected(client.error());
  const auto said = client->get("/v1/jobs/" + number);
  if (!said) return tl::unexpected(said.error());
  const auto job = serve::read_job(said->body);
  if (!job) return tl::unexpected(job.error());
  study::JobUse use = use_of(*job, wall_clock());
  if (use.elapsed <= Duration{0}) return fail(Code::usage, "job " + number + " has not run");
  return std::vector{std::move(use)};
}

}  // namespace almanac::cli
