// SPDX-License-Identifier: Apache-2.0

/// \file
/// Why jobs fail, as data: categories, and the rules that find them in a log. The built-in ones are
/// presets/failures.toml; docs/guide/failures.md describes the file.
///
/// Source   Jeon et al., ATC'19, section 4.2 and Table 7: the categories and their classes; root
///          causes before implicit signatures.
/// Differs  Philly's rules, more than 230, were never published. These are our own, and some of the
///          categories came with later tools.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace almanac::failure {

/// A root cause says what went wrong; an implicit signature only that something did.
enum class Kind : std::uint8_t { root, implicit };
std::string_view to_string(Kind kind);

struct Category {
  std::string name{};                  ///< "GPU out of memory"
  std::vector<std::string> classes{};  ///< "IF" infrastructure, "AE" engine, "U" user; one or more.
  Kind kind = Kind::root;              ///< Default kind of its rules; so is rank.
  int rank = 50;
  std::string suggestion{};
  /// What fails, as in a failure model: node, gpu, link or software; "" if no model should draw it.
  std::string of{};
};

struct Rule {
  std::string id{};          ///< "torch-cuda-oom"
  std::size_t category = 0;  ///< Position in Rules::categories.
  Kind kind = Kind::root;
  int rank = 50;       ///< 0 to 100; the higher goes first.
  bool start = false;  ///< Only labels may precede the pattern on its line.
  std::string pattern{};
  std::vector<std::string> examples{};  ///< Each is a log that this very rule decides.
  std::string suggestion{};
  Where where{};
};

struct Rules {
  std::vector<Category> categories{};
  std::vector<Rule> rules{};
  std::vector<std::string> ignore{};  ///< Lines that match one of these decide nothing.
  std::vector<std::string> label{};   ///< What may precede a pattern with `start`.
};

/// The rules of presets/failures.toml.
Rules builtin_rules();

/// The built-in rules with those of the file at `path` on top: a category or rule that is there
/// changes in what the file says of it, others are added, `ignore` and `label` grow. Fails with
/// file, line and the nearest known key or name.
Result<Rules> load_rules(const std::string& path);

/// Puts the rules of `text` on top of `rules`; `name` is only named in errors.
Result<void> extend(Rules& rules, std::string_view text, const std::string& name);

/// Returns what to do about a failure: the suggestion of the rule, otherwise that of its category.
const std::string& suggestion_of(const Rules& rules, const Rule& rule);

/// "IF U"
std::string join_classes(const Category& category);

}  // namespace almanac::failure
