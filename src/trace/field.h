// SPDX-License-Identifier: Apache-2.0

/// \file
/// The fields of job logs: the one list from which tables are read (trace/cell.h), column maps are
/// parsed (trace/column_map.h), and our own CSV is read and written (trace/write.h). A new field is
/// a member of Request or Outcome and a row here; docs/reference/formats.md defines its meaning.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "trace/job.h"

namespace almanac::trace {

/// A row on its way to become a job.
struct Draft {
  Job job{};                    ///< run = kNoDuration until known.
  Duration wait = kNoDuration;  ///< Start minus submission, if the table has it.
  Time eligible = kNoTime;      ///< Since when it could have started.
  bool never_eligible = false;  ///< The table says that it never could.
  Duration gap = kNoDuration;   ///< Since the submission in the row before, likewise.
  bool has_id = false;
  bool is_job = true;                          ///< finish() clears it for rows that are left out.
  std::span<const std::string_view> extras{};  ///< Extra columns of the format, "" if absent.
  std::int64_t row = 0;                        ///< Counted from 1.
};

/// Where the value of a field is stored.
template <typename T>
class Member {
 public:
  constexpr Member(T Job::*at) : job_(at) {}
  constexpr Member(T Request::*at) : request_(at) {}
  constexpr Member(T Outcome::*at) : outcome_(at) {}
  constexpr Member(T Draft::*at) : draft_(at) {}

  T& of(Draft& draft) const {
    if (draft_ != nullptr) return draft.*draft_;
    if (job_ != nullptr) return draft.job.*job_;
    return request_ != nullptr ? draft.job.request.*request_ : draft.job.outcome.*outcome_;
  }
  /// Not of what only a draft has.
  const T& of(const Job& job) const {
    if (job_ != nullptr) return job.*job_;
    return request_ != nullptr ? job.request.*request_ : job.outcome.*outcome_;
  }

