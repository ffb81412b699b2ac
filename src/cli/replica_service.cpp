// SPDX-License-Identifier: Apache-2.0
#include "cli/replica_service.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <limits>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "cli/config.h"
#include "cli/draft_submission.h"
#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/replica_bounds.h"
#include "cli/value_check.h"
#include "inference/scaled.h"
#include "policy/kit/keeping.h"
#include "policy/registry.h"
#include "process/job.h"
#include "replicas/front.h"
#include "replicas/keeper.h"
#include "replicas/status.h"
#include "serve/replica_jobs.h"
#include "serve/view_json.h"
#include "text/duration.h"

namespace almanac::cli {
namespace {

/// "ttft=500ms,tpot=50ms".
Result<replicas::Tally::Objective> objective(const std::string& told) {
  constexpr double kAny = std::numeric_limits<double>::infinity();
  replicas::Tally::Objective made{kAny, kAny};
  for (std::size_t at = 0; at < told.size();) {
    const std::size_t end = std::min(told.find(',', at), told.size());
    const std::string each = told.substr(at, end - at);
    at = end + 1;
    const std::size_t equals = each.find('=');
    const std::string key = each.substr(0, equals);
    const bool has_value = equals != std::string::npos;
    const Duration length =
        text::parse_duration(has_value ? each.substr(equals + 1) : "").value_or(Duration{0});
    if ((key != "ttft" && key != "tpot") || length <= Duration{0} || length == text::kUnlimited) {
      return fail(Code::usage, fmt::format("--slo must be an objective, found \"{}\"", each), {},
                  "for example ttft=500ms,tpot=50ms, or one of them");
    }
    (key == "ttft" ? made.first_s : made.each_s) = seconds(length);
  }
  return made;
}

Result<Duration> first_byte_timeout(const std::string& told) {
  const auto read = text::parse_duration(told);
  if (read && *read > Duration{0} && *read != text::kUnlimited) return *read;
  return fail(Code::usage, fmt::format("--first-byte-timeout must be a time, found \"{}\"", told),
              {}, "for example 90s or 10:00");
}

/// What a scaler takes for granted, microseconds.
constexpr inference::Micros kColdStart = 30e6;

std::atomic<bool> stops = false;
void stop_now(int) { stops = true; }

/// Waits so long, or until it is to stop.
void rest(Duration time) {
  const auto until = std::chrono::steady_clock::now() + time;
  constexpr std::chrono::milliseconds kLook{100};
  while (!stops && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(kLook);
}

Result<std::string> own_program() {
  std::error_code failed;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return fail(Code::unavailable, "cannot find the path of this program");
  return self;
}

/// Whether an option is about the service's job rather than a replica's.
bool is_of_service(const std::string& asked) {
  static const char* const kNames[] = {"--name",      "--out",  "--err",
                                       "--directory", "--hold", "--begin"};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](const char* name) { return asked.substr(0, asked.find('=')) == name; });
}

}  // namespace

