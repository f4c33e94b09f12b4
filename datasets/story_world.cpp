#include "datasets/story_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ut::datasets {
namespace {

using FourWords = std::array<std::string_view, 4>;

constexpr FourWords people_names = {"Ingrid", "Tariq", "Okoro", "Meilin"};
constexpr std::array<std::string_view, 6> place_names = {"bridge", "galley",     "hold",
                                                         "cabin",  "forecastle", "chartroom"};
constexpr FourWords thing_names = {"lantern", "compass", "hammer", "rope"};
constexpr FourWords move_verbs = {"climbed to", "hurried to", "headed for", "strode to"};
constexpr FourWords take_verbs = {"lifted", "seized", "fetched", "collected"};
constexpr FourWords drop_verbs = {"released", "unloaded", "abandoned", "set aside"};

// So that things change hands and places often enough to be asked about within a story.
constexpr std::int64_t take_percent = 50;
constexpr std::int64_t drop_percent = 20;

std::vector<std::int64_t> ascending(std::vector<std::int64_t> lines) {
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace

StoryWorld::StoryWorld(int facts, base::Random& random)
    : facts_(facts), random_(random), people_(people_names.size()), things_(facts > 1 ? thing_names.size() : 0) {
  for (Thing& thing : things_) thing.place = static_cast<std::size_t>(random_.uniform(0, std::ssize(place_names) - 1));
}

template <typename Things>
const typename Things::value_type& StoryWorld::draw(const Things& things) {
  return things[static_cast<std::size_t>(random_.uniform(0, std::ssize(things) - 1))];
}

std::vector<std::size_t> StoryWorld::things_at_hand(std::size_t person) const {
  std::vector<std::size_t> found;
  for (std::size_t thing = 0; thing < things_.size(); ++thing)
    if (!things_[thing].carried && things_[thing].place == people_[person].place) found.push_back(thing);
  return found;
}

std::vector<std::size_t> StoryWorld::things_carried(std::size_t person) const {
  std::vector<std::size_t> found;
  for (std::size_t thing = 0; thing < things_.size(); ++thing)
    if (things_[thing].carried && things_[thing].person == person) found.push_back(thing);
  return found;
}

std::string StoryWorld::act(std::int64_t line) {
  const auto person = static_cast<std::size_t>(random_.uniform(0, std::ssize(people_) - 1));
  if (people_[person].moved == 0) return move(person, line);
  const std::vector<std::size_t> at_hand = things_at_hand(person);
  if (!at_hand.empty() && chance(take_percent)) return take(person, draw(at_hand), line);
  const std::vector<std::size_t> carried = things_carried(person);
  if (!carried.empty() && chance(drop_percent)) return drop(person, draw(carried), line);
  return move(person, line);
}

std::string StoryWorld::move(std::size_t person, std::int64_t line) {
  Person& mover = people_[person];
  std::vector<std::size_t> goals;
  for (std::size_t place = 0; place < place_names.size(); ++place)
    if (mover.moved == 0 || place != mover.place) goals.push_back(place);
  const std::size_t goal = draw(goals);
  for (const std::size_t thing : things_carried(person)) {
    std::vector<Arrival>& arrivals = things_[thing].arrivals;
    std::erase_if(arrivals, [&](const Arrival& arrival) { return arrival.place == goal; });
    arrivals.push_back({mover.place, goal, ascending({things_[thing].handled, mover.moved, line})});
  }
  mover = {goal, line};
  return fmt::format("{} {} the {}.", people_names[person], draw(move_verbs), place_names[goal]);
}

std::string StoryWorld::take(std::size_t person, std::size_t thing, std::int64_t line) {
  things_[thing].carried = true;
  things_[thing].person = person;
  things_[thing].handled = line;
  return fmt::format("{} {} the {}.", people_names[person], draw(take_verbs), thing_names[thing]);
}

std::string StoryWorld::drop(std::size_t person, std::size_t thing, std::int64_t line) {
  things_[thing].carried = false;
  things_[thing].place = people_[person].place;
  things_[thing].handled = line;
  things_[thing].moved = people_[person].moved;
  return fmt::format("{} {} the {}.", people_names[person], draw(drop_verbs), thing_names[thing]);
}

std::vector<std::size_t> StoryWorld::things_to_ask_about() const {
  std::vector<std::size_t> found;
  for (std::size_t thing = 0; thing < things_.size(); ++thing)
    if (facts_ == 2 ? things_[thing].handled > 0 : !things_[thing].arrivals.empty()) found.push_back(thing);
  return found;
}

bool StoryWorld::can_ask() const {
  if (facts_ == 1) return std::any_of(people_.begin(), people_.end(), [](const Person& p) { return p.moved > 0; });
  return !things_to_ask_about().empty();
}

StoryQuestion StoryWorld::ask() {
  if (facts_ == 1) return where_is_person();
  return facts_ == 2 ? where_is_thing() : where_was_thing();
}

StoryQuestion StoryWorld::where_is_person() {
  std::vector<std::size_t> known;
  for (std::size_t person = 0; person < people_.size(); ++person)
    if (people_[person].moved > 0) known.push_back(person);
  const std::size_t person = draw(known);
  return {fmt::format("Where is {}?", people_names[person]),
          std::string(place_names[people_[person].place]),
          {people_[person].moved}};
}

StoryQuestion StoryWorld::where_is_thing() {
  const std::size_t asked = draw(things_to_ask_about());
  const Thing& thing = things_[asked];
  const std::size_t place = thing.carried ? people_[thing.person].place : thing.place;
  const std::int64_t moved = thing.carried ? people_[thing.person].moved : thing.moved;
  return {fmt::format("Where is the {}?", thing_names[asked]), std::string(place_names[place]),
          ascending({thing.handled, moved})};
}

StoryQuestion StoryWorld::where_was_thing() {
  const std::size_t asked = draw(things_to_ask_about());
  const Arrival& arrival = draw(things_[asked].arrivals);
  return {fmt::format("Where was the {} before the {}?", thing_names[asked], place_names[arrival.place]),
          std::string(place_names[arrival.from]), arrival.supporting};
}

}  // namespace ut::datasets
