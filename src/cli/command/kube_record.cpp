// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac kube record: watches a Kueue cluster and adds each run that ends to a job log, because
/// the cluster forgets it. It changes nothing on the cluster.
#include <csignal>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "base/wall_clock.h"
#include "cli/interrupt.h"
#include "cli/kube_options.h"
#include "kube/record.h"
#include "text/human.h"

namespace almanac::cli {
namespace {

struct KubeRecordOptions {
  KubeOptions kube;
  std::string file = "jobs.csv";
  std::string user_label;
};

void sleep_for(Duration pause) {
  constexpr Duration kStep = 100ms;
  for (Duration slept{0}; slept < pause && !interrupted(); slept += kStep) {
    std::this_thread::sleep_for(kStep);
  }
}

Result<int> record_runs(const KubeRecordOptions& options) {
  // A server that goes away while it is asked must not end the recording.
  std::signal(SIGPIPE, SIG_IGN);
  auto client = options.kube.client();
  if (!client) return tl::unexpected(client.error());
  const auto version = kube::find_version(*client);
  if (!version) return tl::unexpected(version.error());
  auto recorder = kube::Recorder::open(options.file, options.user_label, [&] {
    return wall_clock() + client->skew().value_or(Duration{0});
  });
  if (!recorder) return tl::unexpected(recorder.error());
  note(fmt::format("{} has {}; recording until Ctrl-C", options.file,
                   text::counted(static_cast<std::uint64_t>(recorder->rows()), "run")));
  kube::Reflector reflector(kube::path_of(*version, "workloads"),
                            static_cast<std::uint64_t>(wall_clock().time_since_epoch().count()));
  std::string said;
  while (!interrupted()) {
    const auto pause = reflector.round(*client, *recorder, &interrupted());
    if (!pause) return tl::unexpected(pause.error());
    for (const std::string& trouble : {to_string(reflector.trouble()), recorder->trouble()}) {
      const bool is_news = !trouble.empty() && trouble != said && !interrupted();
      if (is_news && (trouble == recorder->trouble() || !reflector.trouble().message.empty())) {
        note(trouble);
        said = trouble;
      }
    }
    sleep_for(*pause);
  }
  fmt::print("{} in {}", text::counted(static_cast<std::uint64_t>(recorder->rows()), "run"),
             options.file);
  if (recorder->lost() > 0) {
    fmt::print("; {} more went while the connection was lost",
               text::counted(static_cast<std::uint64_t>(recorder->lost()), "workload"));
  }
  fmt::print("\n");
  return kDone;
}

}  // namespace

void register_kube_record(Program& program) {
  CLI::App& command = *kube_noun(program).add_subcommand(
      "record", "Add each run that ends to a job log, until Ctrl-C");
  const auto options = std::make_shared<KubeRecordOptions>();
  options->kube.add_to(command);
  command
      .add_option("--out", options->file,
                  "Job log to extend; a recording that was interrupted goes on in it")
      ->type_name("FILE")
      ->capture_default_str();
  command
      .add_option("--user-label", options->user_label,
                  "Label of workloads that names the user (default: the namespace is the user)")
      ->type_name("LABEL");
  add_example(command, "almanac kube record --out jobs.csv");
  program.on(command, [options] { return record_runs(*options); });
}

}  // namespace almanac::cli
