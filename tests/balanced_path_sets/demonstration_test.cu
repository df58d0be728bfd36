// The source's two demonstrations, number by number.
#include "balanced_path_sets/demonstration.cuh"
#include "support.cuh"

namespace warpath::balanced_path_sets::test {
namespace {

TEST(Demonstration, Keys) {
  const DemonstrationInputs inputs = demonstration_of_keys();
  const std::vector<int> intersection = {1,  3,  5,  9,  10, 10, 10, 11, 12, 13, 15, 16, 16,
                                         17, 18, 21, 21, 25, 25, 29, 29, 31, 32, 33, 35, 39,
                                         40, 42, 44, 45, 46, 47, 51, 53, 55, 56, 57, 59, 60,
                                         68, 68, 70, 72, 75, 82, 89, 92, 95, 97, 98};
  const std::vector<int> symmetric_difference = {
      1,  2,  2,  6,  6,  7,  7,  8,  9,  12, 12, 13, 14, 16, 16, 17, 19, 20, 22, 24,
      28, 29, 31, 31, 31, 32, 32, 33, 35, 36, 37, 38, 39, 40, 41, 41, 42, 46, 47, 48,
      49, 50, 50, 51, 52, 52, 53, 53, 54, 54, 54, 55, 58, 59, 59, 61, 62, 62, 63, 63,
      64, 65, 65, 66, 66, 66, 67, 70, 73, 73, 74, 74, 74, 74, 74, 76, 76, 78, 79, 80,
      82, 83, 84, 85, 85, 85, 86, 87, 89, 90, 91, 91, 91, 92, 93, 93, 95, 96, 98, 98};
  EXPECT_EQ(demonstrate<SetOperation::intersection>(inputs).keys, intersection);
  EXPECT_EQ(demonstrate<SetOperation::symmetric_difference>(inputs).keys, symmetric_difference);
}

TEST(Demonstration, Pairs) {
  const DemonstrationInputs inputs = demonstration_of_pairs();
  const std::vector<int> intersection = {0,  1,  2,  6,  6,  8,  14, 18, 22, 22, 22, 24,
                                         26, 27, 32, 33, 34, 35, 38, 39, 40, 41, 41, 42,
                                         43, 44, 57, 62, 64, 64, 66, 67, 68, 72, 76, 78,
                                         79, 81, 81, 88, 89, 91, 91, 92, 93, 98, 99};
  const std::vector<int> intersection_indices = {0,  1,  3,  5,  6,  7,  10, 12, 15, 16, 17, 18,
                                                 20, 21, 26, 27, 29, 30, 34, 35, 37, 38, 39, 40,
                                                 41, 42, 50, 54, 58, 59, 62, 63, 65, 67, 70, 73,
                                                 74, 75, 76, 83, 84, 86, 87, 89, 92, 96, 97};
  const std::vector<int> symmetric_difference = {
      1,  2,  3,  4,  4,  4,  4,  5,  8,  10, 10, 11, 11, 12, 13, 17, 18, 20, 21, 21, 25, 26,
      27, 28, 28, 30, 31, 31, 31, 33, 35, 37, 37, 38, 38, 39, 40, 44, 44, 45, 45, 47, 48, 50,
      51, 52, 53, 53, 53, 53, 54, 55, 56, 56, 57, 57, 60, 61, 61, 61, 62, 63, 63, 63, 64, 65,
      66, 67, 70, 70, 71, 73, 74, 75, 76, 77, 78, 80, 80, 80, 80, 82, 84, 85, 85, 86, 86, 87,
      88, 90, 91, 92, 92, 93, 93, 94, 95, 95, 95, 96, 97, 98, 98, 98, 99, 99};
  const std::vector<int> symmetric_difference_indices = {
      2,   103, 4,  104, 105, 106, 107, 108, 112, 113, 114, 8,   9,   115, 116, 11,  13,  14,
      119, 120, 19, 126, 22,  128, 129, 130, 23,  24,  25,  28,  31,  32,  33,  136, 137, 36,
      140, 43,  44, 146, 147, 45,  148, 46,  149, 47,  150, 151, 152, 153, 154, 155, 48,  49,
      51,  52,  53, 157, 158, 159, 161, 55,  56,  57,  60,  61,  165, 64,  168, 169, 66,  68,
      171, 69,  71, 72,  174, 176, 177, 178, 179, 77,  78,  79,  80,  81,  82,  182, 184, 85,
      88,  90,  91, 190, 191, 192, 93,  94,  95,  193, 194, 196, 197, 198, 98,  99};
  const auto both = demonstrate<SetOperation::intersection>(inputs);
  EXPECT_EQ(both.keys, intersection);
  EXPECT_EQ(both.indices, intersection_indices);
  const auto one = demonstrate<SetOperation::symmetric_difference>(inputs);
  EXPECT_EQ(one.keys, symmetric_difference);
  EXPECT_EQ(one.indices, symmetric_difference_indices);
}

// Lines as the source prints them.
TEST(Demonstration, PrintsBoth) {
  const std::string text = demonstration();
  for (const char* part :
       {"\nMULTISET-KEYS DEMONSTRATION:\n\nA:\n    0:     1    1    3    5    7",
        "\nB:\n\n    0:     1    2    2    3    5",
        "\nIntersection:\n    0:     1    3    5    9   10   10   10   11   12   13\n",
        "\nSymmetric Difference:\n    0:     1    2    2    6    6    7    7    8",
        "\nMULTISET-PAIRS DEMONSTRATION:\n\nA:\n    0:     0    1    1    2    3",
        "   40:    89   91   91   92   93   98   99\n\nIntersection indices:\n",
        "\nSymmetric difference keys:\n    0:     1    2    3    4    4",
        "  100:   194  196  197  198   98   99\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
}

}  // namespace
}  // namespace warpath::balanced_path_sets::test
