// SPDX-License-Identifier: Apache-2.0

#include "inference/spot.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "inference/cold_start.h"
#include "inference/registry.h"
#include "inference/simulation.h"
#include "inference/spot_layout.h"

namespace almanac::inference {
namespace {

constexpr Micros kLooked = 60e6;  // over which the rate of requests is counted
constexpr Micros kTick = 0.1e6;   // between looks at whether a migration must begin

class SpotFleet {
 public:
  SpotFleet(SpotLayouts& layouts, const Service& service, const Requests& requests,
            const SpotCase& spot)
      : layouts_(layouts),
        spot_(spot),
        weights_(service.model.bytes()),
        kv_token_(service.model.kv_bytes()),
        link_(service.link_bytes_per_s / 1e6),
        engine_(cold_start(service, WeightTier::disk).engine),
        gpus_(static_cast<std::size_t>(spot.gpus)),
        router_(registry().routers.find(service.router)->make(service.seed)),
        simulation_(requests),
        begin_(requests.all.front().arrival),
        events_(events()),
        held_(spot.instances.size() * gpus_) {
    simulation_.connect(
        [token = kv_token_ / link_](std::int32_t tokens) { return token * tokens; });
  }

  SpotRun run() {
    advance(begin_);
    current_ = present();
    layout_ = layouts_.choose(gpus_in(current_), rate());
    open(slices(gpus_of(current_), layout_));
    changed();
    for (Micros at = next(); at != kNever; at = next()) {
      advance(at);
      if (is_over()) break;
      lose_gone();
      if (spot_.rule == SpotRule::migrate) migrate();
      if (spot_.rule == SpotRule::restart) restart();
      if (spot_.rule == SpotRule::reroute) reroute();
    }
    advance(kNever);
    return result();
  }

 private:
  using Gpus = std::vector<std::size_t>;  // an instance's number times GPUs of one, plus its own
  struct Copy {
    std::uint32_t number = 0;  // in the simulation
    Gpus gpus{};               // by shard
  };
  struct Starting {
    Micros at;
    Gpus gpus;
  };
  /// From one set of replicas to the next.
  struct Move {
    SpotLayout layout{};
    std::vector<Copy> stay{}, end{};
    std::vector<Gpus> fresh{};
    std::vector<std::size_t> heirs{};  // by ended replica: of those that stay, then of fresh ones
  };
  /// A move that waits for its time or travels.
  struct Moving {
    Move move{};
    bool is_first = false;                    // what ends replicas follows in a move of its own
    bool keeps = true;                        // the KV cache
    Micros at = kNever;                       // when it must be looked at again
    bool travels = false;                     // until `at`
    std::vector<std::vector<Visit>> taken{};  // by ended replica
  };

  /// Whether all requests have come and are answered.
  bool is_over() const {
    const auto is_empty = [](const std::vector<Visit>& each) { return each.empty(); };
    return simulation_.load().over && parked_.empty() &&
           (!moving_ || std::all_of(moving_->taken.begin(), moving_->taken.end(), is_empty));
  }

  // Instances and their GPUs.

