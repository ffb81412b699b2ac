// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads a TOML file, or one table of it: "almanac.toml#machine.limits".
#pragma once

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/result.h"
#include "text/toml_reader.h"

namespace almanac::text {

/// Separates a file from the table in it.
inline constexpr char kTableMark = '#';

/// Returns the result of `Reader(FILE).read(table)` for the file, or for the table in it, that
/// `place` names. Fails with not_found or unavailable if there is no such file or table, and with
/// invalid as the reader does; errors name the line in the file.
template <typename Reader>
auto read_toml_file(const std::string& place)
    -> Result<decltype(std::declval<Reader>().read(toml::table{}))> {
  std::error_code ignored;
  const std::size_t mark =
      std::filesystem::exists(place, ignored) ? std::string::npos : place.rfind(kTableMark);
  const std::string path = place.substr(0, mark);
  const std::string name = mark == std::string::npos ? "" : place.substr(mark + 1);
  errno = 0;
  std::ifstream file(path);
  if (!file || std::filesystem::is_directory(path, ignored)) {
    const int reason = file ? EISDIR : errno;
    return fail(reason == ENOENT ? Code::not_found : Code::unavailable,
                fmt::format("cannot be read: {}", std::strerror(reason)), {.file = path});
  }
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return read_toml_text(text, path, [&](const toml::table& all) {
    const toml::table* const table = name.empty() ? &all : all.at_path(name).as_table();
    if (table == nullptr) {
      throw TomlRefused{
          {Code::not_found, fmt::format("has no table [{}]", name), {.file = path}, {}}};
    }
    return Reader(path).read(*table);
  });
}

}  // namespace almanac::text
