// SPDX-License-Identifier: Apache-2.0
#include "serve/what_if.h"

#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "serve/submission_json.h"
#include "serve/view_json.h"
#include "submission/draft.h"

namespace almanac::serve {
namespace {

constexpr auto kPatience = std::chrono::seconds(30);
constexpr auto kLookAgain = std::chrono::milliseconds(50);
constexpr int kNotYet = 204;

Error not_in_time() {
  return {Code::unavailable,
          "the service did not answer within 30 s",
          {},
          "try again: the service continues to work on it"};
}

/// Returns the virtual clusters of the service's nodes.
Result<std::vector<std::string>> virtual_clusters(Client& client) {
  const auto said = client.get("/v1/nodes");
  if (!said) return tl::unexpected(said.error());
  const auto nodes = read_nodes(said->body);
  if (!nodes) return tl::unexpected(nodes.error());
  std::set<std::string> names;
  for (const service::NodeView& node : *nodes) names.insert(node.vc);
  return std::vector<std::string>(names.begin(), names.end());
}

/// By the rules of submit.
Result<store::Submission> submission_of(const WhatIf& what, const std::string& vc, int gpus,
                                        const std::string& limit, Time now) {
  std::vector<std::string> words;
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.push_back(fmt::format("--{}={}", option, value));
  };
  add("gpus", std::to_string(gpus));
  add("gpu-type", what.gpu_type);
  add("cpus", what.cpus);
  add("mem", what.memory);
  add("time", limit);
  add("name", what.name);
  submission::Draft draft{.asked = {.vc = vc, .argv = {"true"}, .directory = "/"}, .now = now};
  auto done = submission::apply_words(words, submission::own_options(), {}, draft);
  if (done) done = draft.settle();
  if (!done) {
    if (done.error().code == Code::invalid) done.error().code = Code::usage;
    return tl::unexpected(done.error());
  }
  return std::move(draft.asked);
}

Result<std::vector<Shape>> shapes_of(Client& client, const WhatIf& what, Time now) {
  auto vcs =
      what.vcs.empty() ? virtual_clusters(client) : Result<std::vector<std::string>>(what.vcs);
  if (!vcs) return tl::unexpected(vcs.error());
  if (vcs->empty()) vcs->emplace_back();
  const std::vector<int> gpus = what.gpus.empty() ? std::vector{1} : what.gpus;
  const std::vector<std::string> limits =
      what.limits.empty() ? std::vector{std::string()} : what.limits;
  std::vector<Shape> shapes;
  for (const std::string& vc : *vcs) {
    for (const int count : gpus) {
      for (const std::string& limit : limits) {
        auto asked = submission_of(what, vc, count, limit, now);
        if (!asked) return tl::unexpected(asked.error());
        shapes.push_back({.asked = std::move(*asked)});
      }
    }
  }
  constexpr std::size_t kMost = 32;  // that a service works out at a time
  if (shapes.size() > kMost) {
    return fail(Code::usage,
                fmt::format("{} combinations exceed the limit of {}", shapes.size(), kMost), {},
                "give fewer values of --vc, --gpus and --time");
  }
  return shapes;
}

/// Asks for all of them until each is known.
Result<void> ask_all(Client& client, std::vector<Shape>& shapes) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  for (;; std::this_thread::sleep_for(kLookAgain)) {
    bool all = true;
    for (Shape& shape : shapes) {
      if (shape.expected) continue;
      const auto said = client.post("/v1/forecast", serve::to_json(shape.asked));
      if (!said) return tl::unexpected(said.error());
      if (said->status == kNotYet) {
        all = false;
        continue;
      }
      const auto expected = read_expected(said->body);
      if (!expected) return tl::unexpected(expected.error());
      shape.expected = *expected;
      if (expected->start_by != kNever && expected->start_by != kNoTime) continue;
      // A forecast says that it never starts, and the judgement of a submission why. A service that
      // takes no submissions, or none from this client, does not say.
      const auto judged = client.judge(shape.asked);
      if (!judged && judged.error().code == Code::usage) shape.never = judged.error().message;
    }
    if (all) return {};
    if (std::chrono::steady_clock::now() > until) {
      return tl::unexpected(not_in_time());
    }
  }
}

}  // namespace

Result<std::vector<Shape>> foresee(Client& client, const WhatIf& what, Time now) {
  auto shapes = shapes_of(client, what, now);
  if (!shapes) return shapes;
  if (const auto asked = ask_all(client, *shapes); !asked) return tl::unexpected(asked.error());
  return shapes;
}

Result<service::ChangedForecasts> foresee(Client& client, const std::vector<std::string>& changes) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  for (;; std::this_thread::sleep_for(kLookAgain)) {
    const auto said = client.post("/v1/forecast/if", changes_json(changes));
    if (!said) return tl::unexpected(said.error());
    if (said->status != kNotYet) return read_changed_forecasts(said->body);
    if (std::chrono::steady_clock::now() > until) return tl::unexpected(not_in_time());
  }
}

Result<service::StartsIf> find_changes(Client& client, const std::string& job) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  for (;; std::this_thread::sleep_for(kLookAgain)) {
    const auto said = client.get(fmt::format("/v1/jobs/{}/starts-if", job));
    if (!said) return tl::unexpected(said.error());
    if (said->status != kNotYet) return read_starts_if(said->body);
    if (std::chrono::steady_clock::now() > until) return tl::unexpected(not_in_time());
  }
}

}  // namespace almanac::serve