  bool is_there(std::size_t instance) const {
    return now_ < begin_ + spot_.instances[instance].until;
  }
  std::size_t instance_of(std::size_t gpu) const { return gpu / gpus_; }
  Micros usable(const SpotInstance& instance) const {
    if (instance.from <= 0) return begin_;
    return begin_ + instance.from + (spot_.rule == SpotRule::migrate ? engine_ : 0);
  }
  /// Instances that can be used and were not given notice.
  std::vector<std::size_t> present() const {
    std::vector<std::size_t> made;
    for (std::size_t each = 0; each < spot_.instances.size(); ++each) {
      const SpotInstance& it = spot_.instances[each];
      if (usable(it) <= now_ && now_ < begin_ + it.until - spot_.grace) made.push_back(each);
    }
    return made;
  }
  int gpus_in(const std::vector<std::size_t>& instances) const {
    return static_cast<int>(instances.size() * gpus_);
  }
  Gpus all_gpus() const {
    Gpus made(held_.size());
    std::iota(made.begin(), made.end(), std::size_t{0});
    return made;
  }
  Gpus gpus_of(const std::vector<std::size_t>& instances) const {
    Gpus made;
    for (const std::size_t instance : instances) {
      for (std::size_t each = 0; each < gpus_; ++each) made.push_back(instance * gpus_ + each);
    }
    return made;
  }
  static std::vector<Gpus> slices(const Gpus& gpus, const SpotLayout& layout) {
    std::vector<Gpus> made;
    const auto each = static_cast<std::ptrdiff_t>(layout.replica_gpus());
    for (int copy = 0; copy < layout.replicas; ++copy) {
      made.emplace_back(gpus.begin() + copy * each, gpus.begin() + (copy + 1) * each);
    }
    return made;
  }
  static bool contains(const std::vector<std::size_t>& all, std::size_t each) {
    return std::find(all.begin(), all.end(), each) != all.end();
  }
  /// When instances can be used, get notice, and go.
  std::set<Micros> events() const {
    std::set<Micros> made;
    for (const SpotInstance& each : spot_.instances) {
      made.insert(usable(each));
      if (each.until == kNever) continue;
      made.insert(begin_ + each.until - spot_.grace);
      made.insert(begin_ + each.until);
    }
    return made;
  }
  Micros next() const {
    const auto event = events_.upper_bound(now_);
    Micros at = event == events_.end() ? kNever : *event;
    if (!starting_.empty()) at = std::min(at, starting_.front().at);
    return moving_ ? std::min(at, moving_->at) : at;
  }
  /// Requests per second.
  double rate() const {
    const auto& all = simulation_.requests().all;
    const auto count = [&](Micros until) {
      return static_cast<double>(
          std::upper_bound(all.begin(), all.end(), until,
                           [](Micros at, const Request& each) { return at < each.arrival; }) -
          all.begin());
    };
    // Nothing has been counted at the first request, and what is chosen then may stay for long.
    const Micros until = now_ > begin_ ? now_ : all.back().arrival;
    const Micros from = now_ > begin_ ? std::max(begin_, now_ - kLooked) : begin_;
    const double before = from > begin_ ? count(from) : 1;  // the first request begins the time
    if (until > from) return (count(until) - before) / ((until - from) / 1e6);
    return all.size() > 1 ? std::numeric_limits<double>::infinity() : 0;  // all at once, or one
  }

  // Replicas.

  void advance(Micros until) {
    simulation_.advance(until, *router_);
    now_ = until;
  }
  void open(const std::vector<Gpus>& fresh) {
    if (fresh.empty()) return;
    const Parts& parts = layouts_.parts_of(layout_);
    const auto shards = shards_of(layout_);
    for (const Gpus& gpus : fresh) {
      copies_.push_back({simulation_.add(parts.limits, *parts.step, parts.former()), gpus});
      for (std::size_t each = 0; each < gpus.size(); ++each) held_[gpus[each]] = shards[each];
    }
    changed();
  }
  void note_layout() {
    SpotLayout now = layout_;
    now.replicas = static_cast<int>(copies_.size());
    if (!steps_.empty() && steps_.back().layout.is_divided_like(now) &&
        steps_.back().layout.replicas == now.replicas) {
      return;
    }
    if (!steps_.empty() && steps_.back().at == now_ - begin_) steps_.pop_back();
    const bool is_fixed = spot_.rule == SpotRule::reroute && layout_.replicas > 0;
    const int needed = is_fixed ? layout_.replica_gpus() : layouts_.least_gpus();
    steps_.push_back({now_ - begin_, now, gpus_in(present()), needed});
  }
  /// Counts and notes that replicas ended or began.
  void changed() {
    if (now_ > begin_ && std::exchange(changed_at_, now_) != now_) ++changes_;
    note_layout();
    if (copies_.empty()) {
      closed_at_ = std::min(closed_at_, now_);
    } else if (closed_at_ != kNever) {
      stopped_ += now_ - std::exchange(closed_at_, kNever);
    }
  }
  Micros from_disk(const SpotLayout& layout) const {
    return cold_start(layouts_.service_of(layout), WeightTier::disk, spot_.gpus).weights;
  }

