#include <utility>

#include "eval/calibrate_probes.h"

namespace footnote::eval {
namespace {

struct Domain {
  std::string_view name;
  std::string_view questions[14];
};

constexpr Domain kDomains[] = {
    {"cooking",
     {"How long do you boil an egg until it is soft?", "What is the difference between baking soda and baking powder?",
      "How do I keep basil fresh in the kitchen?", "Which flour is best for pizza dough?", "Why does bread rise?",
      "How do you make a roux for a sauce?", "What temperature is medium rare for a steak?", "How long can cooked rice stay in the fridge?",
      "What can replace eggs in a cake?", "How do you sharpen a kitchen knife?", "Why do onions make you cry?", "How is soy sauce made?",
      "What does it mean to blanch vegetables?", "How much salt goes into pasta water?"}},
    {"astronomy",
     {"How far away is the moon?", "What is a black hole made of?", "Why is Mars red?", "How many moons does Jupiter have?",
      "What causes a solar eclipse?", "How old is the universe?", "What is a light year?", "Why does Saturn have rings?",
      "How do stars die?", "What is the largest planet of the solar system?", "Who discovered Uranus?", "What is dark matter?",
      "How hot is the surface of the sun?", "When does Halley's comet come back?"}},
    {"history",
     {"When did the Roman Empire fall?", "Who was the first emperor of China?", "What caused the French Revolution?",
      "When was the Berlin Wall built?", "Who signed the Magna Carta?", "What was the Black Death?", "When did the Titanic sink?",
      "Who led the Mongol invasions?", "Why was the Suez Canal dug?", "What ended the Thirty Years' War?",
      "Who painted the ceiling of the Sistine Chapel?", "When did women in Switzerland get the vote?",
      "What was traded along the Silk Road?", "Who built Machu Picchu?"}},
    {"sport",
     {"How many players are in a rugby team?", "What is the offside rule in football?", "Who won the most Wimbledon titles?",
      "How long is a marathon?", "What is a hat trick in cricket?", "How is a decathlon scored?", "How high is a basketball hoop?",
      "What does love mean in tennis?", "Which country hosted the first Olympic Games?", "How do you throw a curveball?",
      "What is a birdie in golf?", "How many rounds does a boxing match have?", "What is the butterfly stroke?",
      "How is the winner of the Tour de France decided?"}},
    {"medicine",
     {"What are the symptoms of measles?", "How is high blood pressure treated?", "What does insulin do?", "Can antibiotics cure a cold?",
      "How long is a broken arm in plaster?", "What causes migraine?", "Is ibuprofen safe during pregnancy?", "How do vaccines work?",
      "What is a normal resting heart rate?", "How does one get malaria?", "What helps against a sunburn?", "Why do we need vitamin C?",
      "What is a hernia?", "How is asthma diagnosed?"}},
    {"gardening",
     {"When should roses be pruned?", "How often do I water a cactus?", "What makes hydrangeas turn blue?", "How do I get rid of slugs?",
      "When do you plant tulip bulbs?", "Which vegetables grow in the shade?", "How is compost made?", "Why do tomato leaves curl?",
      "How deep do you sow carrots?", "What eats aphids?", "How do you graft an apple tree?", "Which hedge grows fastest?",
      "How can moss be removed from a lawn?", "When are pumpkins ripe?"}},
    {"law and money",
     {"How do I write a will?", "What is the difference between a patent and a trademark?", "How is capital gains tax worked out?",
      "What does a notary do?", "How long does copyright last?", "What is compound interest?", "Can a landlord raise the rent at any time?",
      "How does a mortgage work?", "What is insider trading?", "When is a contract void?", "How do index funds work?",
      "What is the statute of limitations for theft?", "How do I dispute a parking ticket?", "What is inflation?"}},
    {"music",
     {"How many strings does a violin have?", "Who composed The Magic Flute?", "What is a minor scale?", "How does a trumpet make sound?",
      "What does allegro mean?", "Who wrote Bohemian Rhapsody?", "How is a piano tuned?", "What is syncopation?",
      "Which instruments are in a string quartet?", "What is the range of a soprano?", "When was the saxophone invented?",
      "How do you read a bass clef?", "What is a fugue?", "Who was the lead singer of Nirvana?"}},
    {"animals",
     {"How long do elephants live?", "Why do cats purr?", "What do hedgehogs eat?", "How fast is a cheetah?", "Do bats see in the dark?",
      "How do bees make honey?", "Which birds can't fly?", "How do octopuses change colour?", "Where do penguins live?",
      "How long is a horse pregnant?", "Why do wolves howl?", "What is the largest snake?", "How do salmon find their river?",
      "Are spiders insects?"}},
    {"travel",
     {"Do I need a visa for Japan?", "What is the best month to see the northern lights?", "How do I get from Rome to Naples?",
      "Which side of the road do they drive on in Malta?", "What is the currency of Vietnam?", "How high is Kilimanjaro?",
      "How long is the flight from London to Sydney?", "Where can you see the Mona Lisa?", "Is tap water safe to drink in Mexico?",
      "What is there to see in Lisbon?", "How much do you tip in America?", "Which island is Honolulu on?", "How old is Petra?",
      "What plug is used in Ireland?"}},
    {"computers",
     {"How do I undo a commit in git?", "What is the difference between TCP and UDP?", "How does quicksort work?",
      "How do I find the largest file on Linux?", "What is a foreign key in a database?", "Why is my laptop battery draining fast?",
      "How do I centre a div with CSS?", "What is a memory leak?", "How does public key encryption work?", "How do I resize a partition?",
      "What is a race condition?", "How do I write a regular expression for an email address?", "What does a compiler do?",
      "How is a neural network trained?"}},
    {"household",
     {"How do I get red wine out of a carpet?", "How often should a boiler be serviced?", "How do you unblock a drain?",
      "What is the right humidity indoors?", "How do I hang a picture on plasterboard?", "Why does my washing machine smell?",
      "How do you remove limescale?", "How is a bicycle tyre patched?", "Which paint is right for a bathroom?",
      "How do I bleed a radiator?", "What fuse does a kettle need?", "How do you iron a shirt?", "How do I get rid of moths?",
      "How can a squeaking door be silenced?"}},
};

}  // namespace

std::vector<Probe> general_probes() {
  std::vector<Probe> out;
  for (const Domain& domain : kDomains) {
    for (const std::string_view question : domain.questions) out.push_back({std::string(question), std::string(domain.name)});
  }
  return out;
}

}  // namespace footnote::eval
