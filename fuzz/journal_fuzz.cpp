// SPDX-License-Identifier: Apache-2.0

/// \file
/// Any bytes as the journal of what was done to a Slurm: it is told, or refused with a message;
/// what is told and written again is told the same.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "steer/journal.h"
#include "support/temporary_folder.h"

namespace {

using namespace almanac;
using steer::Journal;

/// What the entries of a journal that ends well are, as words.
std::vector<std::string> words_of(const std::string& path, std::vector<steer::Entry>& entries) {
  std::vector<std::string> words;
  const auto read = Journal::read(path, [&](const steer::Entry& entry, const steer::Failure&) {
    words.push_back(to_words(entry));
    entries.push_back(entry);
  });
  if (!read) {
    ALMANAC_CHECK(!read.error().message.empty(), "refused without a word");
    entries.clear();
  }
  return words;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const TemporaryFolder folder;
  const std::string path = folder / "journal";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  std::vector<steer::Entry> entries;
  const std::vector<std::string> words = words_of(path, entries);
  if (entries.empty()) return 0;
  std::filesystem::remove(path);
  auto journal = Journal::open(path);
  ALMANAC_CHECK(journal && journal->begin(entries), "cannot be written");
  std::vector<steer::Entry> again;
  ALMANAC_CHECK(words_of(path, again) == words, "written and read, it is another");
  return 0;
}
