// SPDX-License-Identifier: Apache-2.0
#include "trace/sacct_columns.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "text/datetime.h"
#include "text/number.h"

namespace almanac::trace {
namespace {

using Kind = SacctKind;
using Filled = SacctFilled;

constexpr SacctColumn kSacctColumns[] = {
    {"JobID", Kind::id},
    {"JobIDRaw", Kind::id},
    {"Account", Kind::word},
    {"AdminComment", Kind::text},
    {"AllocCPUS", Kind::count, 32, Filled::all},
    {"AllocGRES", Kind::tres},
    {"AllocNodes", Kind::count, 16},
    {"AllocTRES", Kind::tres},
    {"AssocID", Kind::count, 32},
    {"AveCPU", Kind::length},
    {"AveCPUFreq", Kind::amount, 32},
    {"AveDiskRead", Kind::amount, 64},
    {"AveDiskWrite", Kind::amount, 64},
    {"AvePages", Kind::amount, 64},
    {"AveRSS", Kind::amount, 64},
    {"AveVMSize", Kind::amount, 64},
    {"BlockID", Kind::word},
    {"Cluster", Kind::word},
    {"Comment", Kind::text},
    {"Constraints", Kind::feature},
    {"ConsumedEnergy", Kind::amount, 64},
    {"ConsumedEnergyRaw", Kind::count, 64},
    {"Container", Kind::text},
    {"CPUTime", Kind::length, 0, Filled::all},
    {"CPUTimeRAW", Kind::count, 64, Filled::all},
    {"DBIndex", Kind::count, 64},
    {"DerivedExitCode", Kind::exit},
    {"Elapsed", Kind::length, 0, Filled::all},
    {"ElapsedRaw", Kind::count, 32, Filled::all},
    {"Eligible", Kind::time, 0, Filled::jobs},
    {"End", Kind::time},
    {"ExitCode", Kind::exit, 0, Filled::all},
    {"Extra", Kind::text},
    {"FailedNode", Kind::nodes},
    {"Flags", Kind::word},
    {"GID", Kind::count, 32},
    {"Group", Kind::word},
    {"JobName", Kind::text},
    {"Layout", Kind::word},
    {"Licenses", Kind::feature},
    {"MaxDiskRead", Kind::amount, 64},
    {"MaxDiskReadNode", Kind::nodes},
    {"MaxDiskReadTask", Kind::count, 32},
    {"MaxDiskWrite", Kind::amount, 64},
    {"MaxDiskWriteNode", Kind::nodes},
    {"MaxDiskWriteTask", Kind::count, 32},
    {"MaxPages", Kind::amount, 64},
    {"MaxPagesNode", Kind::nodes},
    {"MaxPagesTask", Kind::count, 32},
    {"MaxRSS", Kind::amount, 64},
    {"MaxRSSNode", Kind::nodes},
    {"MaxRSSTask", Kind::count, 32},
    {"MaxVMSize", Kind::amount, 64},
    {"MaxVMSizeNode", Kind::nodes},
    {"MaxVMSizeTask", Kind::count, 32},
    {"McsLabel", Kind::word},
    {"MinCPU", Kind::length},
    {"MinCPUNode", Kind::nodes},
    {"MinCPUTask", Kind::count, 32},
    {"NCPUS", Kind::count, 32, Filled::all},
    {"NNodes", Kind::count, 16, Filled::all},
    {"NodeList", Kind::nodes},
    {"NTasks", Kind::count, 32},
    {"Partition", Kind::word, 0, Filled::jobs},
    {"Planned", Kind::length},
    {"PlannedCPU", Kind::length},
    {"PlannedCPURAW", Kind::count, 64},
    {"Priority", Kind::count, 32, Filled::jobs},
    {"QOS", Kind::word},
    {"QOSRAW", Kind::count, 32},
    {"QOSREQ", Kind::word},
    {"Reason", Kind::text},
    {"ReqCPUFreq", Kind::word},
    {"ReqCPUFreqGov", Kind::word},
    {"ReqCPUFreqMax", Kind::word},
    {"ReqCPUFreqMin", Kind::word},
    {"ReqCPUS", Kind::count, 32},
    {"ReqGRES", Kind::tres},
    {"ReqMem", Kind::amount, 64},
    {"ReqNodes", Kind::count, 16},
    {"ReqTRES", Kind::tres},
    {"Reservation", Kind::word},
    {"ReservationId", Kind::count, 32},
    {"Reserved", Kind::length},
    {"Restarts", Kind::count, 16},
    {"ResvCPU", Kind::length},
    {"ResvCPURAW", Kind::count, 64},
    {"SegmentSize", Kind::count, 16},
    {"SLUID", Kind::word},
    {"Start", Kind::time},
    {"State", Kind::state, 0, Filled::all},
    {"StdErr", Kind::text},
    {"StdIn", Kind::text},
    {"StdOut", Kind::text},
    {"Submit", Kind::time, 0, Filled::all},
    {"SubmitLine", Kind::text},
    {"Suspended", Kind::length},
    {"SystemComment", Kind::text},
    {"SystemCPU", Kind::length},
    {"Timelimit", Kind::length, 0, Filled::jobs},
    {"TimelimitRaw", Kind::count, 32, Filled::jobs},
    {"TotalCPU", Kind::length},
    {"TRESUsageInAve", Kind::tres},
    {"TRESUsageInMax", Kind::tres},
    {"TRESUsageInMaxNode", Kind::tres},
    {"TRESUsageInMaxTask", Kind::tres},
    {"TRESUsageInMin", Kind::tres},
    {"TRESUsageInMinNode", Kind::tres},
    {"TRESUsageInMinTask", Kind::tres},
    {"TRESUsageInTot", Kind::tres},
    {"TRESUsageOutAve", Kind::tres},
    {"TRESUsageOutMax", Kind::tres},
    {"TRESUsageOutMaxNode", Kind::tres},
    {"TRESUsageOutMaxTask", Kind::tres},
    {"TRESUsageOutMin", Kind::tres},
    {"TRESUsageOutMinNode", Kind::tres},
    {"TRESUsageOutMinTask", Kind::tres},
    {"TRESUsageOutTot", Kind::tres},
    {"UID", Kind::count, 32, Filled::jobs},
    {"User", Kind::word, 0, Filled::jobs},
    {"UserCPU", Kind::length},
    {"WCKey", Kind::text},
    {"WCKeyID", Kind::count, 32},
    {"WorkDir", Kind::text},
};

constexpr std::string_view kPrefixes = "KMGTPE";

bool all_of(std::string_view text, bool (*is)(unsigned char)) {
  return std::all_of(text.begin(), text.end(), is);
}

bool is_digit(unsigned char c) { return c >= '0' && c <= '9'; }

/// A word that stands where Slurm has no value, in any column but those that users fill.
bool is_no_word(std::string_view cell) {
  for (const std::string_view word :
       {"Unknown", "None", "NONE", "N/A", "(null)", "None assigned", "UNLIMITED", "Partition_Limit",
        "INFINITE", "INVALID", "NO_VAL"}) {
    if (cell == word) return true;
  }
  return false;
}

/// "123", "-1", "2K", "1.50M": the number, prefixes as powers of 1024.
std::optional<double> number_in(std::string_view cell) {
  double unit = 1;
  if (!cell.empty()) {
    if (const auto at = kPrefixes.find(cell.back()); at != std::string_view::npos) {
      unit = std::pow(1024.0, static_cast<double>(at + 1));
      cell.remove_suffix(1);
    }
  }
  const auto number = text::parse_decimal(cell);
  if (!number) return std::nullopt;
  return *number * unit;
}

bool is_id(std::string_view cell) {
  const auto skip = [&](bool (*is)(unsigned char)) {
    const auto end = std::find_if_not(cell.begin(), cell.end(), is);
    const auto count = static_cast<std::size_t>(end - cell.begin());
    cell.remove_prefix(count);
    return count > 0;
  };
  const auto take = [&](char c) {
    if (cell.empty() || cell.front() != c) return false;
    cell.remove_prefix(1);
    return true;
  };
  if (!skip(is_digit)) return false;
  if (take('_')) {
    if (take('[')) {
      skip([](unsigned char c) { return is_digit(c) || std::ispunct(c) != 0; });
      return true;
    }
    if (!skip(is_digit)) return false;
  }
  if (take('+') && !skip(is_digit)) return false;
  if (take('.'))
    return skip([](unsigned char c) { return std::isalnum(c) != 0 || c == '+'; }) && cell.empty();
  return cell.empty();
}

bool is_time(std::string_view cell) {
  return all_of(cell, is_digit) || text::parse_datetime(cell).has_value();
}

bool is_length(std::string_view cell) {
  return all_of(cell,
                [](unsigned char c) { return is_digit(c) || c == ':' || c == '-' || c == '.'; });
}

bool is_amount(std::string_view cell) {
  if (cell.size() > 1 && (cell.back() == 'n' || cell.back() == 'c')) cell.remove_suffix(1);
  return number_in(cell).has_value();
}

bool is_word(std::string_view cell) {
  return all_of(cell, [](unsigned char c) { return std::isspace(c) == 0; });
}

bool is_tres(std::string_view cell) {
  if (!is_word(cell)) return false;
  int depth = 0;  // of brackets, where sockets and indices stand
  bool has_amount = false;
  for (const char c : cell) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == '=' || c == ':') has_amount = true;
    if (c != ',' || depth > 0) continue;
    if (!has_amount) return false;
    has_amount = false;
  }
  return has_amount;
}

