// SPDX-License-Identifier: Apache-2.0

/// \file
/// Any bytes as a column of a sound store: the first byte chooses which, the second as what, the
/// rest are the value. All can be read, or is refused with a message.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include "base/check.h"
#include "store/store.h"
#include "support/temporary_folder.h"

namespace {

using namespace almanac;
using store::Store;

void fill(Store store) {
  store::Job job;
  job.number = store::JobNumber{1};
  job.asked.change().argv = {"sleep", "1"};
  job.asked.change().script = "sleep 1";
  job.asked.change().environment = {"A=1"};
  job.asked.change().group = "sweep";
  job.asked.change().after = {store::JobNumber{1}};
  job.held_gpus = {{.node = NodeId{0}, .gpus = 1}};
  Store::Batch batch;
  batch.put(job);
  job.number = store::JobNumber{2};
  job.state = trace::JobState::completed;
  job.start = Time{};
  job.end = Time{} + Duration{1000};
  batch.put(job);
  batch.note({.job = job.number, .what = "submitted"});
  batch.told({.job = job.number, .policy = "fifo"});
  batch.report({.job = job.number, .step = 1, .metric = 0.5});
  batch.sample({.at = Time{}, .gpus = 1});
  batch.set("policy", "fifo");
  ALMANAC_CHECK(store.commit(batch), "no store to begin with");
}

/// A store with a bit of all that there is.
struct Sound {
  TemporaryFolder folder{};
  std::string path = folder / "sound.db";
  std::vector<std::pair<std::string, std::string>> columns{};  ///< Of which table.

  Sound() {
    fill(Store::open(path).value());
    SQLite::Database database(path, SQLite::OPEN_READWRITE);
    database.exec("PRAGMA journal_mode = DELETE");  // so that its one file is all of it
    for (const char* table :
         {"job", "submission", "content", "note", "told", "report", "moment", "setting"}) {
      SQLite::Statement found(database, fmt::format("PRAGMA table_info({})", table));
      while (found.executeStep()) columns.emplace_back(table, found.getColumn(1).getText());
    }
  }
};

/// False where SQLite itself does not take it.
bool put(const std::string& path, const std::pair<std::string, std::string>& column, int as,
         const std::string& value) {
  SQLite::Database database(path, SQLite::OPEN_READWRITE);
  SQLite::Statement update(database,
                           fmt::format("UPDATE {} SET {} = {}", column.first, column.second,
                                       as == 0   ? "CAST(? AS INTEGER)"
                                       : as == 1 ? "CAST(? AS REAL)"
                                       : as == 2 ? "CAST(? AS TEXT)"
                                                 : "?"));
  update.bind(1, value.data(), static_cast<int>(value.size()));
  try {
    update.exec();
    return true;
  } catch (const SQLite::Exception&) {
    return false;
  }
}

template <typename T>
void check(const Result<T>& read) {
  ALMANAC_CHECK(read || !read.error().message.empty(), "refused without a word");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Sound sound;
  const std::string path = sound.folder / "almanac.db";
  if (size < 2) return 0;
  std::filesystem::copy_file(sound.path, path, std::filesystem::copy_options::overwrite_existing);
  const std::string value(reinterpret_cast<const char*>(data) + 2, size - 2);
  if (!put(path, sound.columns[data[0] % sound.columns.size()], data[1] % 4, value)) return 0;
  const auto store = Store::open(path);
  check(store);
  if (!store) return 0;
  check(store->last_number());
  check(store->unfinished());
  check(store->jobs({}));
  check(store->log(kNoTime));
  check(store->moments(kNoTime));
  check(store->reports("sweep"));
  check(store->sweeps(10));
  check(store->get("policy"));
  for (const store::JobNumber number : {store::JobNumber{1}, store::JobNumber{2}}) {
    check(store->job(number));
    check(store->notes(number));
    check(store->told(number));
  }
  return 0;
}
