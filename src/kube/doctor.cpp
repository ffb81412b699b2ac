// SPDX-License-Identifier: Apache-2.0
#include "kube/doctor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "kube/lease.h"
#include "kube/left_alone.h"
#include "kube/picture.h"
#include "kube/plain.h"
#include "kube/pod_groups.h"
#include "kube/yaml.h"
#include "kueue/logged_jobs.h"
#include "kueue/object.h"
#include "kueue/order_guard.h"
#include "text/human.h"
#include "text/number.h"

namespace almanac::kube {
namespace {

using kueue::Object;
using nlohmann::json;

constexpr Duration kMostSkew = 5s;
/// Fewer runs say little of how long the next one takes.
constexpr std::int64_t kFewRuns = 20;

const std::vector<Feature> kAll(std::begin(kFeatures), std::end(kFeatures));
/// All that need Kueue: advice can come from the runs of another scheduler.
const std::vector<Feature> kOfKueue{Feature::watching, Feature::recording, Feature::forecast,
                                    Feature::order, Feature::backfill};
const std::vector<Feature> kLevers{Feature::order, Feature::backfill};
const std::vector<Feature> kSimulated{Feature::forecast, Feature::advice};

json parsed(const std::string& body) {
  return json::parse(body, nullptr, /*allow_exceptions=*/false);
}

struct Right {
  const char* group;
  const char* resource;
  std::string name_space;  ///< "" = all.
  std::string name;        ///< "" = all. A role may name the one object that is read and changed.
  std::vector<const char*> verbs;
  Verdict without;
  std::vector<Feature> features;
};

std::vector<Right> rights(const std::string& lease_space) {
  constexpr const char* kKueue = "kueue.x-k8s.io";
  const std::vector<const char*> follow{"list", "watch"};
  return {{kKueue, "workloads", "", "", follow, Verdict::broken, kAll},
          {kKueue, "clusterqueues", "", "", follow, Verdict::broken, kAll},
          {kKueue, "localqueues", "", "", follow, Verdict::broken, kAll},
          {kKueue, "resourceflavors", "", "", follow, Verdict::broken, kAll},
          {kKueue, "cohorts", "", "", follow, Verdict::partly, kSimulated},
          {"", "nodes", "", "", follow, Verdict::partly, {Feature::advice}},
          {"",
           "namespaces",
           "",
           "kube-system",
           {"get"},
           Verdict::broken,
           {Feature::watching, Feature::order, Feature::backfill}},
          {kKueue, "workloads", "", "", {"patch"}, Verdict::broken, kLevers},
          {"coordination.k8s.io",
           "leases",
           lease_space,
           "almanac",
           {"create", "get", "update"},
           Verdict::partly,
           kLevers}};
}

/// "+3 s", or "26d 17h behind ours".
std::string skew_text(Duration skew) {
  constexpr Duration kShort = 60s;
  if (skew < kShort && skew > -kShort) return fmt::format("{:+.0f} s", seconds(skew));
  return fmt::format("{} {} ours", text::human_time(std::abs(seconds(skew))),
                     skew < Duration{0} ? "behind" : "ahead of");
}

class Doctor {
 public:
  Doctor(Client& client, std::string lease_space)
      : client_(client), lease_space_(std::move(lease_space)) {}

  Result<Diagnosis> examine() {
    const auto version = client_.get("/version");
    if (!version) return tl::unexpected(version.error());
    const json told = parsed(*version);
    if (!told.is_object() || !told.contains("gitVersion") || !told["gitVersion"].is_string()) {
      return fail(Code::invalid, "/version: the answer has no gitVersion", {.file = client_.from()},
                  "another server than Kubernetes answers; check the address of the API server");
    }
    made_.server = plain(told["gitVersion"].get<std::string>());
    look_at_clock();
    look_at_others();
    if (!look_at_kueue()) return std::move(made_);
    look_at_rights();
    look_at_configuration();
    auto picture = take_picture(client_);
    if (!picture) {
      add({"objects", "", Verdict::broken, to_string(picture.error()), "", kAll});
      return std::move(made_);
    }
    look_at_queues(*picture);
    look_at_lease(*picture);
    look_at_past(*picture);
    look_at_nodes(*picture);
    return std::move(made_);
  }

 private:
  void add(Finding finding) { made_.findings.push_back(std::move(finding)); }

  void look_at_clock() {
    const auto skew = client_.skew();
    if (!skew) return;
    const bool is_wrong = *skew > kMostSkew || *skew < -kMostSkew;
    add({"clock",
         skew_text(*skew),
         is_wrong ? Verdict::partly : Verdict::fine,
         is_wrong ? "the server's clock and ours differ; its clock counts" : "",
         is_wrong ? "run NTP on both machines" : "",
         {Feature::watching, Feature::forecast}});
  }

