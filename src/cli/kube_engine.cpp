// SPDX-License-Identifier: Apache-2.0
#include "cli/kube_engine.h"

#include <filesystem>
#include <utility>

#include "cli/option_group.h"
#include "cli/value_check.h"
#include "steer_kube/kube_service.h"

namespace almanac::cli {

void KubeEngine::add_to(CLI::App& command) {
  kube.add_to(command);
  const InGroup group(command, Group::cluster);
  command
      .add_option("--order-field", field,
                  "What lever order writes to workloads that wait: spec.priority, or the "
                  "annotation of Kueue's gate PriorityBoost (default: priority)")
      ->type_name("FIELD")
      ->check(one_of({"priority", "boost"}));
  command
      .add_option("--canary", canary,
                  "ClusterQueues in which lever order acts (default: all that share no cohort)")
      ->type_name("QUEUE,...")
      ->check(kube_names());
  command
      .add_option("--backfill", backfill,
                  "StrictFIFO ClusterQueues that lever order may order, with a reservation for the "
                  "workload that each waits for. Such a queue waits several times as long once "
                  "Almanac stops (default: none)")
      ->type_name("QUEUE,...")
      ->check(kube_names());
  command.add_option("--exempt", exempt, "Namespaces whose workloads are never touched")
      ->type_name("NAMESPACE,...")
      ->check(kube_names());
  command
      .add_option("--lease-namespace", lease_space,
                  "Namespace of the Lease by which one service at a time writes (default: "
                  "almanac)")
      ->type_name("NAMESPACE")
      ->check(kube_name());
  command
      .add_option("--user-label", user_label,
                  "Label of workloads that names the user (default: the namespace is the user)")
      ->type_name("LABEL");
  command.add_flag("--fair", is_fair,
                   "Kueue's configuration has fairSharing on, which no object shows");
}

bool KubeEngine::is_told_anything() const {
  return !kube.access.kubeconfig.empty() || !kube.access.context.empty() ||
         !kube.access.url.empty() || !field.empty() || !canary.empty() || !backfill.empty() ||
         !exempt.empty() || !lease_space.empty() || !user_label.empty() || is_fair;
}

Result<std::unique_ptr<service::Service>> KubeEngine::open(const std::string& state,
                                                           const std::string& order) const {
  if (!backfill.empty() && (order.empty() || order == "off")) {
    return fail(Code::usage,
                "--backfill requires --order on or dry: a StrictFIFO queue that the lever does not "
                "order waits several times as long",
                {}, "add --order on, or --order dry to see what the lever would write");
  }
  steer_kube::Config config;
  config.state = std::filesystem::absolute(state).lexically_normal();
  config.connect = [options = kube] { return options.client(); };
  steer_kube::Settings& settings = config.settings;
  if (order == "on") settings.order = service::Switch::on;
  if (order == "off") settings.order = service::Switch::off;
  if (field == "boost") settings.field = steer_kube::Field::boost;
  if (!lease_space.empty()) settings.lease_space = lease_space;
  settings.user_label = user_label;
  settings.is_fair = is_fair;
  settings.canary = names_in(canary);
  settings.backfill = names_in(backfill);
  settings.exempt = names_in(exempt);
  auto service = steer_kube::KubeService::open(std::move(config));
  if (!service) return tl::unexpected(service.error());
  return std::unique_ptr<service::Service>(std::move(*service));
}

}  // namespace almanac::cli
