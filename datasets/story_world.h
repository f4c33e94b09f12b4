#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/philox.h"

namespace ut::datasets {

/// A question with its answer and the numbers of the lines that are needed to know it, in ascending order.
struct StoryQuestion {
  std::string text;
  std::string answer;
  std::vector<std::int64_t> supporting;
};

/// A ship whose crew move between its places and take and drop things; for making stories. No line tells where a person
/// or a thing starts: a question is asked only if the lines so far answer it.
class StoryWorld {
 public:
  /// `facts`: lines that a question needs, 1 (where is a person), 2 (where is a thing), 3 (where was a thing before
  /// a place). With 1 nothing is taken or dropped. `random` must outlive the world.
  StoryWorld(int facts, base::Random& random);

  /// Lets someone do something, told by the line with this number. Returns the sentence.
  std::string act(std::int64_t line);
  /// Whether the lines so far answer a question.
  bool can_ask() const;
  /// A question drawn from those that the lines so far answer. Needs can_ask().
  StoryQuestion ask();

 private:
  struct Person {
    std::size_t place = 0;
    std::int64_t moved = 0;  // line of the last move; 0: nobody knows yet where the person is
  };
  struct Arrival {  // of a thing, carried by a person
    std::size_t from;
    std::size_t place;
    std::vector<std::int64_t> supporting;
  };
  struct Thing {
    std::size_t place = 0;  // where it lies; out of date while carried
    bool carried = false;
    std::size_t person = 0;         // who carries it
    std::int64_t handled = 0;       // line of the last take or drop; 0: nobody touched it
    std::int64_t moved = 0;         // while it lies: the line that brought its last carrier here
    std::vector<Arrival> arrivals;  // the last arrival at each place
  };

  template <typename Things>
  const typename Things::value_type& draw(const Things& things);
  bool chance(std::int64_t percent) { return random_.uniform(1, 100) <= percent; }
  std::vector<std::size_t> things_at_hand(std::size_t person) const;
  std::vector<std::size_t> things_carried(std::size_t person) const;
  std::vector<std::size_t> things_to_ask_about() const;
  std::string move(std::size_t person, std::int64_t line);
  std::string take(std::size_t person, std::size_t thing, std::int64_t line);
  std::string drop(std::size_t person, std::size_t thing, std::int64_t line);
  StoryQuestion where_is_person();
  StoryQuestion where_is_thing();
  StoryQuestion where_was_thing();

  int facts_;
  base::Random& random_;
  std::vector<Person> people_;
  std::vector<Thing> things_;
};

}  // namespace ut::datasets