  /// Finds schedulers that run next to Kueue or instead of it.
  void look_at_others() {
    for (const GangScheduler& each : gang_schedulers()) {
      if (!has(client_, each)) continue;
      const auto picture = take_picture(client_, each);
      const std::string no_lever = fmt::format("no lever: {}", each.no_lever);
      if (!picture) {
        add({each.name, "installed", Verdict::partly,
             fmt::format("its PodGroups cannot be read: {}; {}", to_string(picture.error()),
                         no_lever),
             "grant list on its podgroups and queues, and on pods, in all namespaces", kLevers});
        continue;
      }
      add({each.name,
           fmt::format("{} in {}", text::counted(picture->workloads.size(), "PodGroup"),
                       text::counted(picture->objects.setup.queues.size(), "queue")),
           Verdict::partly,
           fmt::format("read by kube snapshot and advise --kube where Kueue is not installed, for "
                       "logs, study and advice; {}",
                       no_lever),
           "", kLevers});
      has_gangs_ = true;
    }
  }

  bool look_at_kueue() {
    const auto version = find_version(client_);
    if (!version) {
      add({"Kueue", version.error().code == Code::not_found ? "not installed" : "", Verdict::broken,
           version.error().message,
           "Almanac reads clusters that admit jobs with Kueue 0.6 or later",
           has_gangs_ ? kOfKueue : kAll});
      return false;
    }
    made_.kueue = *version;
    add({"Kueue's API", *version, Verdict::fine, "", "", kAll});
    return true;
  }

  void look_at_rights() {
    for (const Right& right : rights(lease_space_)) {
      for (const char* const verb : right.verbs) {
        json review{{"apiVersion", "authorization.k8s.io/v1"},
                    {"kind", "SelfSubjectAccessReview"},
                    {"spec",
                     {{"resourceAttributes",
                       {{"group", right.group}, {"resource", right.resource}, {"verb", verb}}}}}};
        json& asked = review["spec"]["resourceAttributes"];
        if (!right.name_space.empty()) asked["namespace"] = right.name_space;
        // What is to be created has no name yet.
        if (!right.name.empty() && verb != std::string_view("create")) asked["name"] = right.name;
        const auto said =
            client_.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review.dump());
        Finding made{.what = fmt::format("right: {} {}", verb, right.resource),
                     .found = {},
                     .features = right.features};
        if (!said) {
          made.verdict = Verdict::unknown;
          made.means = said.error().message;
        } else if (is_allowed(*said)) {
          made.found = "yes";
        } else {
          made.found = "no";
          made.verdict = right.without;
          made.to_do = fmt::format(
              "grant {} on {}{}{} in {}", verb, right.resource, *right.group == '\0' ? "" : ".",
              right.group,
              right.name_space.empty() ? "all namespaces" : "namespace " + right.name_space);
        }
        add(std::move(made));
      }
    }
  }

  static bool is_allowed(const std::string& body) {
    try {
      return Object(parsed(body), "review").object("status").flag("allowed");
    } catch (const kueue::Refused&) {
      return false;
    }
  }

  /// What only Kueue's own deployment and configuration say; readable with rights of their own.
  void look_at_configuration() {
    constexpr const char* kDeployment =
        "/apis/apps/v1/namespaces/kueue-system/deployments/kueue-controller-manager";
    Finding release{.what = "Kueue's release",
                    .found = "unknown",
                    .verdict = Verdict::unknown,
                    .means = "releases before 0.15.6 and 0.16.3 may lose a changed priority",
                    .to_do = "grant get on deployments/kueue-controller-manager in kueue-system",
                    .features = kLevers};
    if (const auto body = client_.get(kDeployment)) {
      const std::string text = parsed(*body).dump(-1, ' ', false, json::error_handler_t::replace);
      const std::string tag = image_tag(text);
      if (!tag.empty()) release.found = tag;
      const auto number = release_of(tag);
      if (number && keeps_priorities(*number)) {
        release = {"Kueue's release", tag, Verdict::fine, "", "", kLevers};
      } else if (number) {
        release.verdict = Verdict::partly;
        release.to_do = "use Kueue 0.16.3 or later";
      }
    }
    add(std::move(release));
    Finding settings{
        .what = "Kueue's configuration",
        .found = "unknown",
        .verdict = Verdict::unknown,
        .means = "whether fair sharing is on, and the gate PriorityBoost, stand nowhere else",
        .to_do =
            "grant get on configmaps/kueue-manager-config in kueue-system, or give --fair to kube "
            "queue and kube explain",
        .features = {Feature::forecast, Feature::advice, Feature::order, Feature::backfill}};
    if (const auto body =
            client_.get("/api/v1/namespaces/kueue-system/configmaps/kueue-manager-config")) {
      if (const auto read = settings_of(parsed(*body))) {
        settings = {"Kueue's configuration",
                    fmt::format("fair sharing {}, PriorityBoost {}", read->is_fair ? "on" : "off",
                                read->has_boost ? "on" : "off"),
                    Verdict::fine,
                    fmt::format("{}lever order {}", read->is_fair ? "forecasts need --fair; " : "",
                                read->has_boost ? "works with --order-field boost"
                                                : "needs --order-field priority"),
                    "",
                    {Feature::forecast, Feature::advice, Feature::order, Feature::backfill}};
      }
    }
    add(std::move(settings));
  }