void ReplicaService::add_to(CLI::App& command) {
  const InGroup group(command, Group::replicas);
  command
      .add_option("--replicas", replicas,
                  "Replicas: a fixed number, or a range such as 1..4 for autoscaling")
      ->type_name("N|A..B")
      ->capture_default_str();
  command.add_option("--slo", objective, "Latency objective, such as ttft=500ms,tpot=50ms")
      ->type_name("KEY=TIME,...");
  command.add_option("--port", port, "Port on 127.0.0.1 (default 0: any free port)")
      ->check(whole_number(0, 65535))
      ->capture_default_str();
  command.add_option("--scaler", scaler, "Autoscaling rule; see almanac help serving")
      ->capture_default_str();
  command
      .add_option("--rate", rate,
                  "Requests per second that one replica serves within the objective")
      ->check(positive_number());
  command.add_option("--health", health, "Path that a ready replica answers with status 200")
      ->type_name("PATH")
      ->capture_default_str();
  command
      .add_option("--at-once", at_once, "Limit on concurrent requests of a replica; others queue")
      ->check(whole_number(1, 10'000))
      ->capture_default_str();
  command
      .add_option("--first-byte-timeout", first_byte_timeout,
                  "Answer 504 if a replica sends nothing for this long")
      ->type_name("TIME")
      ->capture_default_str();
}

Result<void> ReplicaService::check() const {
  if (const auto read = read_replica_bounds("--replicas", replicas); !read)
    return tl::unexpected(read.error());
  if (const auto read = ::almanac::cli::objective(objective); !read) {
    return tl::unexpected(read.error());
  }
  if (const auto made = inference::make_scaler(scaler, {.replica_requests_per_s = rate}); !made) {
    Error error = made.error();
    error.code = Code::usage;
    if (rate <= 0) error.hint = "use --rate, or another --scaler: " + error.hint;
    return tl::unexpected(error);
  }
  if (const auto read = ::almanac::cli::first_byte_timeout(first_byte_timeout); !read) {
    return tl::unexpected(read.error());
  }
  if (!health.starts_with('/')) {
    return fail(Code::usage, fmt::format("--health must be a path, found \"{}\"", health), {},
                "for example /health");
  }
  return {};
}

std::vector<std::string> ReplicaService::words() const {
  std::vector<std::string> made = {"--replicas",
                                   replicas,
                                   "--scaler",
                                   scaler,
                                   "--health",
                                   health,
                                   "--port",
                                   std::to_string(port),
                                   "--at-once",
                                   std::to_string(at_once),
                                   "--first-byte-timeout",
                                   first_byte_timeout};
  if (rate > 0) made.insert(made.end(), {"--rate", fmt::format("{}", rate)});
  if (!objective.empty()) made.insert(made.end(), {"--slo", objective});
  return made;
}

Result<store::Submission> service_job(const ReplicaService& service, const ServiceOptions& place,
                                      const std::string& name,
                                      const std::vector<std::string>& asked,
                                      const std::vector<std::string>& command) {
  if (const auto checked = service.check(); !checked) return tl::unexpected(checked.error());
  auto base = base_submission();
  if (!base) return base;
  const auto self = own_program();
  if (!self) return tl::unexpected(self.error());
  base->name = name;
  base->argv = {*self, "service"};
  for (std::string& word : service.words()) base->argv.push_back(std::move(word));
  if (!place.place.socket.empty())
    base->argv.insert(base->argv.end(), {"--socket", place.place.socket});
  if (!place.place.url.empty()) base->argv.insert(base->argv.end(), {"--url", place.place.url});
  if (!place.place.token.empty()) base->environment.push_back("ALMANAC_TOKEN=" + place.place.token);
  base->argv.insert(base->argv.end(), {"--name", name});
  if (service.port > 0 && place_in_force(place.place, configuration()).url.empty() &&
      replicas::free_port(service.port) == 0) {
    return fail(Code::unavailable, fmt::format("port {} of 127.0.0.1 is in use", service.port), {},
                "use another --port; 0 takes any free port");
  }
  std::vector<std::string> own;
  for (const std::string& each : asked) {
    if (is_of_service(each)) {
      own.push_back(each);
      continue;
    }
    // Where jobs run and by which rules counts for both.
    if (each.starts_with("--vc=") || each.starts_with("--qos=")) own.push_back(each);
    if (each.starts_with("--array") || each.starts_with("--after")) {
      return fail(Code::usage, fmt::format("{} cannot be used with --service", each), {},
                  "the number of replicas is set by --replicas");
    }
    base->argv.push_back("--each=" + each);
  }
  base->argv.push_back("--");
  base->argv.insert(base->argv.end(), command.begin(), command.end());
  auto job = with_asked(*std::move(base), own);
  if (!job) return job;
  // The router needs no GPU itself, and starts again after a restart of the machine.
  job->gpus = 0;
  job->requeue = trace::Requeue::yes;
  job->kept = true;
  job->endless = true;
  // A router that was killed takes its replicas over when it runs again.
  constexpr std::int32_t kRetries = 100;
  job->retries = kRetries;
  return job;
}

Result<void> judge_replicas(serve::Client& client, const std::vector<std::string>& asked,
                            const std::vector<std::string>& command) {
  auto base = base_submission();
  if (!base) return tl::unexpected(base.error());
  base->argv = command;
  std::vector<std::string> of_replicas = asked;
  std::erase_if(of_replicas, is_of_service);
  const auto replica = with_asked(*std::move(base), of_replicas);
  if (!replica) return tl::unexpected(replica.error());
  return check_submission(*replica).and_then([&] { return client.judge(*replica); });
}

Result<int> run_in_place(const std::vector<std::string>& command) {
  constexpr int kMostInARow = 3;
  constexpr Duration kLong = 1min, kGrace = 10min;  // who sent SIGTERM kills sooner
  std::signal(SIGINT, stop_now);
  std::signal(SIGTERM, stop_now);
  for (int in_a_row = 0; in_a_row < kMostInARow;) {
    const auto began = std::chrono::steady_clock::now();
    auto job = process::Job::start({.argv = command});
    if (!job) return tl::unexpected(job.error());
    while (!stops && !job->ended()) rest(Duration{100});
    // A signal to all of the job's processes may be seen here after its effect.
    if (job->ended()) rest(1s);
    const auto how = job->ended();
    job->end(stops ? kGrace : Duration{0});
    if (stops) return kDone;
    in_a_row = std::chrono::steady_clock::now() - began > kLong ? 0 : in_a_row + 1;
    note(fmt::format("the replica exited by itself ({}); restarting it", to_string(*how)));
  }
  return fail(Code::unavailable, "the replica exited three times within a minute of its start");
}

std::string risk_of_replicas(serve::Client& client, const ReplicaService& service) {
  const auto said = client.get("/v1/policy");
  const auto name = said ? serve::read_policy(said->body) : tl::unexpected(said.error());
  const auto bounds = read_replica_bounds("--replicas", service.replicas);
  if (!name || !bounds || bounds->least == bounds->most) return "";
  const auto composition = policy::registry().compose(*name);
  if (!composition || !policy::keeps_apart(*composition)) return "";
  return fmt::format(
      "policy {} may preempt replicas for other jobs, except the minimum of --replicas ({})", *name,
      bounds->least);
}

Result<int> run_service(const ReplicaService& service, const ServiceOptions& place,
                        const std::string& name, const std::vector<std::string>& asked,
                        const std::vector<std::string>& command) {
  if (const auto checked = service.check(); !checked) return tl::unexpected(checked.error());
  if (command.empty()) {
    return fail(Code::usage, "no command for the replicas is given", {},
                "almanac service [options] -- COMMAND...; {port} in it is a replica's port");
  }
  auto base = base_submission();
  if (!base) return tl::unexpected(base.error());
  const auto self = own_program();
  if (!self) return tl::unexpected(self.error());
  base->argv = {*self, "service", "--in-place", "--"};
  base->argv.insert(base->argv.end(), command.begin(), command.end());
  auto replica = with_asked(*std::move(base), asked);
  if (!replica) return tl::unexpected(replica.error());
  replica->name = name;
  replica->endless = true;
  auto client = place.client();
  if (!client) return tl::unexpected(client.error());
  const ReplicaBounds few = *read_replica_bounds("--replicas", service.replicas);
  serve::ReplicaJobs jobs(*std::move(client), *std::move(replica));
  replicas::Pool pool({.at_once = service.at_once});
  replicas::Tally tally(*objective(service.objective));
  auto scaler = inference::make_scaler(service.scaler, {.least = few.least,
                                                        .most = few.most,
                                                        .replica_requests_per_s = service.rate,
                                                        .cold_start = kColdStart});
  if (!scaler) return tl::unexpected(scaler.error());
  replicas::Keeper keeper(jobs, pool, *std::move(scaler),
                          {.least = few.least, .most = few.most, .health = service.health});
  if (const auto begun = keeper.begin(); !begun) return tl::unexpected(begun.error());
  auto front = replicas::Front::start(
      service.port, pool, tally, [&] { return replicas::status_json(name, pool, tally, keeper); },
      {.first_byte = *first_byte_timeout(service.first_byte_timeout)});
  if (!front) return tl::unexpected(front.error());
  std::signal(SIGINT, stop_now);
  std::signal(SIGTERM, stop_now);
  note(fmt::format("{} listens on http://127.0.0.1:{}; its status is at /almanac/status", name,
                   (*front)->port()));
  const auto ran = keeper.run(stops);
  pool.shut();
  front->reset();
  keeper.end();
  const replicas::Tally::Seen seen = tally.seen();
  note(fmt::format("{} has stopped: {} requests, {} answered, {} refused, {} interrupted, {} left",
                   name, seen.accepted, seen.fates[0], seen.fates[1], seen.fates[2],
                   seen.fates[3]));
  if (!ran) return tl::unexpected(ran.error());
  return kDone;
}

}  // namespace almanac::cli
