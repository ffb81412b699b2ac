// SPDX-License-Identifier: Apache-2.0
#include "study/letter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace almanac::study {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Ann's job of 40 GPU-hours whose GPUs never computed, and bob's that computed.
std::vector<JobUse> two_jobs() {
  JobUse idle{.id = "7",
              .name = "train",
              .user = "ann",
              .state = "COMPLETED",
              .elapsed = 10h,
              .cores = 8,
              .gpus = 4,
              .cores_used = 4,
              .gpu_use = 0,
              .gpu_use_at_most = 0};
  JobUse busy = idle;
  busy.id = "8";
  busy.user = "bob";
  busy.gpu_use = busy.gpu_use_at_most = 1;
  return {idle, busy};
}

std::string letter_to(const std::string& name, std::string_view letter = default_letter()) {
  const std::vector<JobUse> jobs = two_jobs();
  const Norms norms;
  const std::vector<Alert> alerts = find_alerts(jobs, norms);
  for (const UserUse& user : by_user(jobs)) {
    if (user.user != name) continue;
    return write_letter(
        letter, user, {.jobs = jobs, .sizes = {}, .alerts = alerts, .norms = norms, .prices = {}});
  }
  return "";
}

TEST(Letter, NamesJobsHoursAndWhatToChange) {
  const std::string ann = letter_to("ann");
  EXPECT_THAT(ann, HasSubstr("Hello ann,\n"));
  EXPECT_THAT(ann, HasSubstr("ann: 1 job, 40.0 GPU-hours, 80.0 core-hours\n"));
  EXPECT_THAT(ann, HasSubstr("1 job with GPUs at 0 % use (40.0 GPU-hours):\n"
                             "           7    40.0 GPU-hours  0 % GPU use\n"
                             "Check that the program uses the GPU"));
  EXPECT_THAT(ann, HasSubstr("job 7 of ann (train), COMPLETED"));
  EXPECT_THAT(ann, Not(HasSubstr("bob")));
  EXPECT_THAT(ann, Not(HasSubstr("\n\n\n"))) << "no gap where there are no requests to change";
}

// Mail programs run a line that begins with ~! as a command of the sender.
TEST(Letter, NoNameBecomesACommandOfAMailProgram) {
  std::vector<JobUse> jobs = two_jobs();
  for (JobUse& job : jobs) job.name = std::string(62, 'a') + " ~!touch /tmp/x\x1b[2J";
  const Norms norms;
  const std::vector<RightSize> sizes{{.user = "ann", .name = jobs[0].name}};
  for (const UserUse& user : by_user(jobs)) {
    for (const std::string_view letter : {default_letter(), std::string_view("{requests}")}) {
      const std::string text = write_letter(
          letter, user, {.jobs = jobs, .sizes = sizes, .alerts = {}, .norms = norms, .prices = {}});
      EXPECT_THAT(text, Not(testing::StartsWith("~")));
      EXPECT_THAT(text, Not(HasSubstr("\n~")));
      EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    }
  }
}

TEST(Letter, SaysWhenIdleTimeIsASample) {
  std::vector<JobUse> jobs = two_jobs();
  jobs[0].gpu_use_is_sample = true;
  jobs[0].gpu_use_at_most = 1;
  const Norms norms;
  const std::string text = write_letter(default_letter(), by_user(jobs)[0],
                                        {.jobs = jobs,
                                         .sizes = {},
                                         .alerts = find_alerts(jobs, norms),
                                         .norms = norms,
                                         .prices = {}});
  EXPECT_THAT(text, HasSubstr("The GPUs were idle 100 % of that time at their last samples, which "
                              "are no mean.\n"));
}

TEST(Letter, SaysLittleWhereThereIsLittleToSay) {
  EXPECT_THAT(letter_to("bob"),
              HasSubstr("The cores were idle 50 % of that time.\n\nIf you have questions"));
}

TEST(Letter, HasNoLineLongerThanMailAllows) {
  const std::string ann = letter_to("ann");
  std::size_t longest = 0;
  for (std::size_t from = 0, to = 0; to != std::string::npos; from = to + 1) {
    to = ann.find('\n', from);
    longest = std::max(longest, std::min(to, ann.size()) - from);
  }
  EXPECT_LE(longest, 100U);
}

TEST(Letter, FillsATemplateOfTheSite) {
  EXPECT_EQ(letter_to("ann", "{user} had {gpu_hours}, {idle_gpu_hours} idle, in {jobs} {job(s)}."),
            "ann had 40.0, 40.0 idle, in 1 {job(s)}.");
}

TEST(Letter, RefusesUnknownPlaceholders) {
  const auto checked = check_letter("Dear {user},\n{allerts}\n", "site.txt");
  ASSERT_FALSE(checked);
  EXPECT_THAT(to_string(checked.error()), HasSubstr("site.txt:2: unknown placeholder {allerts}"));
  EXPECT_THAT(to_string(checked.error()), HasSubstr("{alerts}"));
  EXPECT_TRUE(check_letter(default_letter(), ""));
}

}  // namespace
}  // namespace almanac::study
