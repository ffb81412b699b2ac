// SPDX-License-Identifier: Apache-2.0

/// \file
/// Metric families that are made at each scrape from the answers of a service.
#pragma once

#include <utility>
#include <vector>

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>

namespace almanac::serve {

using Labels = std::vector<prometheus::ClientMetric::Label>;

inline prometheus::ClientMetric gauge(double value, Labels labels = {}) {
  prometheus::ClientMetric metric;
  metric.label = std::move(labels);
  metric.gauge.value = value;
  return metric;
}

class Families {
 public:
  void add_gauge(const char* name, const char* help,
                 std::vector<prometheus::ClientMetric> metrics) {
    add({name, help, prometheus::MetricType::Gauge, std::move(metrics)});
  }
  void add_gauge(const char* name, const char* help, double value) {
    add_gauge(name, help, {gauge(value)});
  }
  void add_counter(const char* name, const char* help, double value) {
    prometheus::ClientMetric metric;
    metric.counter.value = value;
    add({name, help, prometheus::MetricType::Counter, {metric}});
  }
  /// A family without metrics is left out.
  void add(prometheus::MetricFamily family) {
    if (!family.metric.empty()) all_.push_back(std::move(family));
  }
  const std::vector<prometheus::MetricFamily>& all() const { return all_; }

 private:
  std::vector<prometheus::MetricFamily> all_;
};

}  // namespace almanac::serve
