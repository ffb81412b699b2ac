// SPDX-License-Identifier: Apache-2.0
#include "rules/elastic/application.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace almanac::elastic {
namespace {

/// The GPUs of each node as digits, from the node where the word that goes round the ring is least.
std::uint64_t shape_of(std::span<const int> ring) {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (std::size_t first = 0; first < ring.size(); ++first) {
    std::uint64_t word = 0;
    for (std::size_t at = 0; at < ring.size(); ++at) {
      word = 10 * word + static_cast<std::uint64_t>(ring[(first + at) % ring.size()]);
    }
    least = std::min(least, word);
  }
  return least;
}

double on_line(double x, double x0, double y0, double x1, double y1) {
  return (y1 - y0) / (x1 - x0) * (x - x0) + y0;
}

}  // namespace

void StepTable::measure(std::uint64_t shape, double local_batch, StepTime time) {
  measured_[shape].push_back({.local_batch = local_batch, .time = time});
}

void StepTable::interpolate(int nodes, int gpus, int from, int to, StepTime at_from,
                            StepTime slope) {
  segments_[{nodes, gpus}].push_back({.from = from, .to = to, .at_from = at_from, .slope = slope});
  most_nodes_ = std::max(most_nodes_, nodes);
}

void StepTable::sort() {
  for (auto& [shape, rows] : measured_) {
    std::stable_sort(rows.begin(), rows.end(), [](const Measured& a, const Measured& b) {
      return a.local_batch < b.local_batch;
    });
  }
  for (auto& [key, segments] : segments_) {
    std::stable_sort(segments.begin(), segments.end(),
                     [](const Segment& a, const Segment& b) { return a.from < b.from; });
  }
}

std::optional<StepTime> StepTable::at(std::span<const int> gpus_by_node, int local_batch) const {
  int gpus = 0;
  bool in_digits = gpus_by_node.size() <= 19;
  for (const int each : gpus_by_node) {
    gpus += each;
    in_digits = in_digits && each >= 1 && each <= 9;
  }
  const auto known = in_digits ? measured_.find(shape_of(gpus_by_node)) : measured_.end();
  if (known != measured_.end()) {
    const std::vector<Measured>& rows = known->second;
    if (rows.size() < 2 || local_batch < rows.front().local_batch ||
        local_batch > rows.back().local_batch) {
      return beyond(gpus_by_node.size(), gpus, local_batch);
    }
    const auto above =
        std::lower_bound(rows.begin() + 1, rows.end() - 1, local_batch,
                         [](const Measured& row, int batch) { return row.local_batch < batch; });
    const Measured& high = *above;
    const Measured& low = *(above - 1);
    const auto between = [&](double y0, double y1) {
      return on_line(local_batch, low.local_batch, y0, high.local_batch, y1);
    };
    return StepTime{.step_s = between(low.time.step_s, high.time.step_s),
                    .sync_s = between(low.time.sync_s, high.time.sync_s)};
  }
  const int nodes = std::min(static_cast<int>(gpus_by_node.size()), most_nodes_);
  const auto found = segments_.find({nodes, gpus});
  if (found == segments_.end()) return beyond(gpus_by_node.size(), gpus, local_batch);
  const auto behind =
      std::upper_bound(found->second.begin(), found->second.end(), local_batch,
                       [](int batch, const Segment& segment) { return batch < segment.from; });
  if (behind == found->second.begin()) return beyond(gpus_by_node.size(), gpus, local_batch);
  const Segment& segment = *(behind - 1);
  if (local_batch > segment.to) return beyond(gpus_by_node.size(), gpus, local_batch);
  const double over = local_batch - segment.from;
  return StepTime{.step_s = segment.at_from.step_s + segment.slope.step_s * over,
                  .sync_s = segment.at_from.sync_s + segment.slope.sync_s * over};
}

std::optional<StepTime> StepTable::beyond(std::size_t nodes, int gpus, int local_batch) const {
  if (!otherwise_) return std::nullopt;
  const double step_s = otherwise_->step_s(static_cast<int>(nodes), gpus, local_batch);
  return StepTime{.step_s = step_s, .sync_s = step_s - otherwise_->pass_s(local_batch)};
}

void StepTable::each_measured(
    const std::function<void(std::uint64_t, double, const StepTime&)>& take) const {
  for (const auto& [shape, rows] : measured_) {
    for (const Measured& row : rows) take(shape, row.local_batch, row.time);
  }
}

bool Application::covers(double batch) const {
  return !validated.empty() && validated.begin()->first <= batch &&
         batch <= validated.rbegin()->first;
}

double Application::progress_after(int epochs) const {
  if (epochs == 0) return 0;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [batch, rows] : validated) {
    least = std::min(least, rows[static_cast<std::size_t>(epochs) - 1].progress);
  }
  return least;
}

namespace {

/// Returns `value` of an epoch of the validation runs, interpolated between the two nearest
/// batches.
template <typename Value>
double between_runs(const Application& application, double batch, int epochs, Value value) {
  ALMANAC_CHECK(application.covers(batch), "{} was not validated with batch {}", application.name,
                batch);
  const auto& runs = application.validated;
  auto high = runs.begin();
  while (high->first < batch) ++high;
  const auto row = static_cast<std::size_t>(epochs);
  const double at_high = value(high->second[row]);
  if (high->first == batch) return at_high;
  const auto low = std::prev(high);
  return ((batch - low->first) * at_high + (high->first - batch) * value(low->second[row])) /
         (high->first - low->first);
}

}  // namespace

Gradient Application::gradient(double batch, int epochs) const {
  return {.sqr = between_runs(*this, batch, epochs,
                              [](const EpochRow& row) { return row.gradient.sqr; }),
          .var = between_runs(*this, batch, epochs,
                              [](const EpochRow& row) { return row.gradient.var; })};
}

double Application::iterations(double batch, int epochs) const {
  return between_runs(*this, batch, epochs, [](const EpochRow& row) { return row.iteration; });
}

int Application::epochs_known() const {
  std::size_t least = std::numeric_limits<int>::max();
  for (const auto& [batch, rows] : validated) least = std::min(least, rows.size());
  return static_cast<int>(least);
}

double step_gain(Gradient gradient, double batch, double initial_batch) {
  const double scale = batch / initial_batch;
  const double spread = gradient.var / scale + gradient.sqr;
  return spread > 0 ? (gradient.var + gradient.sqr) / spread : 1;
}

}  // namespace almanac::elastic