  struct Settings {
    bool is_fair = false;
    bool has_boost = false;
  };
  /// Nothing if the ConfigMap has no configuration that can be read.
  static std::optional<Settings> settings_of(const json& map) {
    try {
      const Object data = Object(map, "ConfigMap").object("data");
      const std::string text = data.text("controller_manager_config.yaml");
      const auto config = parse_yaml(text);
      if (text.empty() || !config) return std::nullopt;
      const Object of(*config, "configuration");
      return Settings{
          .is_fair = of.has("fairSharing") && of.object("fairSharing").flag("enable", true),
          .has_boost = of.object("featureGates").flag("PriorityBoost")};
    } catch (const kueue::Refused&) {
      return std::nullopt;
    }
  }

  using Release = std::array<std::int64_t, 3>;
  /// "v0.19.2" in numbers; nothing for other tags.
  static std::optional<Release> release_of(const std::string& tag) {
    if (!tag.starts_with('v')) return std::nullopt;
    Release made{};
    std::size_t from = 1;
    for (std::int64_t& each : made) {
      const std::size_t end = std::min(tag.find_first_of(".-", from), tag.size());
      const auto number = text::parse_whole(std::string_view(tag).substr(from, end - from));
      if (!number) return std::nullopt;
      each = *number;
      from = std::min(end + 1, tag.size());
    }
    return made;
  }
  /// Before 0.15.6 and 0.16.3 a changed priority may be lost.
  static bool keeps_priorities(const Release& of) {
    const bool is_mended_branch = of[0] == 0 && of[1] == 15 && of[2] >= 6;
    return is_mended_branch || of >= Release{0, 16, 3};
  }

  /// "v0.19.2" of ".../kueue:v0.19.2".
  static std::string image_tag(const std::string& deployment) {
    const std::size_t at = deployment.find("/kueue:");
    if (at == std::string::npos) return "";
    const std::size_t from = at + std::string_view("/kueue:").size();
    const std::size_t end = deployment.find_first_of("\"@", from);
    return plain(deployment.substr(from, std::min(end, deployment.size()) - from));
  }

  void look_at_queues(const Picture& picture) {
    const kueue::Setup& setup = picture.objects.setup;
    for (const std::string& note : picture.objects.not_modelled) {
      add({"not modelled", note, Verdict::partly, "forecasts and simulations leave it out", "",
           kSimulated});
    }
    for (const std::string& note : picture.notes) {
      add({"object", note, Verdict::partly, "", "", {Feature::watching, Feature::forecast}});
    }
    std::size_t safe = 0;
    std::size_t strict = 0;
    const std::vector<std::string> reasons = kueue::unsafe_orders(setup);
    const std::vector<std::string> others = kueue::sharing_queues(setup);
    for (std::size_t at = 0; at < setup.queues.size(); ++at) {
      if (reasons[at].empty() && !others[at].empty()) {
        add({"queue " + setup.queues[at].name, "", Verdict::partly,
             fmt::format("an order would overtake queue {}, which is in the same cohort tree",
                         others[at]),
             "lever order acts in queues only that share no cohort", kLevers});
        continue;
      }
      if (reasons[at].empty()) {
        ++safe;
        look_at_strategy(setup.queues[at], strict);
        continue;
      }
      add({"queue " + setup.queues[at].name, "", Verdict::partly,
           fmt::format("an order could evict running workloads: {}", reasons[at]),
           "preemption policies Never or, for reclaimWithinCohort, Any make an order safe",
           kLevers});
    }
    if (safe == 0) {
      add({"queues where an order is safe", "none", Verdict::broken, "", "", kLevers});
    }
    if (safe > 0 && strict == 0) {
      add({"StrictFIFO queues",
           "none",
           Verdict::broken,
           "BestEffortFIFO starts whatever fits, so nothing can be reserved for a large workload",
           fmt::format(
               "almanac advise LOG --queues FILE --what-if QUEUE.queueingStrategy=StrictFIFO "
               "shows what it would gain, and lose without Almanac. Then: almanac serve "
               "--backfill QUEUE, and {}",
               strategy_command("QUEUE", "StrictFIFO")),
           {Feature::backfill}});
    }
  }