bool is_state(std::string_view cell) {
  cell = cell.substr(0, cell.find(" by "));
  return all_of(cell, [](unsigned char c) {
    return std::isupper(c) != 0 || is_digit(c) || c == '_' || c == '+' || c == ',';
  });
}

bool is_exit(std::string_view cell) {
  return cell.find(':') != std::string_view::npos &&
         all_of(cell, [](unsigned char c) { return is_digit(c) || c == ':'; });
}

bool is_feature(std::string_view cell) {
  return is_word(cell) && cell.front() != '|' && cell.back() != '|' &&
         cell.find("||") == std::string_view::npos;
}

}  // namespace

SacctColumn sacct_column(std::string_view name) {
  if (name.empty()) return {name, Kind::nothing};
  for (const SacctColumn& column : kSacctColumns) {
    const auto same = [](unsigned char a, unsigned char b) {
      return std::tolower(a) == std::tolower(b);
    };
    if (std::equal(name.begin(), name.end(), column.name.begin(), column.name.end(), same)) {
      return column;
    }
  }
  return {name, Kind::text};
}

bool fits(SacctKind kind, std::string_view cell) {
  if (kind == Kind::text) return true;
  if (cell.empty()) return kind != Kind::id;
  if (kind != Kind::id && kind != Kind::state && is_no_word(cell)) return true;
  switch (kind) {
    case Kind::id:
      return is_id(cell);
    case Kind::time:
      return is_time(cell);
    case Kind::length:
      return is_length(cell);
    case Kind::count:
      return number_in(cell).has_value();
    case Kind::amount:
      return is_amount(cell);
    case Kind::tres:
      return is_tres(cell);
    case Kind::state:
      return is_state(cell);
    case Kind::exit:
      return is_exit(cell);
    case Kind::word:
    case Kind::nodes:
      return is_word(cell);
    case Kind::feature:
      return is_feature(cell);
    case Kind::text:
      return true;
    case Kind::nothing:
      return false;
  }
  return false;
}