  /// Ends what instances that are gone had. A move in which one of them takes part has failed.
  void lose_gone() {
    const auto is_broken = [&](const Gpus& gpus) {
      return std::any_of(gpus.begin(), gpus.end(),
                         [&](std::size_t gpu) { return !is_there(instance_of(gpu)); });
    };
    for (std::size_t gpu = 0; gpu < held_.size(); ++gpu) {
      if (!is_there(instance_of(gpu))) held_[gpu].reset();
    }
    const bool has_failed = std::any_of(current_.begin(), current_.end(),
                                        [&](std::size_t each) { return !is_there(each); });
    std::erase_if(starting_, [&](const Starting& each) { return is_broken(each.gpus); });
    const std::size_t ended = std::erase_if(copies_, [&](const Copy& each) {
      if (!is_broken(each.gpus)) return false;
      if (spot_.rule == SpotRule::migrate) {
        park(simulation_.take(each.number));
      } else {
        simulation_.lose(each.number);
      }
      return true;
    });
    if (ended > 0) changed();
    if (ended > 0 || has_failed) is_planned_ = false;
    if (moving_ && (has_failed || (ended > 0 && !moving_->travels))) {
      for (const auto& visits : moving_->taken) park(visits);
      moving_.reset();
    }
  }

  // The systems that SpotServe is compared with.

  void open_started() {
    while (!starting_.empty() && starting_.front().at <= now_) {
      open({starting_.front().gpus});
      starting_.erase(starting_.begin());
    }
  }

  void restart() {
    const auto next = present();
    const auto is_gone = [&](std::size_t each) { return !is_there(each); };
    const auto is_noticed = [&](std::size_t each) { return !contains(next, each); };
    // All serve on until the first instance with a notice is gone.
    const bool waits = !copies_.empty() &&
                       std::none_of(current_.begin(), current_.end(), is_gone) &&
                       std::any_of(current_.begin(), current_.end(), is_noticed);
    if (next != current_ && !waits) {
      for (const Copy& each : copies_) simulation_.lose(each.number);
      if (!std::exchange(copies_, {}).empty()) changed();
      current_ = next;
      layout_ = layouts_.choose(gpus_in(current_), rate());
      starting_.clear();  // a start for other instances is given up
      for (const Gpus& gpus : slices(gpus_of(current_), layout_)) {
        starting_.push_back({now_ + engine_ + from_disk(layout_), gpus});
      }
    }
    open_started();
  }

  void reroute() {
    open_started();
    Gpus free = gpus_of(present());
    const auto take = [&](const Gpus& gpus) {
      std::erase_if(free, [&](std::size_t gpu) { return contains(gpus, gpu); });
    };
    for (const Copy& each : copies_) take(each.gpus);
    for (const Starting& each : starting_) take(each.gpus);
    // A fleet that began without instances has no division yet.
    if (layout_.replicas == 0) layout_ = layouts_.choose(gpus_in(present()), rate());
    if (layout_.replicas == 0) return;
    SpotLayout more = layout_;
    more.replicas = static_cast<int>(free.size()) / layout_.replica_gpus();
    for (const Gpus& gpus : slices(free, more)) {
      starting_.push_back({now_ + engine_ + from_disk(layout_), gpus});
    }
  }

  // SpotServe.

  double kv_bytes(const Copy& copy) const {
    return kv_token_ * static_cast<double>(simulation_.tokens_of(copy.number));
  }

