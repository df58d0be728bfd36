// Commands that a shell takes as they are meant, and paths that mean something elsewhere.
#include "harness/shell_text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>

#include "scratch_folder.hpp"

namespace warpath::harness {
namespace {

/// What a shell makes of the command, a line a word.
std::string words_of(const std::string& command) {
  std::FILE* const pipe = popen(("printf '%s\\n' " + command).c_str(), "r");
  std::string text;
  std::array<char, 256> part{};
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) text += part.data();
  EXPECT_EQ(pclose(pipe), 0) << command;
  return text;
}

TEST(ShellText, AShellReadsTheSameWords) {
  const std::vector<std::string> words = {
      "plain-1.json", "a path/with blanks", "it's",  "{a,b}", "$HOME", "`date`", "*",      "~",
      "a\\b",         "n=2^20:2^28:*4",     "#none", "",      "!!",    "\"",     "a;b|c&d"};
  std::string lines;
  for (const std::string& word : words) lines += word + "\n";
  EXPECT_EQ(words_of(shell_command(words)), lines);
}

TEST(ShellText, PlainWordsStayPlain) {
  EXPECT_EQ(shell_command({"warpath", "run", "configs/a/b.json", "--set", "n=1000,2^20"}),
            "warpath run configs/a/b.json --set n=1000,2^20");
}

class PathInCheckout : public testing::Test {
 protected:
  PathInCheckout() {
    std::filesystem::create_directories(folder_ / "checkout/configs/fake");
    folder_.write("checkout/configs/schema.json", "{}");
    std::filesystem::current_path(folder_ / "checkout/configs");
  }
  ~PathInCheckout() override { std::filesystem::current_path(before_); }

  ScratchFolder folder_;
  std::filesystem::path before_ = std::filesystem::current_path();
};

TEST_F(PathInCheckout, IsThatFromItsRoot) {
  const std::string file = (folder_ / "checkout/configs/fake/e.json").string();
  EXPECT_EQ(path_in_checkout(file), "configs/fake/e.json");
  EXPECT_EQ(path_in_checkout("fake/e.json"), "configs/fake/e.json");
  EXPECT_EQ(path_in_checkout("../configs/./fake/e.json"), "configs/fake/e.json");
}

TEST_F(PathInCheckout, OutsideItIsTheNameAlone) {
  EXPECT_EQ(path_in_checkout("/home/someone/mine.json"), "mine.json");
  EXPECT_EQ(path_in_checkout("../../mine.json"), "mine.json");
}

}  // namespace
}  // namespace warpath::harness