bool is_no_value(double number, int bits) {
  // Slurm's NO_VAL, INFINITE and NO_CONSUME_VAL: the last numbers that the bits can count to. Those
  // of 64 bits lose their last digits in a double, and where prefixes are written.
  constexpr double kLast64 = 9.2e18;
  constexpr double kBeyond64 = 1.85e19;
  if (number < 0 || (number >= kLast64 && number < kBeyond64)) return true;
  if (bits == 64) return false;
  if (number == 4294967293.0 || number == 4294967294.0 || number == 4294967295.0) return true;
  if (bits == 32) return false;
  if (number == 65534 || number == 65535) return true;
  if (bits == 16) return false;
  return bits == 8 && (number == 254 || number == 255);
}

std::string_view value_in(const SacctColumn& column, std::string_view cell, std::string& scratch) {
  if (cell.empty()) return cell;
  switch (column.kind) {
    case Kind::count: {
      if (is_no_word(cell)) return {};
      const auto number = number_in(cell);
      if (!number) return cell;
      if (is_no_value(*number, column.bits)) return {};
      if (kPrefixes.find(cell.back()) == std::string_view::npos) return cell;
      scratch = fmt::format("{:.0f}", *number);
      return scratch;
    }
    case Kind::amount: {
      const auto number = number_in(cell);
      return is_no_word(cell) || (number && is_no_value(*number, column.bits)) ? std::string_view()
                                                                               : cell;
    }
    case Kind::length: {
      if (is_no_word(cell)) return {};
      // 2^32 - 2 seconds, or as many minutes: a code that was written as a length.
      constexpr std::int64_t kDays = 49'710;
      const auto dash = cell.find('-');
      if (dash == std::string_view::npos) return cell;
      const auto days = text::parse_whole(cell.substr(0, dash));
      return days && *days >= kDays ? std::string_view() : cell;
    }
    case Kind::time: {
      // One word for all, so that a time that is needed can be asked for by name.
      constexpr std::string_view kUnknown = "Unknown";
      if (is_no_word(cell)) return kUnknown;
      const auto seconds = text::parse_whole(cell);
      if (seconds) return *seconds <= 0 || *seconds >= 4'294'967'293 ? kUnknown : cell;
      // 0 and 2^32 - 2, written as dates in whatever zone.
      const bool is_code = cell.starts_with("1970-01-01") || cell.starts_with("1969-12-31") ||
                           cell.starts_with("2106-02-0");
      return is_code ? kUnknown : cell;
    }
    case Kind::tres:
    case Kind::word:
    case Kind::nodes:
      return cell == "(null)" || (column.kind == Kind::nodes && is_no_word(cell))
                 ? std::string_view()
                 : cell;
    default:
      return cell;
  }
}

}  // namespace almanac::trace
