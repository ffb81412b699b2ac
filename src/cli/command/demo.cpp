// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac demo: a service with its own folder and GPUs that exist only in its configuration. Users
/// of a generated workload submit jobs, an hour of it per minute; the jobs are real processes that
/// sleep.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <memory>
#include <span>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "base/wall_clock.h"
#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/value_check.h"
#include "energy/power_file.h"
#include "experiment/profile.h"
#include "machine/local_service.h"
#include "machine/power.h"
#include "perf/catalogue_file.h"
#include "policy/recommended.h"
#include "report/dashboard.h"
#include "serve/server.h"
#include "service/policies.h"
#include "sim/simulation.h"
#include "store/log.h"
#include "store/store.h"
#include "trace/generate.h"
#include "trace/generate_plan.h"
#include "trace/workload_file.h"
#include "trace/workload_preset.h"

namespace almanac::cli {

void register_demo(Program& program);

namespace {

constexpr int kNodes = 2;
constexpr int kGpusOfNode = 8;
/// GPU time that is asked for, over what there is: a queue forms and drains.
constexpr double kLoad = 0.9;
/// The preset is a log of 1,064 GPUs, in which a third of the jobs ask 8. One of those would wait
/// for half of this cluster to become free, and keep it idle meanwhile.
constexpr int kMostGpus = kNodes * kGpusOfNode / 4;
/// Longer sleeps would show nothing new.
constexpr double kLongest_s = 4 * 3600;
/// Are there from the beginning, so that there is something to see.
constexpr std::ptrdiff_t kAtOnce = 30;
/// Have ended already.
constexpr std::ptrdiff_t kPast = 2'000;
constexpr std::int64_t kJobsOfPreset = 20'000;

struct DemoOptions {
  std::string policy = policy::kRecommended;
  double speedup = 120;
  std::uint64_t seed = 1;
};

/// What is submitted, and how long after the start of the demo.
struct Arrival {
  double at_s = 0;
  Duration run{};
  trace::JobState state = trace::JobState::completed;
  store::Submission asked{};
};

struct Day {
  std::vector<store::Job> past{};  ///< Jobs that have ended when the demo begins.
  std::vector<Arrival> to_come{};
};

/// The first arrivals as they would have come, waited and run here until now, so that there is a
/// history to look at and to learn from.
std::vector<store::Job> made_up_past(const std::vector<Arrival>& arrivals,
                                     const cluster::Cluster& cluster) {
  const Time now = wall_clock();
  const auto begun = [&](const Arrival& arrival) {
    return now - Duration{std::llround(1e3 * (arrivals.back().at_s - arrival.at_s))};
  };
  std::vector<store::Job> made;
  trace::Trace log;
  for (const Arrival& arrival : arrivals) {
    store::Job& job = made.emplace_back();
    job.number = store::JobNumber{static_cast<std::int64_t>(made.size())};
    job.asked = arrival.asked;
    job.submit = begun(arrival);
    trace::Job& record = log.jobs.emplace_back(store::record_of(job, log.names));
    record.outcome.run = arrival.run;
    record.outcome.state = arrival.state;
  }
  const auto policy = experiment::make_policy(*service::compose(policy::kRecommended), log);
  const sim::Schedule schedule = sim::simulate(log, cluster, **policy, {});
  const Duration ago = std::max(Duration{0}, schedule.finish - now) + 1s;
  for (std::size_t at = 0; at < made.size(); ++at) {
    const sim::JobResult result = schedule.jobs[at];
    store::Job& job = made[at];
    job.submit -= ago;
    job.start = result.start - ago;
    job.since = job.start;
    job.end = result.end - ago;
    job.attained = result.ran;
    job.attempts = 1;
    job.state = arrivals[at].state;
    const auto grants = std::span(schedule.grants).subspan(result.first_grant, result.num_grants);
    job.held_gpus.assign(grants.begin(), grants.end());
  }
  return made;
}

Result<Day> made_up_day(const DemoOptions& options, const cluster::Cluster& cluster) {
  auto workload = trace::parse_workload(*trace::preset("venus"), "venus.toml");
  if (!workload) return tl::unexpected(workload.error());
  const trace::Trace log =
      trace::generate(trace::stretched(*std::move(workload), kJobsOfPreset), options.seed);
  std::vector<Arrival> made;
  double gpu_s = 0;
  for (const trace::Job& job : log.jobs) {
    const trace::Request& request = job.request;
    if (request.gpus < 1 || request.gpus > kMostGpus) continue;
    const double run_s = std::clamp(seconds(job.outcome.run), 60.0, kLongest_s) / options.speedup;
    store::Submission asked{.name = std::string(log.names[request.name]),
                            .user = std::string(log.names[request.user])};
    asked.uid = ::geteuid();
    asked.gid = ::getegid();
    asked.gpus = request.gpus;
    const bool fails = job.outcome.state == trace::JobState::failed;
    asked.argv = {"sh", "-c", fmt::format("sleep {:.2f}; exit {}", run_s, fails ? 1 : 0)};
    asked.directory = "/";
    asked.environment = {"PATH=/usr/bin:/bin"};
    asked.out = "/dev/null";
    asked.grace = 1s;
    gpu_s += request.gpus * run_s;
    made.push_back({.run = Duration{std::llround(run_s * 1e3)},
                    .state = fails ? trace::JobState::failed : trace::JobState::completed,
                    .asked = std::move(asked)});
  }
  // Jobs arrive as in the log, thinned until the GPUs can nearly keep up.
  const double span_s = gpu_s / (kLoad * kNodes * kGpusOfNode);
  const double apart_s = span_s / static_cast<double>(made.size());
  const auto to_come = made.begin() + kPast;
  for (auto each = made.begin(); each != made.end(); ++each) {
    const auto place = each < to_come ? each - made.begin()
                                      : std::max<std::ptrdiff_t>(0, each - to_come - kAtOnce);
    each->at_s = apart_s * static_cast<double>(place);
  }
  return Day{.past = made_up_past({made.begin(), to_come}, cluster),
             .to_come = {to_come, made.end()}};
}

/// A minute each, as a service would have looked.
std::vector<store::Moment> moments_of(const std::vector<store::Job>& past,
                                      const cluster::Cluster& cluster,
                                      const energy::PowerModel& power) {
  std::vector<store::Moment> made;
  Time last{};
  for (const store::Job& job : past) last = std::max(last, job.end);
  for (Time at = past.front().submit; at < last; at += 1min) {
    store::Moment moment{.at = at, .gpus = cluster.gpus(), .gpu_use = std::nan("")};
    std::vector<cluster::Grant> held;
    for (const store::Job& job : past) {
      if (job.submit > at || job.end <= at) continue;
      const bool runs = job.start <= at;
      ++(runs ? moment.jobs_running : moment.jobs_waiting);
      if (!runs) continue;
      moment.gpus_busy += job.asked->gpus;
      held.insert(held.end(), job.held_gpus.begin(), job.held_gpus.end());
    }
    moment.power_w = machine::modelled_w(power, cluster, held);
    moment.power_is_measured = false;
    made.push_back(moment);
  }
  return made;
}

/// Charges each job with what its GPUs drew by the model.
void charge(std::vector<store::Job>& past, const cluster::Cluster& cluster,
            const energy::PowerModel& power) {
  for (store::Job& job : past) {
    for (const cluster::Grant& grant : job.held_gpus) {
      job.energy.modelled_j += grant.count() * machine::modelled_gpu_w(power, cluster, grant.node) *
                               seconds(job.attained);
    }
    job.energy.counted_to = job.end;
  }
}

/// Puts the past into the store that the service will find.
Result<void> keep_past(const std::string& state, const std::vector<store::Job>& past,
                       const std::vector<store::Moment>& moments) {
  std::error_code failed;
  std::filesystem::create_directories(state, failed);
  auto store = store::Store::open(state + "/almanac.db");
  if (!store) return tl::unexpected(store.error());
  store::Store::Batch batch;
  for (const store::Job& job : past) batch.put(job);
  for (const store::Moment& moment : moments) batch.sample(moment);
  return store->commit(batch);
}

machine::Machine made_up_machine() {
  machine::Machine made;
  made.cluster = cluster::uniform(kNodes, kGpusOfNode);
  for (int node = 0; node < kNodes; ++node) {
    made.cluster.nodes[static_cast<std::size_t>(node)].name = fmt::format("demo{}", node + 1);
    std::vector<std::string>& names = made.gpu_names.emplace_back();
    for (int gpu = 0; gpu < kGpusOfNode; ++gpu) names.push_back(std::to_string(gpu));
    made.driver_numbers.emplace_back(kGpusOfNode);
  }
  made.notes = {"a demo: its GPUs are simulated and its jobs sleep"};
  return made;
}

std::atomic<bool> demo_stops = false;
service::Service* demo_service = nullptr;  // of the signal handler

void stop_demo(int) {
  demo_stops = true;
  demo_service->wake();
}

void submit_all(service::Service& service, const std::vector<Arrival>& day) {
  const auto begun = std::chrono::steady_clock::now();
  for (const Arrival& arrival : day) {
    const auto at = begun + std::chrono::duration_cast<std::chrono::milliseconds>(
                                std::chrono::duration<double>(arrival.at_s));
    while (!demo_stops && std::chrono::steady_clock::now() < at) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    if (demo_stops) return;
    static_cast<void>(service.submit(arrival.asked));
  }
}

/// So that nothing is left running.
void cancel_all(service::Service& service, std::thread& deciding, std::atomic<bool>& end) {
  const service::Caller all{.uid = ::geteuid(), .may_all = true};
  const auto unfinished = [&] { return service.jobs().value_or(std::vector<service::JobView>()); };
  for (const service::JobView& job : unfinished()) {
    static_cast<void>(service.cancel({job.job.number}, all, false));
  }
  while (!unfinished().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  end = true;
  service.wake();
  deciding.join();
}

Result<int> run(const DemoOptions& options, int port) {
  machine::Machine machine = made_up_machine();
  auto day = made_up_day(options, machine.cluster);
  if (!day) return tl::unexpected(day.error());
  std::string folder = (std::filesystem::temp_directory_path() / "almanac-demo-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    return fail(Code::unavailable, "cannot create a temporary directory", {.file = folder});
  }
  auto power = energy::read_power("dgx1");
  if (!power) return tl::unexpected(power.error());
  auto speeds = perf::read_catalogue(perf::kUsualCatalogue);
  if (!speeds) return tl::unexpected(speeds.error());
  charge(day->past, machine.cluster, *power);
  const auto moments = moments_of(day->past, machine.cluster, *power);
  if (const auto kept = keep_past(folder + "/state", day->past, moments); !kept) {
    return tl::unexpected(kept.error());
  }
  {
    const auto service = machine::open_local_service(
        {.state = folder + "/state",
         .machine = std::move(machine),
         .policy = options.policy,
         .policy_is_told = true,
         .shadow = "fifo",
         .seed = options.seed,
         .speeds = std::make_shared<const perf::Catalogue>(*std::move(speeds)),
         .power = *std::move(power)});
    if (!service) return tl::unexpected(service.error());
    const auto server = serve::Server::start(
        **service, {.listen = serve::Address{.port = port}, .page = report::dashboard()});
    if (!server) return tl::unexpected(server.error());
    const Time now = wall_clock();
    demo_service = service->get();
    std::signal(SIGINT, stop_demo);
    std::signal(SIGTERM, stop_demo);
    std::atomic<bool> end = false;
    std::thread deciding([&] { (*service)->run(end); });
    fmt::print("{} simulated GPUs, {} jobs to come; one hour takes {:.0f} s\n",
               kNodes * kGpusOfNode, day->to_come.size(), 3600 / options.speedup);
    fmt::print("Dashboard  http://127.0.0.1:{}/\n", *(*server)->port());
    fmt::print("Commands   ALMANAC_SOCKET={} almanac queue\n", (*server)->socket());
    const auto token = (*server)->tokens().make(
        {.name = "demo", .uid = ::geteuid(), .scope = serve::Scope::operate, .expires = now + 24h},
        now);
    if (!token) return tl::unexpected(token.error());
    fmt::print("API token  {}\n", token->secret);
    fmt::print("Stop       Ctrl-C (removes all files)\n");
    std::fflush(stdout);
    submit_all(**service, day->to_come);
    while (!demo_stops) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
    cancel_all(**service, deciding, end);
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return kDone;
}

}  // namespace

void register_demo(Program& program) {
  CLI::App& command =
      program.command(Purpose::run, "demo", "Open a dashboard with simulated GPUs, users and jobs");
  const auto options = std::make_shared<DemoOptions>();
  const auto port = std::make_shared<int>(0);
  command.add_option("--port", *port, "Port of the dashboard on 127.0.0.1 (0: any free port)")
      ->check(whole_number(0, 65535))
      ->group(heading(Group::connection));
  command.add_option("--policy", options->policy, "Scheduling policy")
      ->type_name("POLICY")
      ->check(policy_name())
      ->capture_default_str()
      ->group(heading(Group::policies));
  command.add_option("--speedup", options->speedup, "Seconds of workload per second")
      ->check(number(1.0, 100'000.0))
      ->capture_default_str();
  command.add_option("--seed", options->seed, "Random seed of the workload")
      ->check(seed_number())
      ->capture_default_str();
  add_example(command, "almanac demo --port 8317 --policy easy");
  program.on(command, [options, port] { return run(*options, *port); });
}

}  // namespace almanac::cli