  Move next_move(const std::vector<std::size_t>& next) {
    Move made{.layout = layouts_.choose(gpus_in(next), rate())};
    Gpus free = gpus_of(next);
    const bool is_alike = made.layout.is_divided_like(layout_);
    for (const Copy& each : copies_) {
      const bool is_whole = std::all_of(each.gpus.begin(), each.gpus.end(), [&](std::size_t gpu) {
        return contains(next, instance_of(gpu));
      });
      if (!is_alike || !is_whole) {
        made.end.push_back(each);
        continue;
      }
      made.stay.push_back(each);
      std::erase_if(free, [&](std::size_t gpu) { return contains(each.gpus, gpu); });
    }
    const std::size_t all = static_cast<std::size_t>(made.layout.replicas);
    // The most tokens first, each to where the fewest are.
    std::stable_sort(made.end.begin(), made.end.end(),
                     [&](const Copy& a, const Copy& b) { return kv_bytes(a) > kv_bytes(b); });
    std::vector<double> loads(all);
    for (std::size_t each = 0; each < made.stay.size(); ++each)
      loads[each] = kv_bytes(made.stay[each]);
    for (const Copy& each : made.end) {
      if (all == 0) break;
      const auto least = std::min_element(loads.begin(), loads.end());
      *least += kv_bytes(each);
      made.heirs.push_back(static_cast<std::size_t>(least - loads.begin()));
    }
    const auto shards = shards_of(made.layout);
    const std::size_t fresh = all - made.stay.size();
    const auto gain = [&](std::size_t gpu, std::size_t wanted) {
      const auto& held = held_[free[gpu]];
      if (!held) return 0.0;
      double bytes = weights_;
      for (std::size_t end = 0; end < made.end.size(); ++end) {
        const Gpus& gpus = made.end[end].gpus;
        if (made.heirs[end] != made.stay.size() + wanted / shards.size()) continue;
        if (contains(gpus, free[gpu])) bytes += kv_bytes(made.end[end]);
      }
      return bytes * in_common(*held, shards[wanted % shards.size()]);
    };
    const auto places = assign_shards(free.size(), fresh * shards.size(), gain);
    made.fresh.resize(fresh);
    for (std::size_t each = 0; each < places.size(); ++each) {
      made.fresh[each / shards.size()].push_back(free[places[each]]);
    }
    return made;
  }

  /// The part of `wanted` that none of the GPUs of an instance, among `gpus`, holds.
  double missing(std::size_t instance, const Shard& wanted, const Gpus& gpus) const {
    std::set<Shard> known;
    for (const std::size_t gpu : gpus) {
      if (instance_of(gpu) == instance && held_[gpu]) known.insert(*held_[gpu]);
    }
    double left = wanted.size();
    for (const Shard& each : known) left -= in_common(each, wanted);
    return std::max(0.0, left);
  }

  /// How long what is missing travels.
  Micros takes(const Move& move, bool with_weights, bool with_kv) const {
    const auto shards = shards_of(move.layout);
    std::vector<double> bytes(spot_.instances.size());
    const auto receive = [&](std::size_t copy, const Gpus& gpus, bool is_fresh) {
      for (std::size_t each = 0; each < gpus.size(); ++each) {
        const std::size_t to = instance_of(gpus[each]);
        if (with_weights && is_fresh) {
          bytes[to] += weights_ * missing(to, shards[each], gpus_of({to}));
        }
        for (std::size_t end = 0; with_kv && end < move.end.size(); ++end) {
          if (move.heirs[end] != copy) continue;
          bytes[to] += kv_bytes(move.end[end]) * missing(to, shards[each], move.end[end].gpus);
        }
      }
    };
    for (std::size_t each = 0; each < move.stay.size(); ++each) {
      receive(each, move.stay[each].gpus, false);
    }
    for (std::size_t each = 0; each < move.fresh.size(); ++each) {
      receive(move.stay.size() + each, move.fresh[each], true);
    }
    double most = 0, sum = 0, givers = 0;
    for (std::size_t each = 0; each < bytes.size(); ++each) {
      most = std::max(most, bytes[each]);
      sum += bytes[each];
      const Gpus own = gpus_of({each});
      givers +=
          std::any_of(own.begin(), own.end(), [&](auto gpu) { return held_[gpu].has_value(); });
    }
    return std::max(most, givers > 0 ? sum / givers : 0) / link_;
  }

