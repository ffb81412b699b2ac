// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/elastic_allocator.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

namespace almanac::policy {

std::optional<ElasticAllocator::Elastic> ElasticAllocator::elastic(JobId job, std::uint64_t types,
                                                                   const View& view) {
  const trace::Request& request = view.request(job);
  const cluster::Demand& demand = asked(job, view);
  if (request.max_gpus == 0 || (demand.gpu_types & types) == 0) return std::nullopt;
  const auto told = view.training(job);
  if (!told || told->batches.initial_batch == 0 || told->total <= 0) return std::nullopt;
  Elastic made{.job = job, .told = *told, .types = demand.gpu_types & types};
  const trace::Sizes sizes = trace::sizes_of(request);
  const int usable =
      std::clamp(told->batches.max_batch / told->batches.min_local_batch, 1, request.max_gpus);
  made.most = usable / sizes.step * sizes.step;
  made.least = sizes.least;
  if (made.most < made.least) return std::nullopt;  // its batch does not suffice for that many
  if (view.progress(job).phase == Phase::running) {
    made.held_type = type_held(job, view);
    if ((made.held_type & types) == 0) return std::nullopt;
    for (const cluster::Grant& grant : view.grants(job)) made.held_gpus += grant.count();
    made.held_nodes = static_cast<int>(view.grants(job).size());
  }
  made.restart_s = std::isnan(request.restart_s)
                       ? seconds(view.restart.of(std::max(1, made.held_gpus)))
                       : double{request.restart_s};
  return made;
}

ElasticAllocator::Room ElasticAllocator::room_of(VcId vc, std::uint64_t type,
                                                 const cluster::Ledger& ledger) {
  Room made{.type = type};
  for (const cluster::Pool& pool : ledger.pools(vc)) {
    if (pool.gpu_type != type || pool.gpus_per_node == 0) continue;
    made.per_node = std::max(made.per_node, pool.gpus_per_node);
    for (const NodeId node : pool.nodes) {
      if (!ledger.ready(node)) continue;
      made.nodes.push_back({node, std::popcount(ledger.free_mask(node))});
    }
  }
  std::sort(made.nodes.begin(), made.nodes.end(),
            [](const NodeGpus& a, const NodeGpus& b) { return a.node < b.node; });
  return made;
}

void ElasticAllocator::open_up(std::span<Room> rooms, std::span<const cluster::Grant> held) {
  for (Room& room : rooms) {
    for (const cluster::Grant& grant : held) {
      const auto at =
          std::lower_bound(room.nodes.begin(), room.nodes.end(), grant.node,
                           [](const NodeGpus& each, NodeId node) { return each.node < node; });
      if (at != room.nodes.end() && at->node == grant.node) at->gpus += grant.count();
    }
  }
}

void ElasticAllocator::take_least(const Elastic& job, std::vector<Stock>& left,
                                  std::vector<Room>& rooms, const View& view) {
  Room* most = nullptr;
  std::int64_t milli = 0;
  for (Room& room : rooms) {
    if ((room.type & job.types) == 0) continue;
    for (const Stock& each : left) {
      if (each.gpu_type != room.type || each.milli <= milli) continue;
      most = &room;
      milli = each.milli;
    }
  }
  if (most == nullptr) return;
  cluster::Demand one = asked(job.job, view);
  one.gpus = job.least;
  one.gpu_types = most->type;
  if (take(left, one)) most->gpus += one.gpus;
}

void ElasticAllocator::deal_types(VcId, std::span<const Elastic> jobs, std::span<const Room> rooms,
                                  const View& view, const cluster::Ledger&,
                                  std::vector<Wish>& wishes) {
  const std::size_t first = wishes.size();
  deal(jobs, rooms.front(), view, wishes);
  for (std::size_t at = first; at < wishes.size(); ++at) wishes[at].gpu_types = rooms.front().type;
}

Wish ElasticAllocator::keep(JobId job, std::vector<Stock>& stock, const View& view) {
  cluster::Demand held = asked(job, view);
  held.gpus = 0;
  for (const cluster::Grant& grant : view.grants(job)) held.gpus += grant.count();
  held.gpu_types = type_held(job, view);
  if (!held.is_cpu_job()) take(stock, held);
  return {.job = job, .gpus = held.gpus, .config = view.config(job)};
}

void ElasticAllocator::carry_on(std::span<const JobId> jobs, std::vector<Stock> stock,
                                const View& view, std::vector<Wish>& wishes) {
  for (const JobId job : jobs) {
    if (view.progress(job).phase == Phase::running) wishes.push_back(keep(job, stock, view));
  }
  for (const JobId job : jobs) {
    if (view.progress(job).phase == Phase::running || view.request(job).max_gpus > 0) continue;
    if (take(stock, job, view)) wishes.push_back({.job = job});
  }
}

bool ElasticAllocator::waits_for_deal(JobId job, const View& view) const {
  return view.request(job).max_gpus > 0 && dealt_ != kNoTime && view.now < dealt_ + every_;
}

/// Whether elastic jobs wait while none runs that a deal could disturb.
bool ElasticAllocator::are_newcomers_alone(std::span<const JobId> jobs, const View& view) {
  bool some_wait = false;
  for (const JobId job : jobs) {
    if (view.request(job).max_gpus == 0) continue;
    if (view.progress(job).phase == Phase::running) return false;
    some_wait = true;
  }
  return some_wait;
}

void ElasticAllocator::allocate(VcId vc, std::span<const JobId> jobs, const View& view, Plan& plan,
                                std::vector<Wish>& wishes) {
  std::vector<Stock> left = stock(vc, plan.ledger);
  has_elastic_.resize(view.cluster.vcs.size());
  has_elastic_[index(vc)] = std::any_of(jobs.begin(), jobs.end(),
                                        [&](JobId job) { return view.request(job).max_gpus > 0; });
  if (!is_time_to_deal(are_newcomers_alone(jobs, view), view) || !has_elastic_[index(vc)]) {
    return carry_on(jobs, std::move(left), view, wishes);
  }
  std::vector<Room> rooms;
  std::uint64_t types = 0;
  const auto most = std::max_element(
      left.begin(), left.end(), [](const Stock& a, const Stock& b) { return a.milli < b.milli; });
  for (auto each = left.begin(); each != left.end(); ++each) {
    if (!deals_all_types() && each != most) continue;
    rooms.push_back(room_of(vc, each->gpu_type, plan.ledger));
    types |= each->gpu_type;
  }
  std::vector<std::pair<JobId, std::optional<Elastic>>> line;
  for (const JobId job : jobs) {
    line.emplace_back(job, elastic(job, types, view));
    const std::optional<Elastic>& open = line.back().second;
    if (open) {
      hear(*open, view);
    } else if (view.progress(job).phase == Phase::running) {
      wishes.push_back(keep(job, left, view));
    }
  }
  std::vector<Elastic> open_jobs;
  for (const auto& [job, open] : line) {
    if (!open) {
      const bool waits = view.progress(job).phase != Phase::running;
      if (waits && take(left, job, view)) wishes.push_back({.job = job});
      continue;
    }
    take_least(*open, left, rooms, view);
    open_jobs.push_back(*open);
  }
  if (open_jobs.empty()) return;
  for (const Stock& each : left) {
    for (Room& room : rooms) {
      if (each.gpu_type == room.type) {
        room.gpus += static_cast<int>(each.milli / cluster::kWholeGpu);
      }
    }
  }
  for (const Elastic& job : open_jobs) {
    if (job.held_gpus > 0) open_up(rooms, view.grants(job.job));
  }
  const std::size_t dealt = wishes.size();
  deal_types(vc, open_jobs, rooms, view, plan.ledger, wishes);
  const std::vector<JobId> cut = cut_to_copies(std::span(wishes).subspan(dealt), view);
  heed_least(open_jobs, dealt, rooms, wishes);
  if (!cut.empty()) add_copies(cut, open_jobs, rooms, std::span(wishes).subspan(dealt), view);
}

std::vector<JobId> ElasticAllocator::cut_to_copies(std::span<Wish> wishes, const View& view) {
  std::vector<JobId> cut;
  for (Wish& wish : wishes) {
    const int step = trace::size_step(view.request(wish.job));
    if (wish.gpus % step == 0) continue;
    if (wish.gpus > step) cut.push_back(wish.job);
    wish = {.job = wish.job, .gpus = wish.gpus / step * step, .gpu_types = wish.gpu_types};
  }
  return cut;
}

void ElasticAllocator::add_copies(std::span<const JobId> cut, std::span<const Elastic> jobs,
                                  std::span<const Room> rooms, std::span<Wish> wishes,
                                  const View& view) {
  std::map<std::uint64_t, int> left_of;
  for (const Room& room : rooms) left_of[room.type] = room.gpus;
  for (const Wish& wish : wishes) left_of[wish.gpu_types] -= wish.gpus;
  for (Wish& wish : wishes) {
    if (std::find(cut.begin(), cut.end(), wish.job) == cut.end()) continue;
    const Elastic& job = *std::find_if(jobs.begin(), jobs.end(),
                                       [&](const Elastic& each) { return each.job == wish.job; });
    const Room& room = *std::find_if(rooms.begin(), rooms.end(),
                                     [&](const Room& each) { return each.type == wish.gpu_types; });
    const int step = trace::size_step(view.request(wish.job));
    int& left = left_of[wish.gpu_types];
    const int more = left >= step && wish.gpus + step <= job.most ? step : 0;
    left -= more;
    const int least = wish.least;
    wish = wish_of(job, wish.gpus + more, room);
    wish.gpu_types = room.type;
    wish.least = least;
  }
}

bool ElasticAllocator::is_time_to_deal(bool at_once, const View& view) {
  if (dealt_ == kNoTime || view.now >= dealt_ + every_ || at_once) dealt_ = view.now;
  is_behind_ = is_behind_ || dealt_ != view.now;
  return dealt_ == view.now;
}

/// Without elastic jobs, each job has what it requests, at any time.
Time ElasticAllocator::stands_until(VcId vc, const View&) const {
  return has_elastic_[index(vc)] ? Time::min() : kNever;
}

void ElasticAllocator::passed_by(VcId vc, const View& view, Plan& plan) {
  is_time_to_deal(false, view);
  settled(vc, view, plan);
}

void ElasticAllocator::hear(const Elastic& job, const View& view) {
  speeds.hear(job.job, job.told, view, deals_all_types() ? job.held_type : 0);
}

void ElasticAllocator::heed_least(std::span<const Elastic> jobs, std::size_t first,
                                  std::span<const Room> rooms, std::vector<Wish>& wishes) {
  std::map<std::uint64_t, int> left_of;
  for (const Room& room : rooms) left_of[room.type] = room.gpus;
  for (std::size_t at = first; at < wishes.size(); ++at) {
    left_of[wishes[at].gpu_types] -= wishes[at].gpus;
  }
  std::vector<Wish> kept(wishes.begin(), wishes.begin() + static_cast<std::ptrdiff_t>(first));
  for (std::size_t at = first; at < wishes.size(); ++at) {
    Wish wish = wishes[at];
    const auto job = std::find_if(jobs.begin(), jobs.end(),
                                  [&](const Elastic& each) { return each.job == wish.job; });
    wish.least = job->least;
    int& left = left_of[wish.gpu_types];
    const int lacks = std::max(0, wish.least - wish.gpus);
    if (lacks > left) {
      left += wish.gpus;
      continue;
    }
    if (lacks > 0) {
      left -= lacks;
      wish = {
          .job = wish.job, .gpus = wish.least, .gpu_types = wish.gpu_types, .least = wish.least};
    }
    kept.push_back(wish);
  }
  wishes = std::move(kept);
}

double ElasticAllocator::speed_on(const Elastic& job, int nodes, int gpus) {
  return speeds.knows(job.job) ? speeds.best(job.job, nodes, gpus).value : gpus;
}

Wish ElasticAllocator::wish_of(const Elastic& job, int gpus, const Room& room) {
  Wish wish{.job = job.job, .gpus = gpus};
  if (speeds.knows(job.job)) {
    const int nodes = gpus == job.held_gpus ? job.held_nodes : room.nodes_of(gpus);
    wish.config.batch = gpus * speeds.best(job.job, nodes, gpus).split.local_batch();
  }
  return wish;
}

void ElasticAllocator::settled(VcId, const View&, Plan& plan) {
  if (std::exchange(is_behind_, false)) plan.wake(dealt_ + every_);
  if (std::exchange(is_to_wake_, false)) plan.wake(wakes_);
}

void ElasticAllocator::deal_by(Time at, const View& view) {
  const bool is_asked = wakes_ > view.now && wakes_ <= at;
  if (is_asked) return;
  wakes_ = at;
  is_to_wake_ = true;
}

void ElasticAllocator::reported(JobId job, double metric, const View& view) {
  const auto told = elastic(job, type_held(job, view), view);
  if (!told) return;
  hear(*told, view);
  if (!std::isnan(metric)) noted(job, told->told, metric);
}

void ElasticAllocator::left(JobId job, const View& view) {
  const Phase phase = view.progress(job).phase;
  if (phase != Phase::running) speeds.forget(job);
  if (phase != Phase::running && phase != Phase::waiting) forgotten(job);
}

}  // namespace almanac::policy
