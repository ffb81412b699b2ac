// SPDX-License-Identifier: Apache-2.0

#include "inference/placing.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tbb/parallel_for.h>

#include "inference/profile/roofline.h"

namespace almanac::inference {
namespace {

/// Returns how many requests met the SLO, among those for models that some group has.
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

bool is_alike(const Plan::Group& one, const Plan::Group& other) {
  return one.gpus() == other.gpus() && one.board->name == other.board->name &&
         one.gpu_hour == other.gpu_hour && one.models == other.models;
}

/// Returns the different additions; one group stands for all groups that are equal.
std::vector<Addition> additions_to(const Plan& plan) {
  std::vector<Addition> made;
  for (std::size_t group = 0; group < plan.groups.size(); ++group) {
    const Plan::Group& it = plan.groups[group];
    const bool is_known =
        std::any_of(plan.groups.begin(), plan.groups.begin() + static_cast<std::ptrdiff_t>(group),
                    [&](const Plan::Group& other) { return is_alike(it, other); });
    if (is_known) continue;
    for (std::size_t model = 0; model < plan.names.size(); ++model) {
      if (std::find(it.models.begin(), it.models.end(), model) == it.models.end()) {
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

double price_of(const Plan::Group& group) { return group.gpus() * group.gpu_hour.value_or(0); }

/// Returns the price of the groups that have a model.
double price_of(const Plan& plan) {
  double sum = 0;
  for (const Plan::Group& each : plan.groups) sum += each.models.empty() ? 0 : price_of(each);
  return sum;
}

struct Placed {
  Plan plan{};
  std::size_t attained = 0;
};

class Placing {
 public:
  Placing(const Service& service, const Requests& requests, const PlacingQuestion& asked)
      : service_(service), requests_(requests), asked_(asked) {}

  /// Adds the best replica until none serves more, or enough are. What does not fit is no choice.
  Result<Placed> filled(Plan plan) const {
    Placed best{std::move(plan), 0};
    while (!is_enough(best.attained)) {
      const std::vector<Addition> additions = additions_to(best.plan);
      const auto attained = tried(best.plan, additions);
      if (!attained) return tl::unexpected(attained.error());
      std::optional<std::size_t> chosen;
      double most = 0;
      for (std::size_t each = 0; each < additions.size(); ++each) {
        const std::size_t now = (*attained)[each];
        if (now <= best.attained) continue;
        const double gain =
            static_cast<double>(now - best.attained) / cost(best.plan, additions[each]);
        if (chosen && gain <= most) continue;
        most = gain;
        chosen = each;
      }
      if (!chosen) return best;
      best = {with(best.plan, additions[*chosen]), (*attained)[*chosen]};
    }
    return cheaper(std::move(best));
  }

  bool is_enough(std::size_t attained) const {
    return asked_.share > 0 &&
           static_cast<double>(attained) >= asked_.share * static_cast<double>(requests_.size());
  }

 private:
  /// What a replica adds to the price, where that counts; of GPUs that have one already little.
  double cost(const Plan& plan, const Addition& addition) const {
    if (asked_.share <= 0) return 1;
    constexpr double kLittle = 1e-3;
    const Plan::Group& group = plan.groups[addition.group];
    return std::max(group.models.empty() ? price_of(group) : 0, kLittle);
  }

  /// Returns how many requests meet the SLO with each addition; 0 if the addition does not fit.
  Result<std::vector<std::size_t>> tried(const Plan& plan,
                                         const std::vector<Addition>& additions) const {
    std::vector<Result<std::size_t>> attained(additions.size(), std::size_t{0});
    tbb::parallel_for(std::size_t{0}, additions.size(), [&](std::size_t each) {
      attained[each] =
          attained_of(service_, requests_, asked_.objective, with(plan, additions[each]));
    });
    std::vector<std::size_t> made;
    for (const auto& each : attained) {
      if (!each && each.error().code != Code::invalid) return tl::unexpected(each.error());
      made.push_back(each.value_or(0));
    }
    return made;
  }

  /// Returns the plan without the groups that are not needed.
  Result<Placed> cheaper(Placed made) const {
    std::vector<std::size_t> order(made.plan.groups.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return price_of(made.plan.groups[a]) > price_of(made.plan.groups[b]);
    });
    for (const std::size_t group : order) {
      if (made.plan.groups[group].models.empty()) continue;
      Plan less = made.plan;
      less.groups[group].models.clear();
      const auto attained = attained_of(service_, requests_, asked_.objective, less);
      if (!attained) return tl::unexpected(attained.error());
      if (is_enough(*attained)) made = {std::move(less), *attained};
    }
    return made;
  }

  const Service& service_;
  const Requests& requests_;
  const PlacingQuestion& asked_;
};

/// All ways to divide the GPUs of each pool into groups of one size.
std::vector<Plan> empty_plans(const Plan& models, const std::vector<GpuPool>& pools) {
  std::vector<Plan> made{models};
  int before = 0;
  for (const GpuPool& pool : pools) {
    std::vector<Plan> longer;
    for (int size = 1; size <= std::min(pool.gpus, std::max(kNodeGpus, pool.board.linked_boards));
         ++size) {
      if (pool.gpus % size != 0) continue;
      for (Plan plan : made) {
        for (int first = 0; first < pool.gpus; first += size) {
          plan.groups.push_back({.first = before + first,
                                 .last = before + first + size - 1,
                                 .models = {},
                                 .board = pool.board,
                                 .gpu_hour = pool.gpu_hour});
        }
        longer.push_back(std::move(plan));
      }
    }
    made = std::move(longer);
    before += pool.gpus;
  }
  return made;
}

std::string spelled(const std::vector<GpuPool>& pools) {
  std::vector<std::string> made;
  for (const GpuPool& each : pools) {
    made.push_back(fmt::format("{} {}", each.gpus, each.board.name));
  }
  return fmt::format("{}", fmt::join(made, " and "));
}

}  // namespace

Result<Plan> place_models(const Service& service, const Requests& requests,
                          const PlacingQuestion& asked) {
  if (requests.models.empty()) {
    return fail(Code::invalid, "the requests name no models", {},
                "add a column model to the log of requests");
  }
  Plan models;
  for (const std::string& name : requests.models) {
    const auto model = load_model(std::string(name));
    if (!model) return tl::unexpected(model.error());
    models.names.push_back(name);
    models.models.push_back(*model);
  }
  const Placing placing(service, requests, asked);
  Placed best;
  for (Plan& empty : empty_plans(models, asked.pools)) {
    auto found = placing.filled(std::move(empty));
    if (!found) return tl::unexpected(found.error());
    const bool enough = placing.is_enough(found->attained);
    if (enough != placing.is_enough(best.attained)) {
      if (enough) best = *std::move(found);
    } else if (enough ? price_of(found->plan) < price_of(best.plan)
                      : found->attained > best.attained) {
      best = *std::move(found);
    }
  }
  if (best.attained == 0) {
    return fail(
        Code::invalid,
        fmt::format("no model on {} lets any request meet the objective", spelled(asked.pools)), {},
        "use more GPUs, or a longer objective");
  }
  if (asked.share > 0 && !placing.is_enough(best.attained)) {
    return fail(
        Code::unavailable,
        fmt::format(
            "on {} at most {:.4g} % of the requests meet the objective", spelled(asked.pools),
            100 * static_cast<double>(best.attained) / static_cast<double>(requests.size())),
        {}, "use more GPUs, a longer objective, or a smaller --share");
  }
  std::erase_if(best.plan.groups, [](const Plan::Group& each) { return each.models.empty(); });
  return std::move(best.plan);
}

std::string to_csv(const Plan& plan) {
  std::string made = "gpus,model,board,gpu_hour\n";
  for (const Plan::Group& group : plan.groups) {
    const std::string gpus = group.first == group.last
                                 ? std::to_string(group.first)
                                 : fmt::format("{}-{}", group.first, group.last);
    for (const std::size_t model : group.models) {
      made += fmt::format("{},{},{},{}\n", gpus, plan.names[model],
                          group.board ? group.board->name : "",
                          group.gpu_hour ? fmt::format("{}", *group.gpu_hour) : "");
    }
  }
  return made;
}

}  // namespace almanac::inference
