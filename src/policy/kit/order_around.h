// SPDX-License-Identifier: Apache-2.0

/// \file
/// Base of orders that change something of another order: by default everything is as there.
#pragma once

#include <memory>
#include <utility>

#include "policy/slots.h"

namespace almanac::policy {

class OrderAround : public Order {
 public:
  explicit OrderAround(std::unique_ptr<Order> order) : order_(std::move(order)) {}

  double rank(const Candidate& job) const override { return order_->rank(job); }
  double tie(const Candidate& job) const override { return order_->tie(job); }
  Standing standing(const Candidate& job) const override { return order_->standing(job); }
  double drift() const override { return order_->drift(); }
  Duration jumps_after(const Candidate& job) const override { return order_->jumps_after(job); }
  bool needs_estimate() const override { return order_->needs_estimate(); }
  bool needs_distribution() const override { return order_->needs_distribution(); }
  bool needs_shares() const override { return order_->needs_shares(); }
  Time stands_until(const Candidate& job) const override { return order_->stands_until(job); }

 private:
  std::unique_ptr<Order> order_;
};

}  // namespace almanac::policy
