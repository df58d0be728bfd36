"""What the figures of biased_binary_search show, from made-up archives."""

import figure_checks


def test_probes_are_those_of_the_archive(tmp_path):
    drawn = figure_checks.drawer("biased_binary_search", tmp_path)("run_length")
    lines = {line.get_label(): set(line.get_ydata()) for line in drawn.axes[0].get_lines()}
    assert lines["4 levels (source)"] == {13.0}
    assert lines["halves alone"] == {25.0}
    assert "Thrust: lower bound" not in lines
