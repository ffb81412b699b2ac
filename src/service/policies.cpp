// SPDX-License-Identifier: Apache-2.0
#include "service/policies.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "experiment/profile.h"
#include "policy/recommended.h"
#include "policy/registry.h"
#include "predict/replay.h"

namespace almanac::service {
namespace {

constexpr std::string_view kPredicted = "rolling";

/// Whether an estimate that only a simulation of the past can have makes a difference.
bool needs_the_past(const policy::Composition& composition) {
  return policy::registry()
      .traits(composition)
      .any_of({policy::Trait::told_truth, policy::Trait::reads_predictions});
}

/// Gandiva alone measures what sharing costs, by trying it.
bool packs_by_models(const policy::Composition& composition) {
  const policy::Entry& packing = policy::registry().packings.at(composition.packing);
  return packing.traits.has.has(policy::Trait::shares_gpus) &&
         composition.packing.name != "gandiva";
}

}  // namespace

std::optional<std::string> stand_in(const std::string& text) {
  const auto made = policy::registry().compose(text);
  if (!made || !needs_the_past(*made) || text.ends_with(".toml")) return std::nullopt;
  std::string name = made->name;
  const std::size_t at = name.find("+" + made->estimate.name);
  if (at == std::string::npos) return fmt::format("{}+{}", name, kPredicted);
  const std::size_t end = std::min(name.find('+', at + 1), name.size());
  return name.replace(at + 1, end - at - 1, kPredicted);
}

std::string live_note(const std::string& text, bool gives_speeds) {
  const auto made = policy::registry().compose(text);
  if (!made) return "";
  if (!gives_speeds && packs_by_models(*made)) {
    return fmt::format(
        "policy {} lets jobs share GPUs by speed models, which only serve --engine slurm --speed "
        "gives to policies: elsewhere jobs that request whole GPUs do not share them. The packing "
        "gandiva works without",
        text);
  }
  if (!needs_the_past(*made)) return "";
  const std::string runs = stand_in(text).value_or(fmt::format("{} with +{}", text, kPredicted));
  const bool is_truth = policy::registry().traits(*made).has(policy::Trait::told_truth);
  return fmt::format(
      "policy {} uses {}, which only a simulated log has: the service runs {} and "
      "predicts run times from past jobs",
      text, is_truth ? "true run times" : "the predictions of a job log", runs);
}

Result<policy::Composition> compose(const std::string& text) {
  auto made = policy::registry().compose(text);
  if (!made) return made;
  if (policy::registry().traits(*made).has(policy::Trait::sleeps_nodes)) {
    return fail(Code::unsupported,
                fmt::format("policy {} powers nodes down, but this machine is the only node", text),
                {}, "add +all to keep nodes on");
  }
  if (policy::registry().traits(*made).has(policy::Trait::limits_power)) {
    return fail(Code::unsupported,
                fmt::format("policy {} sets the power limit of each job's GPUs, and a service sets "
                            "none",
                            text),
                {}, "use it with almanac simulate; hasten, pollux and sia work here");
  }
  if (policy::registry().traits(*made).has(policy::Trait::paces_traffic)) {
    return fail(
        Code::unsupported,
        fmt::format("policy {} controls when jobs send over links and how fast they read, which "
                    "a live service cannot enforce",
                    text),
        {}, "use it with almanac simulate; +none turns this part off");
  }
  if (policy::registry().traits(*made).has(policy::Trait::yields_gpus)) {
    return fail(
        Code::unsupported,
        fmt::format(
            "policy {} limits jobs to what others leave of their GPUs, which a live service "
            "cannot do",
            text),
        {}, "use it with almanac simulate; the packing gandiva lets jobs share GPUs here");
  }
  if (policy::registry().traits(*made).has(policy::Trait::reads_signals)) {
    return fail(Code::unsupported,
                fmt::format("policy {} reads signals, such as the price or the carbon of power, "
                            "and a live service gets none",
                            text),
                {}, "use it with almanac simulate --signal");
  }
  take_no_truth(*made);
  return made;
}

void take_no_truth(policy::Composition& composition) {
  static const policy::TraitSet kOfThePast = {policy::Trait::told_truth,
                                              policy::Trait::reads_predictions};
  const policy::Entry& estimate = policy::registry().estimates.at(composition.estimate.name);
  if (estimate.traits.has.any_of(kOfThePast)) composition.estimate = std::string(kPredicted);
}

void take_no_ranges(policy::Composition& composition) {
  const policy::Entry& shape = policy::registry().shapes.at(composition.shape);
  if (shape.traits.has.has(policy::Trait::revises_waiting)) {
    composition.shape = policy::Composition().shape;
  }
}

Result<void> take_kept_policies(const store::Store& store, bool policy_is_told, std::string& policy,
                                std::string& shadow) {
  const auto take = [&](const char* key, std::string& into) -> Result<void> {
    return store.get(key).map([&](std::optional<std::string>&& kept) {
      if (kept) into = *std::move(kept);
    });
  };
  if (!policy_is_told) {
    if (auto taken = take(kPolicyKey, policy); !taken) return taken;
  }
  return shadow.empty() ? take(kShadowKey, shadow) : Result<void>();
}

Error of_kept_policy(Error error) {
  error.message = fmt::format("the stored policy cannot run: {}", error.message);
  error.hint = fmt::format("choose another one: almanac serve --policy {}", policy::kRecommended);
  return error;
}

std::unique_ptr<predict::Estimator> taught_estimator(const policy::Composition& composition,
                                                     const trace::Trace& trace,
                                                     std::span<const trace::Job> lessons) {
  auto made = experiment::make_estimator(composition, trace);
  ALMANAC_CHECK(made, "estimate {} is not available live", composition.estimate.name);
  teach_ended(**made, lessons);
  return std::move(*made);
}

void teach_ended(predict::Estimator& pupil, std::span<const trace::Job> lessons) {
  std::vector<trace::Job> ended;
  for (const trace::Job& job : lessons) {
    if (job.outcome.end != kNoTime && job.outcome.start != kNoTime) ended.push_back(job);
  }
  predict::teach(pupil, ended);
}

}  // namespace almanac::service
