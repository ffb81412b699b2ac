// SPDX-License-Identifier: Apache-2.0

/// \file
/// Does what levers want: as far as guards let it, as fast as the budget allows, a slice at a time,
/// each of which stands in the journal before it is done.
///
/// A slice is made, done and settled in three steps, of which only the second talks to Slurm and to
/// the disk: it may take seconds, and a request that comes meanwhile need not wait.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "steer/budget.h"
#include "steer/journal.h"
#include "steer/lever.h"
#include "steer/ours.h"

namespace almanac::steer {

/// What a lever did, and would do.
struct LeverState {
  std::string name{};
  Switch how = Switch::dry;
  std::string rests{};              ///< Why it does nothing although it is on; "" = it does.
  std::int64_t wanted = 0;          ///< Actions, at last look.
  std::vector<std::string> next{};  ///< The first of them, in words.
  std::uint64_t done = 0, failed = 0, refused = 0;  ///< Since the service started.
};

class Driver {
 public:
  struct Slice {
    std::vector<Action> actions{};
    std::vector<Lever*> levers{};                          // of each
    std::vector<Entry> entries{};                          // of each
    std::vector<Result<void>> results{};                   // of each, when it is done
    std::vector<Failure> failures{};                       // the same, as the journal has it
    std::size_t tried = 0;                                 // the first so many of them
    std::optional<std::vector<Entry>> standing{};          // the journal is to begin anew with that
    std::optional<std::vector<slurm::JobNumber>> watch{};  // is to be said before all else
    Duration took{};
    std::string trouble{};  // of the journal, or of the watch over what is held
  };

  Driver(const Settings& settings, Journal journal, Ours ours);

  /// Where the budget is short those that were added later come first.
  void add(std::unique_ptr<Lever> lever);
  /// Asks the levers what they want, and takes as much as may be done now. `now` is a clock that
  /// never goes back.
  Slice plan(const Scene& scene, Time now);
  /// Does it.
  void carry_out(Slice& slice, slurm::Link& link);
  /// Notes what has become of it; whether anything was changed.
  bool settle(Slice& slice, Mirror& mirror);
  /// Nothing will be said for a while, though we live: the jobs that we hold stay held for so long.
  /// The next slice says it as always again.
  void fall_silent(Duration at_most, slurm::Link& link);
  /// All that is to be undone, as a slice, but for what is said so in words; levers should be off.
  Slice plan_undo(const Mirror& mirror, const std::string& why,
                  const std::set<std::string>& but = {}) const;

  void set(const std::string& lever, Switch how);
  /// All of them rest, as if they could not be used; "" = they do not.
  void rest(std::string why) { rests_ = std::move(why); }
  bool knows(const std::string& lever) const;
  std::vector<std::string> names() const;
  std::vector<LeverState> states() const;
  const Ours& ours() const { return ours_; }
  /// Of all levers (lever.h).
  std::set<slurm::JobNumber> in_vain() const;
  /// What an operator should know; one line each.
  std::vector<std::string> warnings() const;
  double changes_per_s() const { return budget_.rate(); }

 private:
  struct Mounted {
    std::unique_ptr<Lever> lever;
    LeverState state{};
  };

  void look_for_others(const Mirror& mirror);
  void look_whether_it_rests(Mounted& mounted, const Scene& scene) const;
  /// Whether a lever is on, and does not rest.
  bool acts(std::string_view lever) const;
  void take(Mounted& mounted, const Scene& scene, std::int64_t& left, Slice& slice);
  void put(Mounted& mounted, Action action, const Scene& scene, Slice& slice);
  void name_held(const Mirror& mirror, Time now, Slice& slice);

  Budget budget_;
  Journal journal_;
  Ours ours_;
  std::vector<Mounted> levers_;
  std::set<slurm::JobNumber> left_alone_;  // somebody else has set their order
  /// Slurm has refused to change them; until when they rest, by the controller's clock.
  std::map<slurm::JobNumber, Time> resting_;
  struct TakenOver {
    Time at{};  // when that was seen, by the controller's clock
    std::string user{};
  };
  std::vector<TakenOver> taken_over_;
  std::string others_;  // why we stood down; "" = we did not
  std::string trouble_;
  std::string rests_;                         // why none may act
  Time watched_ = kNoTime;                    // when it was said last which jobs we hold
  std::vector<slurm::JobNumber> held_named_;  // which those were
};

/// Whether a change came too late: the job does not wait any more.
bool is_past(const Result<void>& result);
/// "job 12: site_factor 0 -> 500, place 1 of 9 in v100 under qssf"
std::string to_words(const Entry& entry);

}  // namespace almanac::steer
