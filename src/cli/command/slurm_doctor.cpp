// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac slurm doctor: what of Almanac works on this Slurm cluster, what does not, and what to
/// change. It queries the controller and changes nothing.
#include <algorithm>
#include <iterator>
#include <memory>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/diagnosis.h"
#include "cli/list_options.h"
#include "cli/value_check.h"
#include "slurm/connect.h"
#include "slurm/doctor.h"

namespace almanac::cli {
namespace {

using slurm::Diagnosis;
using slurm::Finding;
using slurm::Lever;

struct SlurmDoctorOptions {
  std::string way;
  ListOptions list;
};

nlohmann::ordered_json doctor_document(const manager::Site& site, const Diagnosis& diagnosis) {
  nlohmann::ordered_json document;
  document["version"] = site.version;
  document["cluster"] = site.cluster;
  for (const Lever lever : slurm::kLevers) {
    document["levers"][std::string(to_string(lever))] = to_string(diagnosis.of(lever));
  }
  document["findings"] = nlohmann::ordered_json::array();
  for (const Finding& each : diagnosis.findings) {
    nlohmann::ordered_json finding{
        {"what", each.what},   {"found", each.found}, {"verdict", to_string(each.verdict)},
        {"means", each.means}, {"to_do", each.to_do}, {"levers", nlohmann::ordered_json::array()}};
    for (const Lever lever : each.levers) finding["levers"].push_back(to_string(lever));
    document["findings"].push_back(std::move(finding));
  }
  return document;
}

Result<int> doctor(const SlurmDoctorOptions& options) {
  const auto link = slurm::connect(options.way);
  if (!link) return tl::unexpected(link.error());
  auto site = (*link)->site();
  if (!site) {
    // Slurm's own programs say of a silence no more than that it is one.
    if (site.error().code == Code::unavailable && site.error().hint.empty()) {
      site.error().hint = "check slurmctld with scontrol ping, and munge with munge -n | unmunge";
    }
    return tl::unexpected(site.error());
  }
  const auto news = (*link)->news();
  if (!news) return tl::unexpected(news.error());
  const Diagnosis diagnosis = slurm::diagnose(*site, *news, (*link)->can(), (*link)->way());
  if (options.list.wants_document()) {
    fmt::print("{}\n", doctor_document(*site, diagnosis).dump(2));
  } else {
    if (options.list.explains()) {
      fmt::print("Slurm {} of cluster {}\n\n", site->version,
                 site->cluster.empty() ? "(unknown)" : site->cluster);
    }
    const auto shown = options.list.print(
        feature_rows(
            diagnosis, std::span<const Lever>(slurm::kLevers),
            [](const Finding& each) -> const auto& { return each.levers; }),
        findings_in_words(diagnosis,
                          {Verdict::broken, Verdict::partly, Verdict::unknown, Verdict::fine}));
    if (!shown) return shown;
  }
  const bool all_work =
      std::none_of(std::begin(slurm::kLevers), std::end(slurm::kLevers),
                   [&](Lever lever) { return diagnosis.of(lever) == Verdict::broken; });
  return all_work ? kDone : kCheckFailed;
}

}  // namespace

void register_slurm_doctor(Program& program) {
  CLI::App& command =
      *program.noun(Purpose::run, "slurm", "Advise and steer a Slurm cluster")
           .add_subcommand("doctor", "Check which features of Almanac work on this Slurm cluster");
  const auto options = std::make_shared<SlurmDoctorOptions>();
  command.add_option("--way", options->way, slurm::kWays)->type_name("WAY")->check(slurm_way());
  options->list.add_to(command);
  add_example(command, "almanac slurm doctor");
  add_example(command, "almanac slurm doctor --way unix:/run/slurmrestd.sock -o json");
  add_exit_status(command, "1", "A feature does not work here");
  options->list.on(program, command, [options] { return doctor(*options); });
}

}  // namespace almanac::cli