  /// Whether these GPUs hold all weights, as they are divided now.
  bool hold_all(const Gpus& gpus) const {
    std::set<Shard> known;
    for (const std::size_t gpu : gpus) {
      const auto& held = held_[gpu];
      if (held && held->stages == layout_.stages && held->parts == layout_.gpus)
        known.insert(*held);
    }
    return known.size() == static_cast<std::size_t>(layout_.replica_gpus());
  }

  /// When the first instance goes that has notice and weights; kNever if none has.
  Micros deadline() const {
    Micros first = kNever;
    for (std::size_t gpu = 0; gpu < held_.size(); ++gpu) {
      const std::size_t instance = instance_of(gpu);
      if (!held_[gpu] || contains(current_, instance)) continue;
      first = std::min(first, begin_ + spot_.instances[instance].until);
    }
    return first;
  }

  /// Whether weights are missing that must be read from disk: no GPU has them, or those that have
  /// them go before they are sent.
  bool needs_disk(const Move& move) const {
    const Micros travel = takes(move, true, false);
    if (travel == 0 || hold_all(gpus_of(current_))) return false;
    return now_ + travel > deadline() || !hold_all(all_gpus());
  }

  void migrate() {
    while (true) {
      if (moving_ && moving_->travels) {
        if (moving_->at > now_) break;
        arrive();
      }
      if (!is_planned_ || present() != current_) plan_move();
      if (!moving_ || !begin_move()) break;
    }
    if (copies_.empty()) return;
    const auto parked = std::exchange(parked_, {});
    for (std::size_t each = 0; each < parked.size(); ++each) {
      resume(parked[each], each % copies_.size(), 0);
    }
  }

  void plan_move() {
    current_ = present();
    is_planned_ = true;
    moving_.reset();
    Move move = next_move(current_);
    if (move.end.empty() && move.fresh.empty()) return;
    Move first = first_of(move);
    if (first.fresh.empty()) {
      moving_ = Moving{.move = std::move(move)};
    } else {
      moving_ = Moving{.move = std::move(first), .is_first = true};
    }
  }

  /// During a grace period: the part of `move` that fills GPUs without replicas, if it leaves time
  /// for the rest or needs none of the GPUs that go.
  Move first_of(const Move& move) const {
    Move made{.layout = move.layout, .stay = copies_};
    if (deadline() == kNever || !move.layout.is_divided_like(layout_)) return made;
    for (const Gpus& gpus : move.fresh) {
      const bool is_idle = std::none_of(copies_.begin(), copies_.end(), [&](const Copy& each) {
        return std::any_of(gpus.begin(), gpus.end(),
                           [&](std::size_t gpu) { return contains(each.gpus, gpu); });
      });
      if (is_idle) made.fresh.push_back(gpus);
    }
    const bool all = made.fresh.size() == move.fresh.size();
    const Micros travel = takes(made, true, false), rest = takes(move, !all, true);
    if (now_ + travel + rest > deadline() && !needs_disk(made)) made.fresh.clear();
    return made;
  }

  /// Begins the move that was planned. Returns false if it must wait.
  bool begin_move() {
    Moving& it = *moving_;
    const Micros until = deadline();
    Micros travel = 0;
    it.keeps = it.move.layout.replicas > 0;
    if (!it.keeps) {
      it.at = until;
      if (until != kNever) return false;
    } else if (needs_disk(it.move)) {
      it.keeps = false;
      it.at = until;
      if (until != kNever && !it.is_first) return false;
      travel = from_disk(it.move.layout);
    } else {
      travel = takes(it.move, true, true);
      if (now_ + travel > until) {
        it.keeps = false;
        travel = takes(it.move, true, false);
      }
      // Replicas compute for as long as the rest of the grace period carries the migration.
      it.at = now_ + kTick;
      if (until != kNever && !it.is_first && now_ + 2 * kTick + travel <= until) return false;
    }
    for (const Copy& each : it.move.end) it.taken.push_back(simulation_.take(each.number));
    copies_ = it.move.stay;
    if (!it.move.end.empty()) changed();
    it.travels = true;
    it.at = now_ + travel;
    return true;
  }

