// SPDX-License-Identifier: Apache-2.0
#include "cli/what_if.h"

#include <chrono>
#include <optional>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "cli/program.h"
#include "cli/wall_clock.h"
#include "serve/submission_json.h"
#include "serve/view_json.h"
#include "submission/draft.h"
#include "text/duration.h"
#include "text/human.h"

namespace almanac::cli {
namespace {

using figure::Cell;

constexpr auto kPatience = std::chrono::seconds(30);
constexpr auto kLookAgain = std::chrono::milliseconds(50);

struct Shape {
  store::Submission asked{};
  std::optional<service::Expected> expected{};
};

/// Those of the service's nodes; one without a name where there are none.
Result<std::vector<std::string>> virtual_clusters(serve::Client& client) {
  const auto said = client.get("/v1/nodes");
  if (!said) return tl::unexpected(said.error());
  const auto nodes = serve::read_nodes(said->body);
  if (!nodes) return tl::unexpected(nodes.error());
  std::set<std::string> names;
  for (const service::NodeView& node : *nodes) names.insert(node.vc);
  return std::vector<std::string>(names.begin(), names.end());
}

/// By the rules of submit.
Result<store::Submission> submission_of(const WhatIf& what, const std::string& vc, int gpus,
                                        const std::string& limit) {
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
  submission::Draft draft{.asked = {.vc = vc, .argv = {"true"}, .directory = "/"},
                          .now = wall_clock()};
  auto done = submission::apply_words(words, submission::own_options(), {}, draft);
  if (done) done = draft.settle();
  if (!done) {
    if (done.error().code == Code::invalid) done.error().code = Code::usage;
    return tl::unexpected(done.error());
  }
  return std::move(draft.asked);
}

Result<std::vector<Shape>> shapes_of(serve::Client& client, const WhatIf& what) {
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
        auto asked = submission_of(what, vc, count, limit);
        if (!asked) return tl::unexpected(asked.error());
        shapes.push_back({.asked = std::move(*asked)});
      }
    }
  }
  constexpr std::size_t kMost = 32;  // that a service works out at a time
  if (shapes.size() > kMost) {
    return fail(Code::usage, fmt::format("{} combinations are more than {}", shapes.size(), kMost),
                {}, "name fewer of --vc, --gpus, --time");
  }
  return shapes;
}

/// Asks for all of them until each is known.
Result<void> foresee(serve::Client& client, std::vector<Shape>& shapes) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  for (;; std::this_thread::sleep_for(kLookAgain)) {
    bool all = true;
    for (Shape& shape : shapes) {
      if (shape.expected) continue;
      const auto said = client.post("/v1/forecast", serve::to_json(shape.asked));
      if (!said) return tl::unexpected(said.error());
      constexpr int kNotYet = 204;
      if (said->status == kNotYet) {
        all = false;
        continue;
      }
      const auto expected = serve::read_expected(said->body);
      if (!expected) return tl::unexpected(expected.error());
      shape.expected = *expected;
    }
    if (all) return {};
    if (std::chrono::steady_clock::now() > until) {
      return fail(Code::unavailable, "the service has not worked it out within 30 s", {},
                  "ask again: it goes on with it");
    }
  }
}

std::string start_text(const service::Expected& expected, Time now) {
  if (expected.start_by == kNoTime) return "not known, or never";
  return expected.start_by <= expected.at ? "at once" : clock_text(expected.start_by, now);
}

/// How much earlier than the first it has started with nine in ten.
std::string against_first(const service::Expected& expected, const service::Expected& first) {
  if (expected.start_by == kNoTime || first.start_by == kNoTime) return "";
  const double gain_s = seconds(first.start_by - expected.start_by);
  constexpr double kNoWord_s = 60;
  if (std::abs(gain_s) < kNoWord_s) return "";
  return fmt::format("{} {}", text::human_time(std::abs(gain_s)), gain_s > 0 ? "earlier" : "later");
}

figure::Listing rows_of(const std::vector<Shape>& shapes) {
  const Time now = wall_clock();
  figure::Rows rows(shapes);
  rows.add("vc", "VC", [](const Shape& shape) {
    return Cell(shape.asked.vc, shape.asked.vc.empty() ? "-" : shape.asked.vc);
  });
  rows.add(figure::Tier::key, "gpus", "GPUS", [](const Shape& shape) { return shape.asked.gpus; });
  rows.add(figure::Tier::key, "time_limit_s", "LIMIT", [](const Shape& shape) {
    const Duration limit = shape.asked.time_limit;
    return limit == kNoDuration ? Cell::nothing("none") : Cell(limit);
  });
  rows.add(figure::Tier::data, "start_from_s",
           [](const Shape& shape) { return shape.expected->start_from; });
  rows.add(figure::Tier::data, "start_to_s",
           [](const Shape& shape) { return shape.expected->start_to; });
  rows.add("start_by_s", "STARTED BY (90 %)", [&](const Shape& shape) {
    return Cell(shape.expected->start_by, start_text(*shape.expected, now));
  });
  rows.add("end_by_s", "ENDED BY (90 %)", [&](const Shape& shape) {
    return Cell(shape.expected->end_by, clock_text(shape.expected->end_by, now));
  });
  rows.add(figure::Tier::detail, "gain", "BESIDE THE FIRST",
           [&](const Shape& shape) {
             return against_first(*shape.expected, *shapes.front().expected);
           })
      .table_only();
  return rows;
}

}  // namespace

Result<int> what_if(const WhatIf& what, const ListOptions& list) {
  auto client = what.service.client();
  if (!client) return tl::unexpected(client.error());
  auto shapes = shapes_of(*client, what);
  if (!shapes) return tl::unexpected(shapes.error());
  if (const auto foreseen = foresee(*client, *shapes); !foreseen) {
    return tl::unexpected(foreseen.error());
  }
  return list.print(
      rows_of(*shapes),
      "If it were submitted now and nothing came after it; how long it runs is believed of jobs "
      "like it. Limits of tenants are counted for it, quotas of a Slurm are not.\n");
}

}  // namespace almanac::cli
