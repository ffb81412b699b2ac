// SPDX-License-Identifier: Apache-2.0

/// \file
/// How the service of a Slurm begins: what must be there, and what is kept from before.
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/wall_clock.h"
#include "service/inquest.h"
#include "service/policies.h"
#include "steer/idle_lever.h"
#include "steer/order_lever.h"
#include "steer/placement_lever.h"
#include "steer/power_lever.h"
#include "steer/preemption_lever.h"
#include "steer/sharing_lever.h"
#include "steer/slimming_lever.h"
#include "steer/slurm_service.h"
#include "steer/undo.h"
#include "steer/watching.h"
#include "text/nearest.h"

namespace almanac::steer {
namespace {

namespace fs = std::filesystem;

Result<std::unique_ptr<Decider>> decider_for(Chosen policy, const store::Store& store,
                                             const Config& config) {
  auto lessons = store.log(wall_clock() - service::kLesson, service::kLessons);
  if (!lessons) return tl::unexpected(lessons.error());
  return std::make_unique<Decider>(std::move(policy), std::move(*lessons), config.seed,
                                   config.speeds);
}

}  // namespace

SlurmService::SlurmService(Config config, store::Store store, std::unique_ptr<slurm::Link> link,
                           slurm::Site site, std::vector<Lock> locks, Driver driver,
                           std::unique_ptr<Decider> decider, std::unique_ptr<Agents> agents,
                           std::unique_ptr<Slimmer> slimmer)
    : config_(std::move(config)),
      store_(std::move(store)),
      link_(std::move(link)),
      site_(std::move(site)),
      locks_(std::move(locks)),
      started_(wall_clock()),
      world_(std::make_shared<const World>()),
      decider_(std::move(decider)),
      agents_(std::move(agents)),
      slimmer_(std::move(slimmer)),
      driver_(std::move(driver)),
      canary_(config_.settings.canary, store_, config_.seed),
      inquest_(std::make_unique<service::Inquest>(
          [this](store::JobNumber job, const std::string& why) { hear_why(job, why); })) {}

Result<void> SlurmService::follow_accounting() {
  const auto kept = site_.parameters.find("AccountingStorageType");
  const bool is_kept =
      kept != site_.parameters.end() && kept->second == "accounting_storage/slurmdbd";
  if (!is_kept || !config_.connect) return {};
  auto link = config_.connect();
  if (!link) return tl::unexpected(link.error());
  const Grouping by = config_.settings.virtual_clusters;
  const auto vc = by == Grouping::accounts ? accounting::VcFrom::account
                  : by == Grouping::qos    ? accounting::VcFrom::qos
                                           : accounting::VcFrom::partition;
  past_ = std::make_unique<Past>(store_, std::move(*link), started_ - config_.retention, vc);
  return {};
}

SlurmService::~SlurmService() = default;

Result<std::unique_ptr<SlurmService>> SlurmService::open(Config config,
                                                         std::unique_ptr<slurm::Link> link) {
  std::error_code error;
  fs::create_directories(config.state, error);
  if (error) {
    return fail(Code::unavailable, fmt::format("cannot make the folder: {}", error.message()),
                {.file = config.state});
  }
  std::vector<Lock> locks;
  auto folder = Lock::take(lock_of_folder(config.state), "this folder");
  if (!folder) return tl::unexpected(folder.error());
  locks.push_back(std::move(*folder));
  auto site = link->site();
  if (!site) return tl::unexpected(site.error());
  if (site->federated) {
    return fail(Code::unsupported, fmt::format("cluster {} is one of a federation", site->cluster),
                {}, "jobs of a federation are moved by Slurm itself; steer clusters by themselves");
  }
  auto cluster = Lock::of_cluster(site->cluster, site->controller);
  if (!cluster) return tl::unexpected(cluster.error());
  locks.push_back(std::move(*cluster));

  auto store = store::Store::open(config.state + "/almanac.db");
  if (!store) return tl::unexpected(store.error());
  service::tell_of_copy(*store);
  if (auto kept =
          service::take_kept_policies(*store, config.policy_is_told, config.policy, config.shadow);
      !kept) {
    return tl::unexpected(kept.error());
  }
  if (const auto gone = store->forget(wall_clock() - config.retention); !gone) {
    return tl::unexpected(gone.error());
  }
  auto chosen = compose(config.policy);
  if (!chosen) return tl::unexpected(chosen.error());
  auto decider = decider_for(std::move(*chosen), *store, config);
  if (!decider) return tl::unexpected(decider.error());
  auto journal = open_journal(config.state);
  if (!journal) return tl::unexpected(journal.error());
  auto switches = read_switches(config.state);
  if (!switches) return tl::unexpected(switches.error());

  std::unique_ptr<Agents> agents;
  if (!config.agents.empty()) {
    auto keys = agent::Keys::read(config.agent_secret);
    if (!keys) return tl::unexpected(keys.error());
    auto listens = Agents::listen(config.agents, std::move(*keys));
    if (!listens) return tl::unexpected(listens.error());
    agents = std::move(*listens);
  }
  auto slimmer = std::make_unique<Slimmer>((*decider)->policy().slimming);

  Driver driver(config.settings, std::move(journal->first), std::move(journal->second));
  driver.add(make_order_lever());
  driver.add(make_placement_lever());
  driver.add(make_sharing_lever());
  Present present;
  if (agents) present = [&listening = *agents] { return listening.present(); };
  driver.add(make_idle_lever(*slimmer, present));
  driver.add(make_slimming_lever(*slimmer, std::move(present)));
  driver.add(make_preemption_lever());
  driver.add(make_power_lever());
  for (const auto& [lever, how] : config.settings.levers) {
    if (driver.knows(lever)) continue;
    return fail(Code::usage, fmt::format("there is no lever {}", lever), {},
                text::meant_or_known(lever, driver.names()));
  }
  std::unique_ptr<SlurmService> made(new SlurmService(
      std::move(config), std::move(*store), std::move(link), std::move(*site), std::move(locks),
      std::move(driver), std::move(*decider), std::move(agents), std::move(slimmer)));
  made->values_.emplace_back(service::kPolicyKey, made->config_.policy);
  for (const service::LeverView& lever : made->driver_.states()) {
    made->driver_.set(lever.name, made->config_.settings.of(lever.name));
  }
  made->switches_ = std::move(*switches);
  for (const auto& [lever, how] : made->switches_) made->driver_.set(lever, how);
  auto news = made->ask_news();
  if (!news) return tl::unexpected(news.error());
  made->take_news(std::move(*news));
  made->decide();
  made->slim();
  made->look_on();
  made->say_status();
  if (auto listens = made->listen_to_newcomers(); !listens) {
    return tl::unexpected(listens.error());
  }
  if (auto follows = made->follow_accounting(); !follows) return tl::unexpected(follows.error());
  return made;
}

Result<std::unique_ptr<Decider>> SlurmService::make_decider(Chosen policy) const {
  return decider_for(std::move(policy), store_, config_);
}

}  // namespace almanac::steer
