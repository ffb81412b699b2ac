// SPDX-License-Identifier: Apache-2.0

#include "inference/placed.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "inference/simulation.h"
#include "table/csv_reader.h"
#include "text/nearest.h"
#include "text/number.h"

namespace almanac::inference {
namespace {

/// A router for each model, so that requests of one do not turn the wheel of another.
class ByModel final : public Router {
 public:
  ByModel(const Requests& requests, std::vector<std::unique_ptr<Router>> routers)
      : requests_(requests), routers_(std::move(routers)) {}
  std::size_t choose(RequestId request, std::span<Replica* const> replicas) override {
    return routers_[requests_[request].model]->choose(request, replicas);
  }

 private:
  const Requests& requests_;
  std::vector<std::unique_ptr<Router>> routers_;
};

/// "3" = 3 to 3, "0-3" = 0 to 3.
std::optional<std::pair<std::int64_t, std::int64_t>> range_of(std::string_view text) {
  constexpr std::int64_t kMost = 1'000'000;
  constexpr std::int64_t kMostGpus = 1024;
  const std::size_t dash = text.find('-');
  const auto first = text::parse_whole(text.substr(0, dash));
  const auto last =
      dash == std::string_view::npos ? first : text::parse_whole(text.substr(dash + 1));
  if (!first || !last || *first < 0 || *last < *first || *last > kMost) return std::nullopt;
  if (*last - *first >= kMostGpus) return std::nullopt;
  return std::pair(*first, *last);
}

/// The group of these GPUs, made where there is none; null = another has some of them.
Plan::Group* group_of(Plan& plan, std::pair<std::int64_t, std::int64_t> gpus) {
  for (Plan::Group& each : plan.groups) {
    if (each.first == gpus.first && each.last == gpus.second) return &each;
    if (each.first <= gpus.second && gpus.first <= each.last) return nullptr;
  }
  plan.groups.push_back({.first = gpus.first, .last = gpus.second});
  return &plan.groups.back();
}

Result<std::size_t> model_of(Plan& plan, std::string_view name) {
  const auto known = std::find(plan.names.begin(), plan.names.end(), name);
  if (known != plan.names.end()) return static_cast<std::size_t>(known - plan.names.begin());
  const auto model = load_model(std::string(name));
  if (!model) return tl::unexpected(model.error());
  plan.names.emplace_back(name);
  plan.models.push_back(*model);
  return plan.models.size() - 1;
}

/// Says of what kind the GPUs of a group are, as a row has it; its first row says it for all.
Result<void> tell_kind(Plan::Group& group, const std::string& board, const std::string& price,
                       const Where& where) {
  std::optional<Board> kind;
  if (!board.empty()) {
    const auto found = load_board(std::string(board));
    if (!found) return fail(found.error().code, found.error().message, where, found.error().hint);
    kind = *found;
  }
  std::optional<double> cost;
  if (!price.empty()) {
    cost = text::parse_decimal(price);
    if (!cost || *cost < 0) {
      return fail(Code::invalid, fmt::format("gpu_hour: \"{}\" is not a price", price), where);
    }
  }
  const auto name = [](const std::optional<Board>& of) { return of ? of->name : std::string(); };
  if (group.models.empty()) {
    group.board = kind;
    group.gpu_hour = cost;
  } else if (name(group.board) != name(kind) || group.gpu_hour != cost) {
    return fail(Code::invalid, "another row gives the same GPUs another board or price", where,
                "give the same values in all rows with the same GPUs");
  }
  return {};
}

/// The service of one model of a group.
Result<Service> member(const Service& service, const Plan& plan, const Plan::Group& group,
                       std::size_t model) {
  Service made = service;
  made.model = plan.models[model];
  made.gpus = group.gpus();
  made.replicas = 1;
  if (group.board) made.board = *group.board;
  if (group.models.size() == 1) return made;
  const double block = made.model.kv_bytes(made.gpus) * made.limits.block_tokens;
  double left = static_cast<double>(fitting_blocks(made)) * block;
  for (const std::size_t other : group.models) {
    if (other == model) continue;
    left -= plan.models[other].bytes() +
            made.adapters * plan.models[other].adapter_bytes(made.adapter_rank);
  }
  const double blocks = left / (block * static_cast<double>(group.models.size()));
  if (blocks < 1) {
    std::vector<std::string> names;
    for (const std::size_t each : group.models) names.push_back(plan.names[each]);
    return fail(Code::invalid,
                fmt::format("{} do not fit together on {} {}", fmt::join(names, " and "),
                            group.gpus(), made.board.name),
                {}, "give the group more GPUs, or fewer models");
  }
  made.limits.kv_blocks = static_cast<std::int32_t>(std::min(std::floor(blocks), 1e8));
  return made;
}

/// Lets requests count models as the plan does.
Result<void> name_as(const Plan& plan, Requests& requests) {
  if (requests.models.empty()) {
    if (plan.names.size() == 1) return {};
    return fail(Code::invalid,
                fmt::format("the plan has {} models, but requests name none", plan.names.size()),
                {}, "add a column model to the log of requests");
  }
  std::vector<std::uint32_t> becomes;
  for (const std::string& name : requests.models) {
    const auto found = std::find(plan.names.begin(), plan.names.end(), name);
    if (found == plan.names.end()) {
      return fail(Code::invalid,
                  fmt::format("requests name the model \"{}\", which no GPU of the plan has", name),
                  {}, text::meant_or_known(name, plan.names));
    }
    becomes.push_back(static_cast<std::uint32_t>(found - plan.names.begin()));
  }
  for (Request& each : requests.all) each.model = becomes[each.model];
  requests.models = plan.names;
  return {};
}

}  // namespace

int Plan::gpus() const {
  int sum = 0;
  for (const Group& each : groups) sum += each.gpus();
  return sum;
}

double Plan::price(double gpu_hour) const {
  double sum = 0;
  for (const Group& each : groups) sum += each.gpus() * each.gpu_hour.value_or(gpu_hour);
  return sum;
}

int Plan::replicas_of(std::size_t model) const {
  return static_cast<int>(std::count_if(groups.begin(), groups.end(), [&](const Group& each) {
    return std::find(each.models.begin(), each.models.end(), model) != each.models.end();
  }));
}

Result<Plan> read_plan(const std::string& path) {
  auto reader = table::CsvReader::open(path);
  if (!reader) return tl::unexpected(reader.error());
  const auto gpus = reader->find("gpus"), name = reader->find("model");
  if (!gpus || !name) {
    return fail(Code::invalid, "has no columns gpus and model", {.file = path, .line = 1},
                "a row for each replica, such as \"0-3,llama-3.1-70b\"");
  }
  const auto board = reader->find("board"), price = reader->find("gpu_hour");
  Plan plan;
  while (true) {
    const auto more = reader->next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) break;
    const auto range = range_of((*reader)[*gpus]);
    if (!range) {
      return fail(
          Code::invalid,
          fmt::format("gpus: \"{}\" does not name the GPUs of one replica", (*reader)[*gpus]),
          reader->where(), "write 0 or 0-3; inference deploy plans fractions of GPUs");
    }
    auto model = model_of(plan, (*reader)[*name]);
    if (!model) {
      if (model.error().where.file.empty()) model.error().where = reader->where();
      return tl::unexpected(model.error());
    }
    Plan::Group* const group = group_of(plan, *range);
    if (group == nullptr) {
      return fail(Code::invalid,
                  fmt::format("GPUs {} overlap with those of another row", (*reader)[*gpus]),
                  reader->where(), "two rows must have the same GPUs or no GPU in common");
    }
    if (std::find(group->models.begin(), group->models.end(), *model) != group->models.end()) {
      return fail(Code::invalid,
                  fmt::format("GPUs {} have {} twice", (*reader)[*gpus], (*reader)[*name]),
                  reader->where(), "delete the row");
    }
    const std::string kind(board ? (*reader)[*board] : "");
    const std::string cost(price ? (*reader)[*price] : "");
    if (auto told = tell_kind(*group, kind, cost, reader->where()); !told) {
      return tl::unexpected(told.error());
    }
    group->models.push_back(*model);
  }
  if (plan.groups.empty()) return fail(Code::invalid, "places no model anywhere", {.file = path});
  return plan;
}

