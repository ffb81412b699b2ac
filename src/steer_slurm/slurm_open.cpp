// SPDX-License-Identifier: Apache-2.0

/// \file
/// Starts the service of a Slurm cluster: checks what it needs and loads its earlier state.
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "service/inquest.h"
#include "service/log.h"
#include "service/policies.h"
#include "service/store_owner.h"
#include "steer/lever_registry.h"
#include "steer/undo.h"
#include "steer_slurm/slurm_parts.h"
#include "text/nearest.h"

namespace almanac::steer_slurm {
namespace {

namespace fs = std::filesystem;

/// Reads Slurm's accounting from now on, where it is kept.
Result<void> follow_accounting(steer::Known& known) {
  const auto kept = known.site.parameters.find("AccountingStorageType");
  const bool is_kept =
      kept != known.site.parameters.end() && kept->second == "accounting_storage/slurmdbd";
  if (!is_kept || !known.config.connect) return {};
  auto link = known.config.connect();
  if (!link) return tl::unexpected(link.error());
  const steer::Grouping by = known.config.settings.virtual_clusters;
  const auto vc = by == steer::Grouping::accounts ? accounting::VcFrom::account
                  : by == steer::Grouping::qos    ? accounting::VcFrom::qos
                                                  : accounting::VcFrom::partition;
  known.past = std::make_unique<steer::Past>(known.clock, known.store, std::move(*link),
                                             known.started - known.config.retention, vc);
  return {};
}

}  // namespace

Result<std::unique_ptr<SlurmService>> SlurmService::open(steer::Config config,
                                                         std::unique_ptr<manager::Link> link) {
  std::error_code error;
  fs::create_directories(config.state, error);
  if (error) {
    return fail(Code::unavailable, fmt::format("cannot create the folder: {}", error.message()),
                {.file = config.state});
  }
  std::vector<service::Lock> locks;
  auto folder = service::Lock::take(service::lock_of_folder(config.state), "this folder");
  if (!folder) return tl::unexpected(folder.error());
  locks.push_back(std::move(*folder));
  auto site = link->site();
  if (!site) return tl::unexpected(site.error());
  if (site->federated) {
    return fail(Code::unsupported, fmt::format("cluster {} belongs to a federation", site->cluster),
                {}, "Slurm itself moves jobs within a federation; steer only clusters outside one");
  }
  auto cluster = service::Lock::of_cluster(site->cluster, site->controller);
  if (!cluster) return tl::unexpected(cluster.error());
  locks.push_back(std::move(*cluster));

  auto store = store::Store::open(config.state + "/almanac.db");
  if (!store) return tl::unexpected(store.error());
  service::tell_of_copy(*store);
  if (auto owned = service::own_store(*store, config.state, service::kSlurm); !owned) {
    return tl::unexpected(owned.error());
  }
  if (auto kept =
          service::take_kept_policies(*store, config.policy_is_told, config.policy, config.shadow);
      !kept) {
    return tl::unexpected(kept.error());
  }
  if (const auto gone = store->forget(config.clock->wall() - config.retention); !gone) {
    return tl::unexpected(gone.error());
  }
  auto chosen = steer::compose(config.policy);
  if (!chosen) {
    return tl::unexpected(config.policy_is_told ? chosen.error()
                                                : service::of_kept_policy(chosen.error()));
  }
  if (!config.shadow.empty()) {
    if (const auto shadow = steer::compose(config.shadow); !shadow) {
      service::log_warning(fmt::format(
          "the shadow policy is left out: {}; almanac policy set --shadow sets another one",
          shadow.error().message));
    }
  }
  auto decider = steer::decider_for(std::move(*chosen), *store, config);
  if (!decider) return tl::unexpected(decider.error());
  auto journal = steer::open_journal(config.state);
  if (!journal) return tl::unexpected(journal.error());
  auto switches = steer::read_switches(config.state);
  if (!switches) return tl::unexpected(switches.error());

  std::unique_ptr<steer::Agents> agents;
  if (!config.agents.empty()) {
    auto keys = agent::Keys::read(config.agent_secret);
    if (!keys) return tl::unexpected(keys.error());
    auto listens = steer::Agents::listen(config.agents, std::move(*keys), steer::kAgentPatience,
                                         *config.clock);
    if (!listens) return tl::unexpected(listens.error());
    agents = std::move(*listens);
  }
  auto slimmer = std::make_unique<steer::Slimmer>((*decider)->policy().slimming);

  steer::Driver driver(config.settings, std::move(journal->first), std::move(journal->second));
  steer::LeverParts seen{.slimmer = *slimmer, .present = {}};
  if (agents) seen.present = [&listening = *agents] { return listening.present(); };
  for (const steer::LeverRegistry::Entry& each : steer::levers().entries()) {
    driver.add(each.name, each.make(seen));
  }
  for (const auto& [lever, how] : config.settings.levers) {
    if (driver.knows(lever)) continue;
    return fail(Code::usage, fmt::format("there is no lever {}", lever), {},
                text::meant_or_known(lever, driver.names()));
  }
  for (const service::LeverView& lever : driver.states()) {
    driver.set(lever.name, config.settings.of(lever.name));
  }
  for (const auto& [lever, how] : *switches) driver.set(lever, how);

  auto parts = std::make_unique<Parts>(steer::Opened{.config = std::move(config),
                                                     .store = std::move(*store),
                                                     .site = std::move(*site),
                                                     .decider = std::move(*decider),
                                                     .agents = std::move(agents),
                                                     .slimmer = std::move(slimmer),
                                                     .driver = std::move(driver)},
                                       std::move(locks), std::move(link), std::move(*switches));
  parts->saving.set(service::kPolicyKey, parts->known.config.policy);
  if (auto begun = parts->cluster.begin(); !begun) return tl::unexpected(begun.error());
  if (auto listens = parts->ranking.listen(); !listens) return tl::unexpected(listens.error());
  if (auto follows = follow_accounting(parts->known); !follows) {
    return tl::unexpected(follows.error());
  }
  return std::unique_ptr<SlurmService>(new SlurmService(std::move(parts)));
}

}  // namespace almanac::steer_slurm