  void look_at_strategy(const kueue::ClusterQueue& queue, std::size_t& strict) {
    if (!queue.is_strict) return;
    ++strict;
    add({"queue " + queue.name,
         "StrictFIFO",
         Verdict::fine,
         "lever order can reserve for the workload that it waits for: almanac serve --backfill " +
             queue.name,
         "",
         {Feature::backfill}});
  }

  /// Whether the StrictFIFO queues that a service orders have one.
  void look_at_lease(const Picture& picture) {
    const auto lease = read_lease(client_, lease_space_);
    // Whether it may be read is a finding of its own.
    if (!lease || !*lease) return;
    for (const kueue::ClusterQueue& queue : picture.objects.setup.queues) {
      if (!queue.is_strict || !(*lease)->backfilled.contains(queue.name)) continue;
      if ((*lease)->is_live()) {
        add({"backfill of queue " + queue.name,
             "by service " + (*lease)->holder,
             Verdict::fine,
             "the warnings of its dashboard say whether the queue gets its order",
             "",
             {Feature::backfill}});
        continue;
      }
      add({"backfill of queue " + queue.name,
           "no service runs",
           Verdict::broken,
           "it is StrictFIFO, and its workloads wait several times as long as by Kueue's default",
           fmt::format("start the service again, or {}",
                       strategy_command(queue.name, "BestEffortFIFO")),
           {Feature::backfill}});
    }
  }

  void look_at_past(const Picture& picture) {
    const auto ended =
        std::count_if(picture.workloads.begin(), picture.workloads.end(), [](const Workload& each) {
          return each.stage == Stage::finished && each.admitted != kNoTime;
        });
    const bool is_few = ended < kFewRuns;
    add({"finished workloads",
         fmt::format("{} of {}", ended, picture.workloads.size()),
         is_few ? Verdict::partly : Verdict::fine,
         is_few ? "run times are drawn from them, and they are few" : "",
         is_few ? "let almanac kube record run, and give its file with --log" : "",
         {Feature::forecast, Feature::advice}});
  }

  void look_at_nodes(const Picture& picture) {
    std::int64_t gpus = 0;
    std::map<std::string, int> products;
    for (const Node& node : picture.nodes) {
      if (node.gpus() == 0) continue;
      if (node.is_ready && node.is_schedulable) gpus += node.gpus();
      if (!node.product().empty()) ++products[plain(node.product())];
    }
    kueue::Amount quota = 0;
    for (const kueue::ClusterQueue& queue : picture.objects.setup.queues) {
      quota += kueue::nominal_gpus(queue);
    }
    const bool lacks = quota > gpus && !picture.nodes.empty();
    std::vector<std::string> names;
    for (const auto& [name, nodes] : products) names.push_back(fmt::format("{} x {}", nodes, name));
    add({"GPUs",
         fmt::format("{} on ready nodes, {} of nominal quota{}", gpus, quota,
                     names.empty() ? "" : fmt::format(" ({})", fmt::join(names, ", "))),
         lacks ? Verdict::partly : Verdict::fine,
         lacks ? "admitted workloads may wait for nodes, which forecasts do not see" : "",
         "",
         {Feature::forecast}});
  }

  Client& client_;
  std::string lease_space_;
  Diagnosis made_{};
  bool has_gangs_ = false;  ///< Of another scheduler, which can be read.
};

}  // namespace

std::string_view to_string(Feature feature) {
  switch (feature) {
    case Feature::watching:
      return "watching";
    case Feature::recording:
      return "recording";
    case Feature::forecast:
      return "forecast";
    case Feature::advice:
      return "advice";
    case Feature::order:
      return "order";
    case Feature::backfill:
      return "backfill";
  }
  return "";
}

Verdict Diagnosis::of(Feature feature) const {
  Verdict made = Verdict::fine;
  for (const Finding& each : findings) {
    if (std::find(each.features.begin(), each.features.end(), feature) != each.features.end()) {
      made = std::max(made, each.verdict);
    }
  }
  return made;
}

Result<Diagnosis> diagnose(Client& client, const std::string& lease_space) {
  return Doctor(client, lease_space).examine();
}

}  // namespace almanac::kube
