// SPDX-License-Identifier: Apache-2.0
#include "kueue/quantity.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace almanac::kueue {
namespace {

struct Suffix {
  std::string_view text;
  int tens = 0;  ///< The factor is 10^tens x 2^twos.
  int twos = 0;
};

constexpr std::array kSuffixes{Suffix{"Ki", 0, 10}, Suffix{"Mi", 0, 20}, Suffix{"Gi", 0, 30},
                               Suffix{"Ti", 0, 40}, Suffix{"Pi", 0, 50}, Suffix{"Ei", 0, 60},
                               Suffix{"n", -9, 0},  Suffix{"u", -6, 0},  Suffix{"m", -3, 0},
                               Suffix{"k", 3, 0},   Suffix{"M", 6, 0},   Suffix{"G", 9, 0},
                               Suffix{"T", 12, 0},  Suffix{"P", 15, 0},  Suffix{"E", 18, 0}};

__extension__ using Wide = unsigned __int128;

constexpr Wide kLargest = Wide{1} << 56U;
constexpr std::size_t kMostDigits = 18;

bool is_digit(char sign) { return sign >= '0' && sign <= '9'; }

/// Takes digits from the front of `text`.
std::string_view take_digits(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  const auto size = static_cast<std::size_t>(end - text.begin());
  const std::string_view digits = text.substr(0, size);
  text.remove_prefix(size);
  return digits;
}

std::int64_t value_of(std::string_view digits) {
  std::int64_t value = 0;
  for (const char digit : digits) value = value * 10 + (digit - '0');
  return value;
}

/// Returns ceil(digits x 10^tens x 2^twos); more than kLargest if it is larger.
Wide scaled(std::int64_t digits, int tens, int twos) {
  if (digits == 0) return 0;
  if (tens > 20) return kLargest + 1;
  Wide value = static_cast<Wide>(digits);
  for (; tens > 0; --tens) {
    value *= 10;
    if (value > kLargest) return value;
  }
  // 18 digits and 60 bits fit into 128.
  value <<= static_cast<unsigned>(twos);
  for (; tens < 0 && value > 0; ++tens) value = value / 10 + (value % 10 != 0 ? 1 : 0);
  return value;
}

}  // namespace

Result<Amount> read_quantity(std::string_view text, std::string_view resource) {
  const auto wrong = [&] {
    return fail(Code::invalid,
                fmt::format("expected a quantity such as 8, 500m or 64Gi, found '{}'", text));
  };
  std::string_view rest = text;
  if (!rest.empty() && rest.front() == '+') rest.remove_prefix(1);
  std::string digits(take_digits(rest));
  int tens = resource == "cpu" ? 3 : 0;
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    const std::string_view behind = take_digits(rest);
    digits += behind;
    tens -= static_cast<int>(behind.size());
  }
  if (digits.empty() || digits.size() > kMostDigits) return wrong();
  int twos = 0;
  if (!rest.empty()) {
    const auto* const suffix = std::find_if(kSuffixes.begin(), kSuffixes.end(),
                                            [&](const Suffix& each) { return each.text == rest; });
    if (suffix != kSuffixes.end()) {
      tens += suffix->tens;
      twos = suffix->twos;
    } else {
      if (rest.front() != 'e' && rest.front() != 'E') return wrong();
      rest.remove_prefix(1);
      const bool is_negative = !rest.empty() && rest.front() == '-';
      if (is_negative || (!rest.empty() && rest.front() == '+')) rest.remove_prefix(1);
      const std::string_view exponent = take_digits(rest);
      if (exponent.empty() || exponent.size() > 2 || !rest.empty()) return wrong();
      const int power = static_cast<int>(value_of(exponent));
      tens += is_negative ? -power : power;
    }
  }
  const Wide value = scaled(value_of(digits), tens, twos);
  if (value > kLargest) return wrong();
  return static_cast<Amount>(value);
}

}  // namespace almanac::kueue
