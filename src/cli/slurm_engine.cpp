// SPDX-License-Identifier: Apache-2.0
#include "cli/slurm_engine.h"

#include <filesystem>
#include <utility>

#include "cli/option_group.h"
#include "cli/value_check.h"
#include "slurm/connect.h"
#include "steer_slurm/slurm_service.h"

namespace almanac::cli {

void SlurmEngine::add_to(CLI::App& command) {
  const InGroup group(command, Group::slurm);
  command.add_option("--way", way, slurm::kWays)->type_name("WAY")->check(slurm_way());
  command
      .add_option("--levers", levers,
                  "TOML file of what Almanac may change in Slurm, see docs/guide/slurm_levers.md "
                  "(default: every lever is dry: it only shows what it would do)")
      ->type_name("FILE");
  command
      .add_option("--order", order,
                  "State of lever order, by which the policy orders the queue of Slurm or Kueue "
                  "(default: as in the file, or dry)")
      ->type_name("SWITCH")
      ->check(one_of({"off", "dry", "on"}));
  command
      .add_option(
          "--agents", agents,
          "Address for the agents of nodes (almanac agent), for the levers slimming and idle")
      ->type_name("HOST:PORT")
      ->check(host_and_port());
  command.add_option("--agent-secret", agent_secret, "Secret shared with the agents")
      ->type_name("FILE")
      ->capture_default_str();
}

Result<std::unique_ptr<service::Service>> SlurmEngine::open(const std::string& state,
                                                            const std::string& policy,
                                                            const std::string& shadow,
                                                            Speeds speeds) const {
  steer::Config config;
  config.state = std::filesystem::absolute(state).lexically_normal();
  config.shadow = shadow;
  config.speeds = std::move(speeds);
  config.agents = agents;
  config.agent_secret = agent_secret;
  if (!policy.empty()) {
    config.policy = policy;
    config.policy_is_told = true;
  }
  if (!levers.empty()) {
    auto settings = steer::read_settings(levers);
    if (!settings) return tl::unexpected(settings.error());
    config.settings = std::move(*settings);
  }
  if (!order.empty()) {
    const auto how = steer::parse_switch(order);
    if (!how) return tl::unexpected(how.error());
    config.settings.levers["order"] = *how;
  }
  auto link = slurm::connect(way);
  if (!link) return tl::unexpected(link.error());
  config.connect = [way = way] { return slurm::connect(way); };
  auto service = steer_slurm::SlurmService::open(std::move(config), std::move(*link));
  if (!service) return tl::unexpected(service.error());
  return std::unique_ptr<service::Service>(std::move(*service));
}

}  // namespace almanac::cli
