// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac kube doctor: what of Almanac works on this Kubernetes cluster, what does not, and what
/// to change. It changes nothing.
#include <algorithm>
#include <iterator>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/diagnosis.h"
#include "cli/kube_options.h"
#include "cli/list_options.h"
#include "kube/doctor.h"

namespace almanac::cli {
namespace {

struct KubeDoctorOptions {
  KubeOptions kube;
  std::string lease_space = "almanac";
  ListOptions list;
};

nlohmann::ordered_json kube_document(const kube::Diagnosis& diagnosis) {
  nlohmann::ordered_json document{{"server", diagnosis.server}, {"kueue", diagnosis.kueue}};
  for (const kube::Feature each : kube::kFeatures) {
    document["features"][std::string(to_string(each))] = to_string(diagnosis.of(each));
  }
  document["findings"] = nlohmann::ordered_json::array();
  for (const kube::Finding& each : diagnosis.findings) {
    nlohmann::ordered_json finding{{"what", each.what},
                                   {"found", each.found},
                                   {"verdict", to_string(each.verdict)},
                                   {"means", each.means},
                                   {"to_do", each.to_do},
                                   {"features", nlohmann::ordered_json::array()}};
    for (const kube::Feature feature : each.features)
      finding["features"].push_back(to_string(feature));
    document["findings"].push_back(std::move(finding));
  }
  return document;
}

Result<int> examine_kube(const KubeDoctorOptions& options) {
  auto client = options.kube.client();
  if (!client) return tl::unexpected(client.error());
  const auto diagnosis = kube::diagnose(*client, options.lease_space);
  if (!diagnosis) return tl::unexpected(diagnosis.error());
  if (options.list.wants_document()) {
    fmt::print("{}\n", kube_document(*diagnosis).dump(2));
  } else {
    if (options.list.explains()) {
      fmt::print("Kubernetes {}, Kueue's API {} ({})\n\n", diagnosis->server,
                 diagnosis->kueue.empty() ? "not found" : diagnosis->kueue, client->from());
    }
    const auto shown = options.list.print(
        feature_rows(
            *diagnosis, std::span<const kube::Feature>(kube::kFeatures),
            [](const kube::Finding& each) -> const auto& { return each.features; }),
        findings_in_words(*diagnosis,
                          {Verdict::broken, Verdict::partly, Verdict::unknown, Verdict::fine}));
    if (!shown) return shown;
  }
  return diagnosis->of(kube::Feature::watching) == Verdict::broken ? kCheckFailed : kDone;
}

}  // namespace

void register_kube_doctor(Program& program) {
  CLI::App& command = *kube_noun(program).add_subcommand(
      "doctor", "Check which features of Almanac work on this cluster");
  const auto options = std::make_shared<KubeDoctorOptions>();
  options->kube.add_to(command);
  command
      .add_option("--lease-namespace", options->lease_space,
                  "Namespace of the service's Lease, by which one service at a time writes")
      ->type_name("NAMESPACE")
      ->check(kube_name())
      ->capture_default_str();
  options->list.add_to(command);
  add_example(command, "almanac kube doctor");
  add_example(command, "almanac kube doctor --context prod -o json");
  add_exit_status(command, "1", "Almanac cannot watch this cluster");
  options->list.on(program, command, [options] { return examine_kube(*options); });
}

}  // namespace almanac::cli
