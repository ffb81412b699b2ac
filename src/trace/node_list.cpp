// SPDX-License-Identifier: Apache-2.0
#include "trace/node_list.h"

#include <cctype>

#include "text/host_list.h"

namespace almanac::trace {
namespace {

bool is_a_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// What logs write where they have no nodes, or words of several: no node's name has a blank.
bool is_no_list(std::string_view text) {
  if (text.empty() || text.find_first_of(" ()\"'/\\") != std::string_view::npos) return true;
  for (const std::string_view word : {"None", "NONE", "N/A", "NA", "null", "Unknown", "nan", "-"}) {
    if (text == word) return true;
  }
  return false;
}

}  // namespace

bool is_node_list(std::string_view text) {
  return !is_no_list(text) && text::expand_hosts(text).has_value();
}

int nodes_in(std::string_view text) {
  const bool may_be = !is_no_list(text) && is_a_letter(text.front()) &&
                      text.find_first_of("0123456789") != std::string_view::npos;
  if (!may_be) return 0;
  const auto names = text::expand_hosts(text);
  return names ? static_cast<int>(names->size()) : 0;
}

}  // namespace almanac::trace
