// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac serve: the service of this machine, or of a Slurm or Kubernetes cluster, until SIGTERM
/// or Ctrl-C.
/// Running jobs continue, and the next service takes them over.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <malloc.h>
#include <unistd.h>

#include "base/step_back.h"
#include "base/wall_clock.h"
#include "boxes/head.h"
#include "cli/kube_engine.h"
#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/simulated_gpus.h"
#include "cli/slurm_engine.h"
#include "cli/value_check.h"
#include "energy/power_file.h"
#include "machine/box.h"
#include "machine/local_service.h"
#include "machine/power.h"
#include "perf/catalogue_file.h"
#include "policy/recommended.h"
#include "policy/registry.h"
#include "process/oom_score.h"
#include "process/open_files.h"
#include "report/dashboard.h"
#include "serve/client.h"
#include "serve/server.h"
#include "service/log.h"
#include "service/notify.h"
#include "service/policies.h"
#include "shepherd/record.h"
#include "steer/policies.h"
#include "steer_kube/known.h"
#include "text/duration.h"
#include "text/number.h"

namespace almanac::cli {
namespace {

/// Power model of simulations without --power.
constexpr const char* kPower = "dgx1";
/// Clients may use one in this many of the service's descriptors; the rest is for jobs.
constexpr std::uint64_t kClientsPart = 4;
constexpr Duration kLongestGrace = 24h * 7;
constexpr Duration kLongestRequeue = 24h * 90;
constexpr Duration kLongestAgeCap = 24h * 365;

struct ServeOptions {
  std::string state = serve::default_state();
  std::string cluster;
  std::string policy;
  std::string shadow;
  std::string listen;
  std::string certificate;
  std::string key;
  bool plain = false;
  std::string speed;
  std::string power;
  std::string max_grace;
  std::string requeue_for;
  std::string age_cap;
  std::string limits;
  std::string idle;
  std::string hooks;
  std::string engine = "machine";
  SlurmEngine slurm;
  KubeEngine kube;
  int gpus = -1;
  bool make_instances = false;
  bool boxes = false;
};

std::atomic<bool> service_stops = false;
std::atomic<bool> service_begins_again = false;  // a box has joined: the cluster has new nodes
service::Service* running_service = nullptr;     // of the signal handler

void on_hangup(int) { running_service->reload(); }

void stop_service(int) {
  service_begins_again = false;
  service_stops = true;
  running_service->wake();
}

/// The nodes of all boxes. Those of a damaged box are its nodes as last known.
Result<machine::Machine> machine_of(const std::vector<boxes::Head::Joined>& all) {
  machine::Machine made = machine::head_of_boxes();
  for (const boxes::Head::Joined& each : all) {
    const auto added = each.is_damaged ? machine::add_damaged_box(made, each.name, each.cluster)
                                       : machine::add_box(made, each.name, each.hardware);
    if (!added) return tl::unexpected(added.error());
  }
  return made;
}

/// As machine_of(), of boxes that have joined: those that cannot be read are marked as damaged.
Result<machine::Machine> machine_of(boxes::Head& head, const std::string& state) {
  machine::Machine readable = machine::head_of_boxes();
  std::map<std::string, std::string> clusters;
  for (const boxes::Head::Joined& each : head.boxes()) {
    if (machine::add_box(readable, each.name, each.hardware)) {
      clusters[each.name] = machine::cluster_of_box(each.hardware);
      continue;
    }
    service::log_warning(fmt::format(
        "boxes.json: the hardware of box {} cannot be read; no job starts there until it reports",
        each.name));
  }
  if (const auto kept = head.keep_clusters(clusters); !kept) {
    service::log_warning(to_string(kept.error()));
  }
  auto made = machine_of(head.boxes());
  if (made) return made;
  return fail(Code::corrupt,
              fmt::format("the nodes of a box cannot be read: {}", made.error().message),
              {.file = state + "/boxes.json"},
              "restore the file from a backup; without it, the head cannot know on which boxes "
              "its jobs run");
}

/// Fails unless `all` can be the next cluster: nodes that jobs may hold must keep their numbers.
Result<void> can_follow(const std::vector<std::string>& nodes_before,
                        const std::vector<boxes::Head::Joined>& all) {
  const auto next = machine_of(all);
  if (!next) return tl::unexpected(next.error());
  if (next->boxes.size() < nodes_before.size() ||
      !std::equal(nodes_before.begin(), nodes_before.end(), next->boxes.begin())) {
    return fail(Code::invalid, "a box cannot have another number of nodes than before", {},
                "join under another name with --name");
  }
  return {};
}

/// The head of boxes in the state folder of `config`, with their nodes in its cluster.
Result<std::unique_ptr<boxes::Head>> open_head(machine::Config& config) {
  auto head =
      boxes::Head::open(config.state, {.since_boot = shepherd::since_boot, .wall = wall_clock},
                        [](const std::string& line) { service::log_info(line); });
  if (!head) return head;
  auto machine = machine_of(**head, config.state);
  if (!machine) return tl::unexpected(machine.error());
  config.machine = *std::move(machine);
  config.silent_boxes = [head = head->get()] { return head->without_new_runs(); };
  config.gone_boxes = [head = head->get()] { return head->gone(); };
  (*head)->on_join(
      {.fits = [before = config.machine.boxes](const auto& all) { return can_follow(before, all); },
       .joined =
           [] {
             if (service_stops.exchange(true)) return;
             service_begins_again = true;
             running_service->wake();
           }});
  return head;
}

/// "127.0.0.1:PORT", "[::1]:PORT", "localhost:PORT", "PORT"; with a certificate any address.
Result<serve::Address> read_address(const ServeOptions& options) {
  const std::string& listen = options.listen;
  const std::size_t colon = listen.rfind(':');
  std::string host = colon == std::string::npos ? "127.0.0.1" : listen.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host == "localhost") host = "127.0.0.1";
  const std::string text = colon == std::string::npos ? listen : listen.substr(colon + 1);
  // The option has checked that there is a port.
  serve::Address made{.host = std::move(host), .port = static_cast<int>(*text::parse_whole(text))};
  if (!made.is_here() && options.certificate.empty() && !options.plain) {
    return fail(
        Code::usage,
        fmt::format("--listen {} would send data and tokens unencrypted to other machines", listen),
        {},
        "add --tls-cert and --tls-key; or --plain if the network is private or a proxy encrypts");
  }
  return made;
}

/// Null where nothing is told of how jobs scale.
Result<SlurmEngine::Speeds> read_speeds(const ServeOptions& options) {
  if (options.speed.empty()) return SlurmEngine::Speeds{};
  auto speeds = perf::read_catalogue(options.speed);
  if (!speeds) return tl::unexpected(speeds.error());
  return std::make_shared<const perf::Catalogue>(*std::move(speeds));
}

Result<machine::Config> read_config(const ServeOptions& options) {
  if (options.make_instances && ::geteuid() != 0) {
    return fail(Code::usage, "--make-instances requires root");
  }
  auto machine = options.boxes ? Result<machine::Machine>(machine::head_of_boxes())
                               : machine::find_machine(options.cluster, options.make_instances);
  if (!machine) return tl::unexpected(machine.error());
  if (options.gpus >= 0) {
    if (const auto set = set_gpus(*machine, options.gpus); !set) return tl::unexpected(set.error());
  }
  machine::Config config{.state = std::filesystem::absolute(options.state).lexically_normal(),
                         .machine = *std::move(machine)};
  if (options.boxes) config.policy = machine::kDefaultPolicyOfBoxes;
  if (!options.policy.empty()) {
    config.policy = options.policy;
    config.policy_is_told = true;
  }
  config.shadow = options.shadow;
  auto speeds = read_speeds(options);
  if (!speeds) return tl::unexpected(speeds.error());
  config.speeds = *std::move(speeds);
  auto power = energy::read_power(options.power.empty() ? kPower : options.power);
  if (!power) return tl::unexpected(power.error());
  config.power = *std::move(power);
  // The options have checked that these are times.
  if (!options.max_grace.empty()) config.max_grace = *text::parse_duration(options.max_grace);
  if (!options.requeue_for.empty()) config.requeue_for = *text::parse_duration(options.requeue_for);
  if (!options.age_cap.empty()) {
    const Duration cap = *text::parse_duration(options.age_cap);
    config.age_cap = cap > Duration{0} ? cap : kNoDuration;
  }
  if (!options.limits.empty()) {
    auto limits = machine::read_limits(options.limits);
    if (!limits) return tl::unexpected(limits.error());
    config.limits = *std::move(limits);
  }
  if (!options.idle.empty()) {
    auto idle = service::read_idle_rule(options.idle);
    if (!idle) return tl::unexpected(idle.error());
    config.idle = *std::move(idle);
  }
  if (!options.hooks.empty()) {
    auto hooks = machine::read_hooks(options.hooks);
    if (!hooks) return tl::unexpected(hooks.error());
    config.hooks = *std::move(hooks);
  }
  // Last: a wrong option leaves no directory behind.
  std::error_code failed;
  std::filesystem::create_directories(options.state, failed);
  if (failed) {
    return fail(Code::unavailable, fmt::format("cannot create the directory: {}", failed.message()),
                {.file = options.state}, "choose another directory with --state");
  }
  return config;
}

/// Fails if a policy is unknown, its file is wrong, or the engine cannot run it.
Result<void> check_policies(const ServeOptions& options) {
  for (const std::string& each : {options.policy, options.shadow}) {
    if (each.empty()) continue;
    if (options.engine == "slurm") {
      if (const auto made = steer::compose(each); !made) return tl::unexpected(made.error());
    } else if (const auto made = service::compose(each); !made) {
      return tl::unexpected(made.error());
    }
  }
  return {};
}

/// Fails if an option is only for jobs that the service runs itself.
Result<void> check_no_machine(const ServeOptions& options) {
  if (!options.cluster.empty() || options.gpus >= 0 || !options.power.empty() ||
      !options.max_grace.empty() || !options.requeue_for.empty() || !options.age_cap.empty() ||
      !options.limits.empty() || !options.idle.empty() || !options.hooks.empty() ||
      options.make_instances || options.boxes) {
    return fail(
        Code::usage,
        "--boxes, --cluster, --gpus, --power, --max-grace, --requeue-for, --age-cap, --limits, "
        "--idle, --hooks and --make-instances require --engine machine",
        {}, "a Slurm or Kubernetes cluster describes itself, and its power is not measured");
  }
  return {};
}

/// `open_files`: that a job may have open.
/// Opens `head`, which must outlive the service, if boxes may join.
Result<std::unique_ptr<service::Service>> open_service(const ServeOptions& options,
                                                       std::uint64_t open_files,
                                                       std::unique_ptr<boxes::Head>& head) {
  if (const auto known = check_policies(options); !known) return tl::unexpected(known.error());
  if (options.engine != "machine") {
    if (const auto fits = check_no_machine(options); !fits) return tl::unexpected(fits.error());
  }
  if (options.engine != "kubernetes" && options.kube.is_told_anything()) {
    return fail(Code::usage,
                "--kubeconfig, --context, --server, --order-field, --canary, --backfill, --exempt, "
                "--lease-namespace, --user-label and --fair require --engine kubernetes",
                {}, "add --engine kubernetes");
  }
  if (options.engine == "kubernetes") {
    if (!options.policy.empty() || !options.shadow.empty() || !options.speed.empty() ||
        options.slurm.is_told_more_than_order()) {
      return fail(Code::usage,
                  "--policy, --shadow, --speed, --way, --levers and --agents are not for --engine "
                  "kubernetes",
                  {}, fmt::format("its order is that of policy {}", steer_kube::kPolicy));
    }
    return options.kube.open(options.state, options.slurm.order);
  }
  if (options.engine == "slurm") {
    auto speeds = read_speeds(options);
    if (!speeds) return tl::unexpected(speeds.error());
    return options.slurm.open(options.state, options.policy, options.shadow, *std::move(speeds));
  }
  if (options.slurm.is_told_anything()) {
    return fail(
        Code::usage,
        "--way, --levers and --agents require --engine slurm, and --order requires --engine "
        "slurm or kubernetes",
        {}, "add --engine slurm or --engine kubernetes");
  }
  auto config = read_config(options);
  if (!config) return tl::unexpected(config.error());
  config->open_files = open_files;
  if (options.boxes) {
    auto opened = open_head(*config);
    if (!opened) return tl::unexpected(opened.error());
    head = *std::move(opened);
  } else {
    machine::limit_gpus(config->machine);
  }
  for (const std::string& each : config->machine.notes) service::log_info(each);
  service::log_info(fmt::format("resource limits are enforced by: {}", config->machine.limits_by));
  return machine::open_local_service(*std::move(config));
}

Result<int> run(const ServeOptions& options) {
  // A pool of memory for each thread that ever answered would hold several times what is in use.
  ::mallopt(M_ARENA_MAX, 2);
  // Where malloc begins to ask the kernel for each piece, and gives it back when it is freed.
  // Unless told it raises that as tables grow, and keeps what they leave behind.
  constexpr int kPiece = 128 << 10;
  ::mallopt(M_MMAP_THRESHOLD, kPiece);
  std::optional<serve::Address> listen;
  if (options.boxes && options.listen.empty()) {
    return fail(Code::usage, "--boxes requires --listen, where boxes report", {},
                "add --listen HOST:PORT with --tls-cert and --tls-key");
  }
  if (!options.listen.empty()) {
    auto read = read_address(options);
    if (!read) return tl::unexpected(read.error());
    listen = *std::move(read);
  }
  if (options.boxes && listen->port == 0) {
    return fail(Code::usage,
                fmt::format("--boxes requires a port that stays, not --listen {}", options.listen),
                {}, "boxes report to that port, also after the service was restarted");
  }
  // Where memory is short the kernel ends jobs before it ends what looks after them; shepherds have
  // it from us, and jobs their own.
  constexpr int kOfServices = -500;
  process::set_oom_score(kOfServices);
  // Each job takes one as long as it runs, and each client.
  const std::uint64_t open_files = process::raise_open_files();
  std::unique_ptr<boxes::Head> head;
  const auto service = [&] {
    const service::Beginning beginning;
    return open_service(options, open_files, head);
  }();
  if (!service) return tl::unexpected(service.error());
  serve::Config serving{.listen = listen,
                        .certificate = options.certificate,
                        .key = options.key,
                        .page = report::dashboard(),
                        .head = head.get()};
  serving.limits.connections =
      std::min<std::size_t>(serving.limits.connections, process::most_open_files() / kClientsPart);
  running_service = service->get();  // a box may join as soon as the server answers
  const auto server = serve::Server::start(**service, std::move(serving));
  if (!server) return tl::unexpected(server.error());
  std::signal(SIGINT, stop_service);
  std::signal(SIGTERM, stop_service);
  std::signal(SIGHUP, on_hangup);
  const service::Overview overview = (*service)->overview();
  for (const std::string& each : {overview.policy, overview.shadow}) {
    // Kueue decides there, and lever order predicts run times.
    if (options.engine == "kubernetes") break;
    const bool gives_speeds = options.engine == "slurm" && !options.speed.empty();
    if (const std::string words = service::live_note(each, gives_speeds); !words.empty())
      service::log_warning(words);
  }
  service::log_info(fmt::format("listening on {}", (*server)->socket()));
  if ((*server)->port()) {
    service::log_info(fmt::format(
        "listening on {}://{}:{}/; changes and logs require a token (almanac token create)",
        options.certificate.empty() ? "http" : "https", listen->in_url(), *(*server)->port()));
    if (!listen->is_here() && options.certificate.empty()) {
      service::log_warning(
          "connections are not encrypted (--plain), so others on the network can read tokens");
    }
  }
  service::tell_ready(
      fmt::format("policy {}, listening on {}", overview.policy, (*server)->socket()));
  (*service)->run(service_stops);
  service::tell_stopping();
  // What low priority is at is waited for, and the next service waits for this one.
  step_forward();
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  return kDone;
}

/// Serves until it is stopped. When a box joins, the service begins again with its nodes; jobs go
/// on as after any restart.
Result<int> run_again(const ServeOptions& options) {
  for (;;) {
    auto done = run(options);
    if (!done || !service_begins_again.exchange(false)) return done;
    service_stops = false;
  }
}

}  // namespace

