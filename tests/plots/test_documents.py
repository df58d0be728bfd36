"""What documents show as code is code that is compiled and tested."""

import re

import pytest
from conftest import ROOT

EXAMPLES = sorted((ROOT / "tests").glob("*/example_test.cu"))


def between(text, begin, end):
    """What stands between the first `begin` and the next `end`."""
    return text.split(begin, 1)[1].split(end, 1)[0]


def test_there_are_examples():
    assert EXAMPLES


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_the_example_of_the_readme_is_the_one_that_is_tested(path):
    tested = between(path.read_text(), "// example begins\n", "// example ends\n")
    readme = (ROOT / "algorithms" / path.parent.name / "README.md").read_text()
    assert between(readme, "```cpp\n", "```") == tested
    assert len([line for line in tested.splitlines() if line.strip()]) < 30


def test_the_model_of_the_checklist_has_every_place():
    checklist = between((ROOT / "CONTRIBUTING.md").read_text(), "## Add a technique", "\n## ")
    model = re.search(r"`(\w+)` is the model", checklist)[1]
    rows = re.findall(r"^\| (`.*?) \|", checklist, re.MULTILINE)
    places = [place for row in rows for place in row.split()]
    places = [place.strip("`,").replace("my_technique", model) for place in places]
    assert len(places) > 12
    assert [place for place in places if not list(ROOT.glob(place.rstrip("/")))] == []