  void arrive() {
    const Moving it = *std::exchange(moving_, std::nullopt);
    layout_ = it.move.layout;
    open(it.move.fresh);
    if (it.is_first) is_planned_ = false;
    continue_requests(it.move, it.taken, it.keeps);
  }

  void park(const std::vector<Visit>& visits) {
    parked_.insert(parked_.end(), visits.begin(), visits.end());
  }

  /// Gives a request to a replica. If its KV cache does not fit into `room`, in tokens, prompt and
  /// tokens so far are computed again. Returns the tokens that it takes.
  std::int64_t resume(Visit visit, std::size_t copy, std::int64_t room) {
    if (visit.ready > 0 && visit.ready >= room) visit.known = std::exchange(visit.ready, 0) + 1;
    kept_ += visit.ready > 0;
    computed_ += visit.known > 0;
    simulation_.resume(visit, copies_[copy].number);
    return std::max(visit.ready, visit.known);
  }

  void continue_requests(const Move& move, const std::vector<std::vector<Visit>>& taken,
                         bool keeps) {
    if (copies_.empty()) {
      for (const auto& visits : taken) park(visits);
      return;
    }
    const Limits& limits = layouts_.parts_of(layout_).limits;
    std::vector<std::int64_t> room;
    for (const Copy& each : copies_) {
      room.push_back(std::int64_t{limits.kv_blocks} * limits.block_tokens -
                     simulation_.tokens_of(each.number));
    }
    for (std::size_t end = 0; end < taken.size(); ++end) {
      const std::size_t heir = move.heirs[end];
      for (const Visit& each : taken[end]) room[heir] -= resume(each, heir, keeps ? room[heir] : 0);
    }
  }

  SpotRun result() {
    SpotRun made{.outcomes = simulation_.outcomes(),
                 .steps = steps_,
                 .busy = simulation_.busy(),
                 .changes = changes_,
                 .stopped_s = stopped_ / 1e6,
                 .kept = kept_,
                 .computed = computed_};
    Micros last = simulation_.requests().all.back().arrival;
    for (const Outcome& each : made.outcomes) {
      if (each.finish != kNever) last = std::max(last, each.finish);
    }
    if (closed_at_ != kNever) made.stopped_s += std::max(0.0, last - closed_at_) / 1e6;
    made.span = last - begin_;
    for (const SpotInstance& each : spot_.instances) {
      const Micros from = std::max(0.0, each.from), until = std::min(each.until, last - begin_);
      made.gpu_s += static_cast<double>(gpus_) * std::max(0.0, until - from) / 1e6;
    }
    return made;
  }

  SpotLayouts& layouts_;
  const SpotCase& spot_;
  double weights_;   // bytes
  double kv_token_;  // bytes
  double link_;      // bytes per microsecond
  Micros engine_;
  std::size_t gpus_;
  std::unique_ptr<Router> router_;
  Simulation simulation_;
  Micros begin_;
  std::set<Micros> events_;
  std::vector<std::optional<Shard>> held_;  // by GPU
  Micros now_ = 0;
  SpotLayout layout_{};
  std::vector<std::size_t> current_;  // instances that the layout is for
  std::vector<Copy> copies_;
  std::vector<Starting> starting_;
  std::vector<SpotStep> steps_;
  std::optional<Moving> moving_;
  bool is_planned_ = true;     // what the present instances call for
  std::vector<Visit> parked_;  // that no replica continues yet
  Micros closed_at_ = kNever, stopped_ = 0, changed_at_ = 0;
  int changes_ = 0;
  std::int64_t kept_ = 0, computed_ = 0;
};

}  // namespace

Result<SpotRun> play_spot(const Service& service, const Requests& requests, const SpotCase& spot) {
  if (requests.size() == 0) return fail(Code::invalid, "there are no requests");
  auto layouts =
      SpotLayouts::make(service, requests, spot.gpus, most_at_once(spot.instances) * spot.gpus);
  if (!layouts) return tl::unexpected(layouts.error());
  return SpotFleet(*layouts, service, requests, spot).run();
}

}  // namespace almanac::inference
