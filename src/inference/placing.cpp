// SPDX-License-Identifier: Apache-2.0

#include "inference/placing.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <tbb/parallel_for.h>

namespace almanac::inference {
namespace {

/// The requests for models that some group has, with how many of them are served as asked.
Result<std::size_t> attained_of(const Service& service, const Requests& requests,
                                const Objective& objective, const Plan& plan) {
  Requests asked = requests;
  std::erase_if(asked.all, [&](const Request& each) { return plan.replicas_of(each.model) == 0; });
  const auto outcomes = play_placed(service, asked, plan);
  if (!outcomes) return tl::unexpected(outcomes.error());
  return summarize(asked, *outcomes, objective).attained;
}

/// A replica more of a plan.
struct Addition {
  std::size_t model, group;
};

/// Those that differ: of groups with the same models one stands for all.
std::vector<Addition> additions_to(const Plan& plan) {
  std::vector<Addition> made;
  for (std::size_t group = 0; group < plan.groups.size(); ++group) {
    const auto& models = plan.groups[group].models;
    const bool is_known =
        std::any_of(plan.groups.begin(), plan.groups.begin() + static_cast<std::ptrdiff_t>(group),
                    [&](const Plan::Group& other) { return other.models == models; });
    if (is_known) continue;
    for (std::size_t model = 0; model < plan.names.size(); ++model) {
      if (std::find(models.begin(), models.end(), model) == models.end()) {
        made.push_back({model, group});
      }
    }
  }
  return made;
}

Plan with(Plan plan, const Addition& addition) {
  auto& models = plan.groups[addition.group].models;
  models.insert(std::upper_bound(models.begin(), models.end(), addition.model), addition.model);
  return plan;
}

struct Placed {
  Plan plan{};
  std::size_t attained = 0;
};

/// Adds the best replica until none serves more. What does not fit is no choice.
Result<Placed> filled(const Service& service, const Requests& requests, const Objective& objective,
                      Plan plan) {
  Placed best{std::move(plan), 0};
  while (true) {
    const std::vector<Addition> additions = additions_to(best.plan);
    std::vector<Result<std::size_t>> attained(additions.size(), std::size_t{0});
    tbb::parallel_for(std::size_t{0}, additions.size(), [&](std::size_t each) {
      attained[each] = attained_of(service, requests, objective, with(best.plan, additions[each]));
    });
    std::optional<std::size_t> chosen;
    std::size_t most = best.attained;
    for (std::size_t each = 0; each < additions.size(); ++each) {
      if (!attained[each]) {
        if (attained[each].error().code == Code::invalid) continue;
        return tl::unexpected(attained[each].error());
      }
      if (*attained[each] > most) {
        most = *attained[each];
        chosen = each;
      }
    }
    if (!chosen) return best;
    best = {with(best.plan, additions[*chosen]), most};
  }
}

Plan empty_plan(const Plan& models, int gpus, int size) {
  Plan made = models;
  for (int first = 0; first < gpus; first += size) {
    made.groups.push_back({.first = first, .last = first + size - 1});
  }
  return made;
}

}  // namespace

Result<Plan> place_models(const Service& service, const Requests& requests,
                          const Objective& objective, int gpus) {
  if (requests.models.empty()) {
    return fail(Code::invalid, "the requests name no models", {},
                "give the log of requests a column model");
  }
  Plan models;
  for (const std::string& name : requests.models) {
    const auto model = name.ends_with(".json") ? read_model(name) : find_model(name);
    if (!model) return tl::unexpected(model.error());
    models.names.push_back(name);
    models.models.push_back(*model);
  }
  constexpr int kNode = 8;
  Placed best;
  for (int size = 1; size <= std::min(gpus, kNode); ++size) {
    if (gpus % size != 0) continue;
    auto found = filled(service, requests, objective, empty_plan(models, gpus, size));
    if (!found) return tl::unexpected(found.error());
    if (found->attained > best.attained) best = *std::move(found);
  }
  if (best.attained == 0) {
    return fail(Code::invalid,
                fmt::format("no request is served as asked by any model on {} {}", gpus,
                            service.board.name),
                {}, "more GPUs, or a longer objective");
  }
  std::erase_if(best.plan.groups, [](const Plan::Group& each) { return each.models.empty(); });
  return std::move(best.plan);
}

std::string to_csv(const Plan& plan) {
  std::string made = "gpus,model\n";
  for (const Plan::Group& group : plan.groups) {
    const std::string gpus = group.first == group.last
                                 ? std::to_string(group.first)
                                 : fmt::format("{}-{}", group.first, group.last);
    for (const std::size_t model : group.models) {
      made += fmt::format("{},{}\n", gpus, plan.names[model]);
    }
  }
  return made;
}

}  // namespace almanac::inference
