"""Every shipped configuration follows configs/schema.json, which refuses what it should."""

import jsonschema
import pytest

from configs import NAMES, ROOT, SCHEMA, parse, points, read


@pytest.fixture(scope="module")
def validator():
    assert SCHEMA.exists(), "there are configurations, but no configs/schema.json"
    schema = parse(SCHEMA.read_text())
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema)


def test_there_are_configurations():
    assert NAMES


@pytest.mark.parametrize("name", NAMES, ids=str)
def test_follows_the_schema(name, validator):
    errors = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(read(name))]
    assert errors == []


@pytest.mark.parametrize("name", NAMES, ids=str)
def test_is_where_its_names_say(name):
    config = read(name)
    assert f"{config['technique']}/{config['experiment']}.json" == name


@pytest.mark.parametrize("name", NAMES, ids=str)
def test_the_source_has_a_link(name):
    assert "http" in read(name)["source"]


@pytest.mark.parametrize("name", NAMES, ids=str)
def test_has_a_figure_script(name):
    assert (ROOT / "plots" / f"{name.split('/')[0]}.py").exists()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda config: config.update(swep=[]),
        lambda config: config.pop("technique"),
        lambda config: config.pop("sweep"),
        lambda config: config.update(schema=99),
        lambda config: config.update(sweep="all of it"),
        lambda config: config.setdefault("measure", {}).update(cache="lukewarm"),
        lambda config: config.update(measure={"cache": "warm", "launches": 0}),
        lambda config: config.update(measure={"cache": "warm", "launches": 1001}),
        lambda config: config.update(measure={"cache": "cold", "launches": 2}),
        lambda config: config.update(measure={"launches": 2}),
        lambda config: config.update(title=7),
    ],
    ids=[
        "unknown key",
        "no technique",
        "no sweep",
        "version",
        "sweep",
        "cache",
        "no launches",
        "too many launches",
        "launches with a cold cache",
        "launches with the default cache",
        "title",
    ],
)
def test_the_schema_refuses(spoil, validator):
    config = read(NAMES[0])
    spoil(config)
    assert not validator.is_valid(config)


@pytest.mark.parametrize(
    "measure",
    [{"cache": "warm", "launches": 1000}, {"cache": "cold", "launches": 1}, {"launches": 1}, {}],
    ids=str,
)
def test_the_schema_accepts(measure, validator):
    assert validator.is_valid(read(NAMES[0]) | {"measure": measure})


def test_comments_are_no_part_of_texts():
    text = '{"a": "// no \\" comment", /* one */ "b": 1} // another'
    assert parse(text) == {"a": '// no " comment', "b": 1}


def test_points_are_every_combination():
    config = {"fixed": {"seed": 1}, "sweep": [{"cross": {"n": {"pow2": [2, 4, 1]}}}]}
    config["sweep"][0]["zip"] = {"a": [1, 2], "b": {"range": [0, 0.1, 0.1]}}
    found = points(config)
    assert len(found) == 6
    assert found[-1] == {"seed": 1, "n": 16, "a": 2, "b": 0.1}