Result<std::vector<Outcome>> play_placed(const Service& service, Requests requests,
                                         const Plan& plan) {
  if (auto named = name_as(plan, requests); !named) return tl::unexpected(named.error());
  std::vector<Parts> made;
  std::vector<Duty> duties;
  std::vector<std::unique_ptr<Router>> routers(plan.models.size());
  for (std::size_t group = 0; group < plan.groups.size(); ++group) {
    const auto& models = plan.groups[group].models;
    for (const std::size_t model : models) {
      const auto one = member(service, plan, plan.groups[group], model);
      if (!one) return tl::unexpected(one.error());
      auto each = parts(*one);
      if (!each) return tl::unexpected(each.error());
      if (each->router->period() != kNever) {
        return fail(Code::usage,
                    fmt::format("router {} migrates requests, which replicas of a plan cannot do",
                                service.router),
                    {}, "choose another router");
      }
      if (routers[model] == nullptr) routers[model] = std::move(each->router);
      duties.push_back(
          {.model = static_cast<std::uint32_t>(model),
           .lane = models.size() == 1 ? Duty::kAlone : static_cast<std::uint32_t>(group)});
      made.push_back(std::move(*each));
    }
  }
  Simulation simulation(std::move(requests));
  for (std::size_t each = 0; each < made.size(); ++each) {
    simulation.add(made[each].limits, *made[each].step, made[each].former(), duties[each]);
  }
  ByModel router(simulation.requests(), std::move(routers));
  simulation.run(router);
  return simulation.outcomes();
}

Part part_of(const std::string& model, const Requests& requests,
             const std::vector<Outcome>& outcomes) {
  Part part;
  part.requests.blocks = requests.blocks;
  part.requests.tokens_per_block = requests.tokens_per_block;
  part.requests.tenants = requests.tenants;
  part.requests.adapters = requests.adapters;
  for (RequestId id = 0; id < requests.size(); ++id) {
    if (!requests.models.empty() && requests.models[requests[id].model] != model) continue;
    part.requests.all.push_back(requests[id]);
    part.outcomes.push_back(outcomes[id]);
  }
  return part;
}

}  // namespace almanac::inference
