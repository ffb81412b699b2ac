// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the report of a study says beside its figures: its head, and whether it says anything in
/// words.
#pragma once

#include <string>

#include "figure/document.h"
#include "study/study.h"

namespace almanac::study {

/// What only the caller that asks for the study knows.
struct Introduction {
  std::string title{};
  std::string filter{};   ///< "submitted from 2020-05-01"; "" = every job.
  std::string version{};  ///< Of the program.
  std::string command{};  ///< That makes it again.
};

/// Fills in title, subtitle, facts, notes and provenance. The trace is not empty.
void introduce(figure::Document& document, const Study& study, const Introduction& introduction);

/// Of so few jobs that nothing can be said in words, says that.
void hold_back(figure::Document& document, const Study& study);

}  // namespace almanac::study
