// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac kube explain: why a workload waits, which quota is short, and when it is expected to
/// start.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/kube_options.h"
#include "cli/service_options.h"
#include "cli/wall_clock.h"
#include "kube/plain.h"
#include "text/human.h"
#include "text/nearest.h"

namespace almanac::cli {
namespace {

struct KubeExplainOptions {
  OutlookOptions outlook;
  std::string workload;
  std::string output = "table";
};

Result<std::size_t> find_workload(const kube::Picture& picture, const std::string& name) {
  std::vector<std::string> known;
  for (std::size_t at = picture.workloads.size(); at-- > 0;) {
    // The newest of its name; one of an owner too: "team-a/Job train" is "team-a/train".
    const kube::Workload& each = picture.workloads[at];
    const std::string owner = each.name_space + "/" + each.owner.substr(each.owner.find(' ') + 1);
    if (each.full_name() == name || (!each.owner.empty() && owner == name)) return at;
    known.push_back(each.full_name());
  }
  constexpr std::size_t kFew = 10;
  const std::string hint = text::did_you_mean(name, known);
  return fail(Code::not_found, fmt::format("no workload is called {}", kube::plain(name)), {},
              hint.empty() && known.size() <= kFew ? text::meant_or_known(name, known)
              : hint.empty()                       ? "almanac kube queue lists those that wait"
                                                   : hint);
}

std::string start_text(const kube::Outlook& outlook, Time start, Time now) {
  if (start == kNoTime) return "unknown";
  if (start == kNever) return outlook.never_starts ? "never" : "not in the next 30 days";
  return start <= now ? "now" : clock_text(start, now);
}

std::string gpus_text(const kube::Workload& workload) {
  return text::counted(static_cast<std::uint64_t>(workload.gpus()), "GPU");
}

void say_pending(const kube::Picture& picture, const kube::Workload& workload,
                 const kube::Outlook& outlook) {
  const std::string in =
      outlook.cluster_queue.empty() ? "no queue" : "ClusterQueue " + outlook.cluster_queue;
  fmt::print("{} waits in {}: {}, priority {}, for {}\n", workload.full_name(), in,
             gpus_text(workload), workload.priority,
             text::human_time(seconds(picture.waited(workload))));
  if (!workload.reason.empty()) {
    fmt::print("  Kueue says: {}{}{}\n", workload.reason, workload.message.empty() ? "" : ": ",
               workload.message);
  }
  if (!outlook.obstacle.empty()) return fmt::print("  {}\n", outlook.obstacle);
  for (const kueue::Shortage& each : outlook.shortages) {
    fmt::print("  {}\n", kueue::to_string(each));
  }
  if (outlook.shortages.empty()) fmt::print("  {}\n", reason_text(outlook));
  if (!outlook.shortages.empty() && !outlook.blocker.empty()) {
    fmt::print("  its ClusterQueue is StrictFIFO, and {} goes first\n", outlook.blocker);
  }
  if (outlook.never_starts) return fmt::print("  expected start: never under these quotas\n");
  fmt::print("  expected start: {} (50 %), {} (90 %)\n",
             start_text(outlook, outlook.start_half, picture.at),
             start_text(outlook, outlook.start_by, picture.at));
  if (outlook.start_by == kNoTime) {
    fmt::print(
        "  unknown: a running workload has no time limit, and no known run lasted as long\n");
  }
}

void say_other(const kube::Workload& workload, const std::string& queue, Time now) {
  fmt::print("{} is {} in ClusterQueue {}: {}, priority {}", workload.full_name(),
             to_string(workload.stage), queue, gpus_text(workload), workload.priority);
  if (workload.admitted != kNoTime) {
    fmt::print(", started {} after {}", clock_text(workload.admitted, now),
               text::human_time(std::max(0.0, seconds(workload.admitted - workload.created))));
  } else if (workload.stage == kube::Stage::reserved) {
    fmt::print("; it holds its quota and waits for its admission checks");
  }
  fmt::print("\n");
}

nlohmann::ordered_json explanation_of(const kube::Picture& picture, const kube::Workload& workload,
                                      const kube::Outlook* outlook) {
  const auto time = [](Time at) -> nlohmann::ordered_json {
    if (at == kNoTime || at == kNever) return nullptr;
    return seconds(at);
  };
  nlohmann::ordered_json made{{"workload", workload.full_name()},
                              {"uid", workload.uid},
                              {"queue", picture.cluster_queue(workload)},
                              {"stage", to_string(workload.stage)},
                              {"gpus", workload.gpus()},
                              {"priority", workload.priority},
                              {"kueue_reason", workload.reason},
                              {"kueue_message", workload.message}};
  if (outlook == nullptr) return made;
  made["obstacle"] = outlook->obstacle;
  made["shortages"] = nlohmann::ordered_json::array();
  for (const kueue::Shortage& each : outlook->shortages) {
    made["shortages"].push_back({{"flavor", each.flavor},
                                 {"resource", each.resource},
                                 {"wanted", each.wanted},
                                 {"left", each.left},
                                 {"most", each.most},
                                 {"holder", each.holder},
                                 {"text", kueue::to_string(each)}});
  }
  made["blocker"] = outlook->blocker;
  made["never_starts"] = outlook->never_starts;
  made["start_half_s"] = time(outlook->start_half);
  made["start_by_s"] = time(outlook->start_by);
  return made;
}

Result<int> kube_explain(const KubeExplainOptions& options) {
  const auto picture = options.outlook.picture();
  if (!picture) return tl::unexpected(picture.error());
  const auto at = find_workload(*picture, options.workload);
  if (!at) return tl::unexpected(at.error());
  const kube::Workload& workload = picture->workloads[*at];
  std::vector<kube::Outlook> outlooks;
  if (workload.stage == kube::Stage::pending) {
    auto made = options.outlook.outlook(*picture);
    if (!made) return tl::unexpected(made.error());
    outlooks = std::move(*made);
  }
  const auto own = std::find_if(outlooks.begin(), outlooks.end(),
                                [&](const kube::Outlook& each) { return each.workload == *at; });
  const kube::Outlook* const outlook = own == outlooks.end() ? nullptr : &*own;
  if (options.output == "json") {
    fmt::print("{}\n", explanation_of(*picture, workload, outlook).dump(2));
  } else if (outlook != nullptr) {
    say_pending(*picture, workload, *outlook);
  } else {
    say_other(workload, picture->cluster_queue(workload), picture->at);
  }
  return kDone;
}

}  // namespace

void register_kube_explain(Program& program) {
  CLI::App& command = *kube_noun(program).add_subcommand(
      "explain", "Explain why a workload waits: the quota that is short, the expected start");
  const auto options = std::make_shared<KubeExplainOptions>();
  command
      .add_option("WORKLOAD", options->workload, "NAMESPACE/NAME of a workload, or of its owner")
      ->required();
  options->outlook.add_to(command);
  add_output(command, options->output, {"table", "json"});
  add_example(command, "almanac kube explain team-a/job-train-1a2b3");
  program.on(command, [options] { return kube_explain(*options); });
}

}  // namespace almanac::cli