void register_serve(Program& program) {
  CLI::App& command =
      program.command(Purpose::run, "serve",
                      "Start the scheduling service of a machine, Slurm or Kubernetes cluster");
  const auto options = std::make_shared<ServeOptions>();
  command.add_option("--state", options->state, "State directory")
      ->type_name("DIR")
      ->capture_default_str();
  CLI::Option* const cluster =
      command
          .add_option("--cluster", options->cluster,
                      "Cluster file of this machine (default: what is found)")
          ->type_name("FILE")
          ->group(heading(Group::cluster));
  command
      .add_option("--gpus", options->gpus,
                  "Number of GPUs to manage; without a driver, of simulated GPUs")
      ->check(whole_number(0, cluster::kMaxGpusPerNode))
      ->excludes(cluster)
      ->group(heading(Group::cluster));
  command
      .add_flag("--make-instances", options->make_instances,
                "Create and remove MIG instances as jobs need them; requires root")
      ->group(heading(Group::cluster));
  command
      .add_flag("--boxes", options->boxes,
                "Run jobs on the boxes that join (almanac join), not on this machine")
      ->excludes(cluster)
      ->excludes("--gpus")
      ->excludes("--make-instances")
      ->group(heading(Group::cluster));
  command
      .add_option(
          "--policy", options->policy,
          fmt::format("Scheduling policy (default: the last one; at first {}, with boxes {}, "
                      "with Slurm {})",
                      machine::kDefaultPolicy, machine::kDefaultPolicyOfBoxes,
                      policy::kRecommended))
      ->type_name("POLICY")
      ->check(policy_name())
      ->group(heading(Group::policies));
  command.add_option("--shadow", options->shadow, "Second policy to compare with it")
      ->type_name("POLICY")
      ->check(policy_name())
      ->group(heading(Group::policies));
  command
      .add_option("--speed", options->speed,
                  "Speed models, to forecast other numbers of GPUs, to show how much jobs slow "
                  "each other on a GPU and, with --engine slurm, to let them share one: a name, or "
                  "a file of almanac profile")
      ->type_name("NAME|FILE")
      ->group(heading(Group::policies));
  command
      .add_option("--listen", options->listen,
                  "Also listen here for the dashboard, API and Prometheus (port 0: any free port); "
                  "addresses that other machines reach require --tls-cert")
      ->type_name("127.0.0.1:PORT")
      ->check(listen_address())
      ->group(heading(Group::connection));
  CLI::Option* const certificate =
      command
          .add_option("--tls-cert", options->certificate, "TLS certificate chain of this host, PEM")
          ->type_name("FILE")
          ->group(heading(Group::connection));
  certificate->needs(command.add_option("--tls-key", options->key, "Key of the certificate, PEM")
                         ->type_name("FILE")
                         ->group(heading(Group::connection))
                         ->needs(certificate));
  command.add_flag("--plain", options->plain, "Allow unencrypted connections from other machines")
      ->group(heading(Group::connection));
  command
      .add_option("--power", options->power,
                  "Power model for nodes that cannot measure (default dgx1)")
      ->type_name("MODEL")
      ->group(heading(Group::cluster));
  command
      .add_option("--max-grace", options->max_grace,
                  "Longest grace period of a job between SIGTERM and SIGKILL (default 15:00)")
      ->type_name("TIME")
      ->check(time_up_to(kLongestGrace))
      ->group(heading(Group::limits));
  command
      .add_option("--requeue-for", options->requeue_for,
                  "Time for which ended jobs can be requeued; their environment, which may hold "
                  "secrets, is stored as long; 0 disables (default 24:00:00)")
      ->type_name("TIME")
      ->check(time_up_to(kLongestRequeue))
      ->group(heading(Group::limits));
  command
      .add_option("--age-cap", options->age_cap,
                  "Wait after which a job goes before all others under any policy; 0 disables "
                  "(default 24:00:00)")
      ->type_name("TIME")
      ->check(time_up_to(kLongestAgeCap))
      ->group(heading(Group::limits));
  command
      .add_option("--limits", options->limits,
                  "TOML file of limits on users (default: 50000 jobs per user, 200000 in total)")
      ->type_name("FILE")
      ->group(heading(Group::limits));
  command
      .add_option("--idle", options->idle,
                  "TOML file of what to do with jobs whose GPUs are idle: dry, notify or requeue "
                  "(default: nothing)")
      ->type_name("FILE")
      ->group(heading(Group::limits));
  command.add_option("--hooks", options->hooks, "TOML file of commands to run on job events")
      ->type_name("FILE")
      ->group(heading(Group::limits));
  command.add_option("--engine", options->engine, "What runs the jobs")
      ->check(one_of({"machine", "slurm", "kubernetes"}))
      ->capture_default_str();
  options->slurm.add_to(command);
  options->kube.add_to(command);
  add_example(command, "almanac serve --policy easy --listen 127.0.0.1:8317");
  add_example(command, "almanac serve --gpus 16 --state /tmp/almanac");
  add_example(command,
              "almanac serve --listen 0.0.0.0:8443 --tls-cert host.pem --tls-key host.key");
  add_example(command,
              "almanac serve --boxes --listen 0.0.0.0:8443 --tls-cert host.pem --tls-key host.key");
  add_example(command, "almanac serve --speed train.csv");
  add_example(command, "almanac serve --engine slurm --state /var/lib/almanac --policy qssf");
  add_example(command, "almanac serve --engine kubernetes --state /var/lib/almanac");
  program.on(command, [options] { return run_again(*options); });
}

}  // namespace almanac::cli
