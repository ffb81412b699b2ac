// SPDX-License-Identifier: Apache-2.0

/// \file
/// The columns of a figure with box plots.
#pragma once

#include <string>

#include "figure/figure.h"
#include "study/box.h"

namespace almanac::study {

/// Columns low, q1, median, q3, high and mean, each name with `suffix` ("_s"); one row per box.
class BoxColumns {
 public:
  BoxColumns(figure::Figure& figure, figure::Unit unit, const std::string& suffix = "")
      : low_(figure.number("low" + suffix, "Lower whisker", unit)),
        q1_(figure.number("q1" + suffix, "First quartile", unit)),
        median_(figure.number("median" + suffix, "Median", unit)),
        q3_(figure.number("q3" + suffix, "Third quartile", unit)),
        high_(figure.number("high" + suffix, "Upper whisker", unit)),
        mean_(figure.number("mean" + suffix, "Mean", unit)) {}

  void add(const Box& box) {
    low_.add(box.low);
    q1_.add(box.q1);
    median_.add(box.median);
    q3_.add(box.q3);
    high_.add(box.high);
    mean_.add(box.mean);
  }
  /// Returns the names of the columns, for a box chart.
  figure::Chart::Box names() const {
    return {low_.name, q1_.name, median_.name, q3_.name, high_.name, mean_.name};
  }

 private:
  figure::Column& low_;
  figure::Column& q1_;
  figure::Column& median_;
  figure::Column& q3_;
  figure::Column& high_;
  figure::Column& mean_;
};

}  // namespace almanac::study
