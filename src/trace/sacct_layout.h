// SPDX-License-Identifier: Apache-2.0

/// \file
/// Splits a record of sacct into its columns. sacct quotes nothing, so a delimiter inside a job's
/// name or a constraint shifts the following cells. Columns whose values can be checked show where.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "trace/sacct_columns.h"

namespace almanac::trace {

/// Values that columns have in rows that read only one way: by column.
using SacctVocabulary = std::vector<std::set<std::string, std::less<>>>;

class SacctLayout {
 public:
  enum class Fit {
    good,       ///< Read in one way only.
    odd,        ///< As many fields as columns, but a value does not suit its column.
    few,        ///< Fewer fields than columns.
    ambiguous,  ///< Read in several ways, which differ in a column that is used.
    none,       ///< No way to read it.
  };

  /// `used` says of each column whether the caller reads it.
  SacctLayout(std::vector<SacctColumn> columns, std::vector<bool> used, std::string delimiter);

  /// Splits `record` and drops blanks around cells. If the record is ambiguous or invalid, `cells`
  /// is what the delimiters alone give. Cost: linear for a record without surplus delimiters,
  /// otherwise columns times the square of the surplus.
  Fit split(std::string_view record, std::vector<std::string_view>& cells) const;
  /// Splits an ambiguous record by what other rows have: its users, partitions and other names must
  /// be known ones. `known` has a set for each column.
  Fit split(std::string_view record, const SacctVocabulary& known,
            std::vector<std::string_view>& cells) const;
  /// Adds the values of a good record.
  void learn(const std::vector<std::string_view>& cells, SacctVocabulary& known) const;

  const std::vector<SacctColumn>& columns() const { return columns_; }
  const std::string& delimiter() const { return delimiter_; }
  /// The names of the columns that may hold the delimiter.
  std::vector<std::string_view> suspects() const;

 private:
  class Search;

  bool is_job(const std::vector<std::string_view>& tokens) const;
  void tokenize(std::string_view record, std::vector<std::string_view>& tokens) const;

  std::vector<SacctColumn> columns_;
  std::vector<bool> used_;
  std::string delimiter_;
};

}  // namespace almanac::trace
