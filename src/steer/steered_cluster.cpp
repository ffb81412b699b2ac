// SPDX-License-Identifier: Apache-2.0
#include "steer/steered_cluster.h"

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace almanac::steer {

SteeredCluster::SteeredCluster(Parts parts) : parts_(parts) {
  parts_.controller.meanwhile([this] { finish(); });
  parts_.steering.on_undone([this] { write_status(); });
}

Result<void> SteeredCluster::begin() {
  auto news = parts_.controller.ask_news();
  if (!news) return tl::unexpected(news.error());
  parts_.intake.take(std::move(*news));
  run_round();
  slim();
  parts_.watching.look_on();
  write_status();
  return {};
}

void SteeredCluster::renew(bool is_asked) {
  // What accounting has told is to be learned from.
  const bool has_come = parts_.known.past && parts_.known.past->has_come();
  parts_.succession.renew(is_asked || has_come);
}

void SteeredCluster::take_requests() {
  parts_.changes.take();
  if (parts_.steering.take_controls()) next_status_ = {};
}

bool SteeredCluster::look() {
  auto news = parts_.controller.ask_news();
  if (!news) return false;
  if (parts_.intake.take(std::move(*news))) parts_.watching.look_on();
  return true;
}

void SteeredCluster::decide() {
  has_decided_ = run_round();
  slim();
  if (parts_.steering.heed_canary()) next_status_ = {};
}

bool SteeredCluster::run_round() {
  // Orders change as time goes by, whatever happens.
  constexpr Duration kStale = 10s;
  Known& known = parts_.known;
  const std::lock_guard lock(known.mutex);
  const Time now = known.mirror.at();
  const Decision& last = known.decider->last();
  const bool is_stale = last.at == kNoTime || now >= last.wake || now - last.at >= kStale;
  known.counters.last_round = known.clock.wall();
  if (!known.look_again && !is_stale) return false;
  known.look_again = false;
  const auto begun = known.clock.monotonic();
  // No job is stopped for one that may have been refused.
  const std::vector<manager::Job> none;
  known.decider->decide(known.mirror, known.world, known.config.settings.exempt,
                        parts_.steering.moves("preemption") ? none : known.announced.jobs(),
                        known.driver.in_vain(parts_.steering.scene()));
  known.counters.count_round(known.clock.seconds_since(begun));
  return true;
}

void SteeredCluster::slim() {
  Known& known = parts_.known;
  if (!known.agents) return;
  const auto reports = known.agents->take_reports();
  const std::lock_guard lock(known.mutex);
  known.slimmer->look(known.mirror, known.world, reports, known.config.settings);
}

void SteeredCluster::keep() {
  const Time now = parts_.known.clock.wall();
  std::optional<store::Moment> sample;
  if (parts_.saving.is_sample_due(now)) {
    const service::Overview seen = parts_.views.overview();
    sample = {.at = now,
              .gpus = seen.gpus,
              .gpus_busy = seen.gpus_busy,
              .jobs_running = static_cast<std::int32_t>(seen.running),
              .jobs_waiting = static_cast<std::int32_t>(seen.waiting),
              .gpu_use = std::nan("")};
  }
  parts_.saving.save(sample);
}

bool SteeredCluster::act() {
  const bool has_acted = parts_.steering.turn_levers();
  if (has_decided_ || has_acted) ++parts_.known.revision;
  return has_acted;
}

void SteeredCluster::finish() {
  if (parts_.known.clock.monotonic() >= next_status_) write_status();
}

void SteeredCluster::close() {
  write_status();
  parts_.changes.close();
}

void SteeredCluster::write_status() {
  constexpr Duration kBetween = 2s;
  next_status_ = parts_.known.clock.monotonic() + kBetween;
  const auto written = steer::write_status(parts_.known.config.state, parts_.views.status());
  if (written) return;
  const std::lock_guard lock(parts_.known.mutex);
  parts_.saving.note_trouble(written.error());
}

}  // namespace almanac::steer
