// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac kube undo: takes back all numbers that lever order wrote to workloads.
#include <memory>

#include <fmt/format.h>

#include "cli/kube_options.h"
#include "kube/left_alone.h"
#include "serve/client.h"
#include "steer_kube/undo.h"
#include "text/human.h"

namespace almanac::cli {
namespace {

struct KubeUndoOptions {
  KubeOptions kube;
  steer_kube::UndoOptions undo{.state = serve::default_state()};
};

Result<int> undo_order(const KubeUndoOptions& options) {
  auto client = options.kube.client();
  if (!client) return tl::unexpected(client.error());
  const auto done = steer_kube::undo(options.undo, *client);
  if (!done) return tl::unexpected(done.error());
  if (!done->has_journal) {
    note(
        fmt::format("{} has no journal: the annotation almanac/order of each workload says what "
                    "was written to it",
                    options.undo.state));
  }
  if (!done->lease.empty()) {
    note(
        fmt::format("whether a service still runs is unknown, and one that does would write its "
                    "numbers again: {}",
                    done->lease));
  }
  fmt::print("{} taken back\n", text::counted(static_cast<std::uint64_t>(done->changes), "change"));
  for (const std::string& each : done->alone) note(kube::left_alone(each));
  for (const std::string& each : done->left) note(each);
  if (done->left.empty()) return kDone;
  return fail(Code::unavailable,
              fmt::format("{} could not be taken back",
                          text::counted(static_cast<std::uint64_t>(done->left.size()), "change")),
              {},
              done->lacks_right ? "almanac kube doctor lists the rights that are missing"
                                : "run the command again");
}

}  // namespace

void register_kube_undo(Program& program) {
  CLI::App& command = *kube_noun(program).add_subcommand(
      "undo", "Take back what lever order wrote; the service must not run");
  const auto options = std::make_shared<KubeUndoOptions>();
  options->kube.add_to(command);
  command.add_option("--state", options->undo.state, "State directory of the service")
      ->type_name("DIR")
      ->capture_default_str();
  command
      .add_option("--lease-namespace", options->undo.lease_space,
                  "Namespace of the service's Lease: undo refuses while a service holds it")
      ->type_name("NAMESPACE")
      ->check(kube_name())
      ->capture_default_str();
  command.add_flag("--force", options->undo.is_forced,
                   "Undo although a service holds the Lease; one that runs writes its numbers "
                   "again");
  add_example(command, "almanac kube undo --state /var/lib/almanac");
  program.on(command, [options] { return undo_order(*options); });
}

}  // namespace almanac::cli
