"""What documents show as code is code that is compiled and tested."""

import pytest
from conftest import ROOT

EXAMPLES = sorted((ROOT / "tests").glob("*/example_test.cu"))


def between(text, begin, end):
    """What stands between the first `begin` and the `end` behind it."""
    return text.split(begin, 1)[1].split(end, 1)[0]


def test_there_are_examples():
    assert EXAMPLES


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_the_example_of_the_readme_is_the_one_that_is_tested(path):
    tested = between(path.read_text(), "// example begins\n", "// example ends\n")
    readme = (ROOT / "algorithms" / path.parent.name / "README.md").read_text()
    assert between(readme, "```cpp\n", "```") == tested
    assert len([line for line in tested.splitlines() if line.strip()]) < 30
