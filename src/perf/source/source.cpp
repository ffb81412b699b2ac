// SPDX-License-Identifier: Apache-2.0
#include "perf/source/source.h"

#include <cmath>

#include <fmt/format.h>

#include "text/nearest.h"
#include "text/number.h"

namespace almanac::perf::source {
namespace {

constexpr int kMostNodes = 1024;

}  // namespace

bool Rows::next() {
  const Result<bool> more = csv_.next();
  if (!more) throw Refused{more.error()};
  return *more;
}

std::string_view Rows::text(std::string_view column) const {
  const auto at = csv_.find(column);
  if (!at) {
    throw Refused{{Code::not_found,
                   fmt::format("column {} is missing", column),
                   {csv_.where().file, 1},
                   text::did_you_mean(column, csv_.header())}};
  }
  return csv_[*at];
}

double Rows::number(std::string_view column, double least, double most) const {
  const std::string_view field = text(column);
  const auto number = text::parse_decimal(field);
  if (number && *number >= least && *number <= most) return *number;
  const std::string most_text = most < 1e300 ? fmt::format(" to {}", most) : " or more";
  refuse(fmt::format("{} must be a number, {}{}, found \"{}\"", column, least, most_text, field));
}

int Rows::whole(std::string_view column, int least, int most) const {
  const double number = this->number(column, least, most);
  if (number != std::floor(number)) {
    refuse(fmt::format("{} must be a whole number, found \"{}\"", column, text(column)));
  }
  return static_cast<int>(number);
}

void Rows::refuse(std::string message, std::string hint) const {
  throw Refused{{Code::invalid, std::move(message), csv_.where(), std::move(hint)}};
}

std::pair<int, int> placement_of(const Rows& rows, std::string_view digits) {
  int gpus = 0;
  for (const char digit : digits) {
    if (digit < '1' || digit > '9') {
      rows.refuse(fmt::format(
          "a placement is the number of GPUs on each node, a digit 1 to 9 each: \"{}\"", digits));
    }
    gpus += digit - '0';
  }
  if (digits.empty() || digits.size() > kMostNodes) rows.refuse("the placement is empty");
  return {gpus, static_cast<int>(digits.size())};
}

}  // namespace almanac::perf::source
