// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac cluster discover as a user calls it, with a driver that is none (fake_driver.cpp).
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace almanac {
namespace {

using testing::HasSubstr;
using testing::Not;

ProgramRun discover(const char* machine, const std::string& output) {
  ::setenv("FAKE_MACHINE", machine, 1);
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  return run_program({"cluster", "discover", "-o", output});
}

TEST(DiscoverCommand, ShowsHowGpusAreConnected) {
  const ProgramRun shown = discover("pairs", "table");
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("4xNVIDIA A100-SXM4-80GB"));
  EXPECT_THAT(shown.out, HasSubstr("       GPU0   GPU1   GPU2   GPU3\n"
                                   "GPU0   X      NV4    SYS    SYS\n"
                                   "GPU1   NV4    X      SYS    SYS\n"
                                   "GPU2   SYS    SYS    X      NV4\n"
                                   "GPU3   SYS    SYS    NV4    X\n"));
}

TEST(DiscoverCommand, WritesAClusterFileThatIsReadBack) {
  const ProgramRun pairs = discover("pairs", "toml");
  EXPECT_THAT(pairs.out, HasSubstr("sockets = 2\n"
                                   "gpu_memory_gb = 80\n"
                                   "connections = [\n"
                                   "  { by = \"nvlink\", gpus = [0, 1], links = 4 },\n"
                                   "  { by = \"nvlink\", gpus = [2, 3], links = 4 },\n"
                                   "]\n"));
  const ProgramRun uneven = discover("uneven", "toml");
  EXPECT_THAT(uneven.out, HasSubstr("connections = [\n"
                                    "  { by = \"socket\", gpus = [0, 1, 2] },\n"
                                    "  { by = \"socket\", gpus = [3] },\n"
                                    "  { by = \"pcie\", gpus = [0, 1] },\n"
                                    "]\n"));
  const ProgramRun switched = discover("switched", "toml");
  EXPECT_THAT(switched.out,
              HasSubstr("connections = [\n"
                        "  { by = \"nvlink\", gpus = [0, 1, 2, 3], links = 18 },\n]\n"));
  const TemporaryFolder folder;
  for (const ProgramRun* const run : {&pairs, &uneven, &switched}) {
    const std::string file = folder.write("machine.toml", run->out);
    EXPECT_EQ(run_program({"cluster", "show", file, "-o", "toml"}).out, run->out);
  }
}

TEST(DiscoverCommand, SaysNothingOfConnectionsThatTheDriverDoesNotTell) {
  const ProgramRun shown = discover("mute", "toml");
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("gpus = 4\n"));
  EXPECT_THAT(shown.out, Not(HasSubstr("connections")));
  EXPECT_THAT(shown.out, Not(HasSubstr("sockets")));
}

TEST(DiscoverCommand, ShowsTheGpusThatItIsGiven) {
  ::setenv("FAKE_MACHINE", "pairs", 1);
  ::setenv("CUDA_VISIBLE_DEVICES", "3,0,1", 1);
  const ProgramRun shown = run_program({"cluster", "discover", "-o", "toml"});
  EXPECT_THAT(shown.out, HasSubstr("connections = [\n"
                                   "  { by = \"socket\", gpus = [0] },\n"
                                   "  { by = \"socket\", gpus = [1, 2] },\n"
                                   "  { by = \"nvlink\", gpus = [1, 2], links = 4 },\n"
                                   "]\n"));
}

}  // namespace
}  // namespace almanac
