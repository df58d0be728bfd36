// `warpath compare`: the times of two runs, side by side.
#pragma once

#include <optional>
#include <string>

namespace warpath::harness {

/// Prints the rows that two archives (or all archives of two folders) share, by experiment, variant
/// and parameters: both medians, their ratio, and the noise of both. A change is called faster or
/// slower if it is beyond the noise: the medians' 95 % confidence intervals are apart, and each
/// median lies outside the other row's 10th to 90th percentile. Rows of one side only are listed.
/// Returns the exit code: 1 if `fail_above` is given and a row is slower than before by more than
/// that share, beyond the noise, or has no right answer any more. Throws UserError for what is no
/// archive, and if no row is in both.
int compare_archives(const std::string& before, const std::string& after,
                     std::optional<double> fail_above);

/// "5%" or "5" as 0.05. Throws UserError.
double read_percent(const std::string& option, const std::string& text);

}  // namespace warpath::harness
