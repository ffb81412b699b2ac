// SPDX-License-Identifier: Apache-2.0

/// \file
/// The figures of a study. Each file of study/figure/ defines `void register_<stem>(Figures&)`; the
/// build finds it.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "figure/document.h"
#include "study/study.h"

namespace almanac::study {

/// The section of a figure. The first sections show what an operator can change most.
enum class Part : std::uint8_t {
  waiting,
  cluster,
  vcs,
  locality,
  failures,
  users,
  jobs,
  literature,
};
inline constexpr std::size_t kNumParts = static_cast<std::size_t>(Part::literature) + 1;

/// A figure and its findings in words.
struct Drawing {
  figure::Figure figure{};
  std::vector<figure::Finding> findings{};
  /// Columns with the numbers of the papers.
  std::vector<std::string> published{};
};

/// One table or figure of the papers.
struct Recipe {
  std::string id{};      ///< "helios_fig1a"
  std::string title{};   ///< "How long GPU jobs run"
  std::string source{};  ///< "Hu et al., SC'21, Figure 1(a)"
  Part part{};
  std::vector<Need> needs{};
  /// Fills columns, charts, caption and n. The caller adds id, title and source.
  std::function<Drawing(const Study&)> draw{};
};

class Figures {
 public:
  void add(Recipe recipe) { recipes_.push_back(std::move(recipe)); }
  const std::vector<Recipe>& all() const { return recipes_; }

 private:
  std::vector<Recipe> recipes_;
};

/// Returns all figures, in the order of their files.
const Figures& figures();

/// Draws each figure for which the study has the data, with its findings, and lists the others with
/// what they lack. Findings with advice come first. Published numbers and curves are in the section
/// `literature` only: a figure with some is there a second time, as `<id>_published`. The caller
/// fills in title, facts and provenance. Calls `progress`, which may be empty, with the fraction
/// done.
figure::Document draw_all(const Study& study, const std::function<void(double)>& progress = {});

}  // namespace almanac::study