 private:
  T Job::*job_ = nullptr;
  T Request::*request_ = nullptr;
  T Outcome::*outcome_ = nullptr;
  T Draft::*draft_ = nullptr;
};

/// How to parse the text of a field, if its type does not determine it.
enum class Notation : std::uint8_t {
  usual,           ///< Any text; numbers of 0 or more.
  part,            ///< A number above 0 and up to 1.
  above_0,         ///< A number.
  above_0_or_inf,  ///< Likewise.
  any_sign,        ///< A length or a whole number that may be negative.
  alternatives,    ///< trace/alternative.h
  metric,          ///< trace/metric.h
  node_list,       ///< trace/node_list.h
  gpu_profile,     ///< cluster/slices/board.h
  profile_or_gpu,  ///< A profile, or kWholeBoard.
};

/// Whether our own CSV has the field.
enum class Written : std::uint8_t {
  if_told,  ///< When it says something of a job at least.
  always,   ///< Also required when our CSV is read.
  never,    ///< Only read, from other tables.
};

struct FieldSpec {
  std::string_view name;  ///< Column name in our CSV; times and durations end with "_s".
  std::variant<Member<JobKey>, Member<NameId>, Member<std::int32_t>, Member<std::int64_t>,
               Member<float>, Member<Time>, Member<Duration>, Member<JobState>, Member<Requeue>>
      member;
  Notation notation = Notation::usual;
  Written written = Written::if_told;
  std::int64_t most = 1'000'000;  ///< For whole numbers; a larger value means a wrong column.
};

/// In the order of the columns of our CSV.
inline constexpr FieldSpec kFields[] = {
    {"job_id", &Job::id, Notation::usual, Written::always},
    {"submit_s", &Request::submit, Notation::usual, Written::always},
    {"eligible_s", &Draft::eligible},
    {"gap_s", &Draft::gap, Notation::usual, Written::never},
    {"wait_s", &Draft::wait, Notation::usual, Written::never},
    {"run_s", &Outcome::run, Notation::usual, Written::always},
    {"gpus", &Request::gpus, Notation::usual, Written::always},
    {"span_s", &Outcome::span},
    {"name", &Request::name},
    {"comment", &Request::comment},
    {"user", &Request::user},
    {"vc", &Request::vc},
    {"kind", &Request::kind},
    {"gpu_type", &Request::gpu_type},
    {"gpu_share", &Request::gpu_share, Notation::part},
    {"gpu_profile", &Request::gpu_profile, Notation::gpu_profile},
    {"gpu_memory_gb", &Request::gpu_memory_gb},
    {"cpus", &Request::cpus},
    {"memory_gb", &Request::memory_gb},
    {"nodes", &Request::nodes},
    {"node_list", &Outcome::node_list, Notation::node_list},
    {"shards", &Request::shards},
    {"mps", &Request::mps},
    {"time_limit_s", &Request::time_limit},
    {"predicted_s", &Request::predicted, Notation::any_sign},
    {"start_s", &Outcome::start},
    {"end_s", &Outcome::end},
    {"state", &Outcome::state},
    {"attempts", &Outcome::attempts},
    {"model", &Request::model},
    {"batch", &Request::batch, Notation::usual, Written::if_told, 1'000'000'000},
    {"steps", &Request::steps, Notation::usual, Written::if_told, 1'000'000'000'000},
    {"max_gpus", &Request::max_gpus},
    {"min_gpus", &Request::min_gpus},
    {"plan_gpus", &Request::plan_gpus},
    {"nvlink_gpus", &Request::nvlink_gpus},
    {"alternatives", &Request::alternatives, Notation::alternatives},
    {"group", &Request::group},
    {"metric", &Outcome::metric, Notation::metric},
    {"deadline_s", &Request::deadline},
    {"worthless_at_s", &Request::worthless_at},
    {"value", &Request::value},
    {"restart_s", &Request::restart_s},
    {"checkpoint_s", &Request::checkpoint_s},
    {"qos", &Request::qos},
    {"account", &Request::account},
    {"partition", &Request::partition},
    {"reservation", &Request::reservation},
    {"constraints", &Request::constraints},
    {"submit_line", &Request::submit_line, Notation::usual, Written::never},
    {"priority", &Outcome::priority, Notation::usual, Written::if_told, 4'294'967'295},
    {"flags", &Outcome::flags},
    {"reason", &Outcome::reason},
    {"priority_tier", &Request::priority_tier, Notation::any_sign},
    {"requeue", &Request::requeue},
    {"after", &Request::after},
    {"array_limit", &Request::array_limit, Notation::usual, Written::if_told, 4'000'001},
    {"reference_cpus", &Outcome::reference_cpus, Notation::above_0_or_inf},
    {"reference_memory_gb", &Outcome::reference_memory_gb, Notation::above_0_or_inf},
    {"reference_profile", &Outcome::reference_profile, Notation::profile_or_gpu},
    {"bandwidth_gbs", &Outcome::bandwidth_gbs},
    {"step_s", &Outcome::step_s, Notation::above_0},
    {"network_s", &Outcome::network_s},
    {"network_gbps", &Outcome::network_gbps},
    {"data_set", &Request::data_set},
    {"data_gb", &Request::data_gb},
    {"read_gbs", &Outcome::read_gbs},
};

/// One field of kFields, written as its name in source code; an unknown name does not compile:
///
///   Column{.field = "gpus", .name = "num_gpus"}
class Field {
 public:
  consteval Field(const char* name) : spec_(find(name)) {
    if (spec_ == std::end(kFields)) throw "there is no such field in kFields";
  }
  constexpr explicit Field(const FieldSpec& spec) : spec_(&spec) {}
  static std::optional<Field> named(std::string_view name) {
    const FieldSpec* const found = find(name);
    return found == std::end(kFields) ? std::nullopt : std::optional(Field(*found));
  }

  constexpr const FieldSpec& spec() const { return *spec_; }
  constexpr std::string_view name() const { return spec_->name; }
  constexpr bool operator==(const Field&) const = default;
  /// In the order of kFields.
  constexpr auto operator<=>(const Field&) const = default;

 private:
  static constexpr const FieldSpec* find(std::string_view name) {
    return std::find_if(std::begin(kFields), std::end(kFields),
                        [&](const FieldSpec& spec) { return spec.name == name; });
  }

  const FieldSpec* spec_;
};

}  // namespace almanac::trace
