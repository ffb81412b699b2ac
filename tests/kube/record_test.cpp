// SPDX-License-Identifier: Apache-2.0

/// \file
/// The recorder keeps each run that ends, once, whatever is killed meanwhile.
#include "kube/record.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api_server.h"
#include "objects.h"
#include "support/temporary_folder.h"
#include "trace/read.h"

namespace almanac::kube {
namespace {

using testing::HasSubstr;

const std::string kOfA = in_namespace("a", "workloads");

/// `almanac kube record` as a process of its own.
class Recording {
 public:
  Recording(const ApiServer& server, const std::string& file) {
    const char* const program = std::getenv("ALMANAC_PROGRAM");
    const std::string url = server.url();
    process_ = ::fork();
    if (process_ == 0) {
      std::freopen("/dev/null", "w", stderr);
      std::freopen("/dev/null", "w", stdout);
      ::execl(program, program, "kube", "record", "--server", url.c_str(), "--out", file.c_str(),
              nullptr);
      ::_exit(127);
    }
  }
  ~Recording() { end(SIGKILL); }
  /// Returns how it ended.
  int end(int signal) {
    if (process_ <= 0) return 0;
    ::kill(process_, signal);
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = -1;
    return status;
  }

 private:
  pid_t process_ = -1;
};

class RecordTest : public testing::Test {
 protected:
  void SetUp() override { make_cluster(server_); }
  /// A workload that ran from 01:00 to `until`.
  void end_run(const std::string& name, const std::string& until) {
    server_.create(kOfA, workload(name, "main", 2));
    server_.patch(kOfA + "/" + name, finished("team-a", 2, "2026-11-01T01:00:00Z", until));
  }
  std::string text() const {
    std::ifstream file(file_);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// Number of rows.
  std::size_t rows() const {
    const std::string all = text();
    const auto lines = static_cast<std::size_t>(std::count(all.begin(), all.end(), '\n'));
    return lines == 0 ? 0 : lines - 1;
  }
  static bool comes(const std::function<bool()>& is_true) {
    for (int tries = 0; tries < 3000 && !is_true(); ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return is_true();
  }

  ApiServer server_;
  TemporaryFolder folder_;
  std::string file_ = folder_ / "jobs.csv";
};

TEST_F(RecordTest, AddsARowForEachRunThatEnds) {
  Recording recording(server_, file_);
  end_run("first", "2026-11-01T03:00:00Z");
  ASSERT_TRUE(comes([&] { return rows() == 1; }));
  EXPECT_THAT(text(), HasSubstr("a/first,1793491200,7200,2,first,uid-first,a,team-a,,,,1793494800,"
                                "1793502000,COMPLETED,,,a/main,\n"));
  server_.create(kOfA, workload("runs", "main", 2));
  server_.patch(kOfA + "/runs", admitted("team-a", 2, "2026-11-01T01:00:00Z"));
  server_.remove(kOfA + "/runs");
  EXPECT_TRUE(comes([&] { return rows() == 2; })) << "a workload that is deleted has ended";
  EXPECT_THAT(text(), HasSubstr("CANCELLED"));
  EXPECT_EQ(recording.end(SIGINT), 0);
  EXPECT_TRUE(trace::read_trace(file_, {}));
}

// Both are killed in turn; what ended meanwhile is still on the server.
TEST_F(RecordTest, KeepsEachRunOnceIfItOrTheServerIsKilled) {
  end_run("first", "2026-11-01T03:00:00Z");
  {
    Recording recording(server_, file_);
    ASSERT_TRUE(comes([&] { return rows() == 1; }));
    recording.end(SIGKILL);
  }
  end_run("second", "2026-11-01T04:00:00Z");
  std::ofstream(file_, std::ios::app) << "a/torn,17934";
  Recording recording(server_, file_);
  ASSERT_TRUE(comes([&] { return rows() == 2; }));
  server_.restart();
  end_run("third", "2026-11-01T05:00:00Z");
  EXPECT_TRUE(comes([&] { return rows() == 3; }));
  const auto log = trace::read_trace(file_, {});
  ASSERT_TRUE(log) << to_string(log.error());
  EXPECT_EQ(log->jobs.size(), 3);
}

TEST_F(RecordTest, SaysWhatIsWrongWithItsFile) {
  const auto now = [] { return Time{}; };
  // A file of other columns stays as it is, the line without an end too.
  const std::string other = "job_id,submit_s,run_s\n1,0,1\n2,5";
  folder_.write("other.csv", other);
  const auto refused = Recorder::open(folder_ / "other.csv", "", now);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("found another first line"));
  std::ifstream file(folder_ / "other.csv");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), other);
  EXPECT_FALSE(Recorder::open("/proc/none/jobs.csv", "", now));
  const auto lost = Recorder::open(folder_ / "none/jobs.csv", "", now);
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().hint, "create its folder first");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "none"));
}

}  // namespace
}  // namespace almanac::kube
