"""Serving recipes: strict files, every fault at once; those that are shipped can be started as they stand."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import ConfigurationError, UsageError
from runner.providers.recipe import OWN_OPTIONS
from runner.providers.recipe_file import all_recipes, find_recipe, read_recipe, recipe_for
from tests.providers.vllm_stage import BASIC

SHIPPED = Path(__file__).parent.parent.parent / "datasets" / "recipes"


def written(folder: Path, body: Mapping[str, object] | str, name: str = "m") -> Path:
    path = folder / f"{name}.yaml"
    text = body if isinstance(body, str) else yaml.safe_dump(dict(body))
    path.write_text(text, encoding="utf-8")
    return path


def basic(**more: object) -> dict[str, object]:
    return {**BASIC, "name": "m", "served_names": ["m"], **more}


def complaint(folder: Path, body: Mapping[str, object] | str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        read_recipe(written(folder, body))
    assert caught.value.remedy
    return str(caught.value)


def test_all_faults_of_a_file_are_in_one_report_with_their_lines(tmp_path: Path) -> None:
    said = complaint(
        tmp_path,
        "schema_version: '1'\nname: m\nserved_names: []\nrepository: no-owner\nmax_model_len: many\n"
        "tool_parser: hermes\ngpu_memory_utilization: 1.5\nsource:\n  - what: a test\n    commmit: abcdef0\n",
    )
    assert "7 faults in the recipe m.yaml" in said
    assert "line 3: served_names: needs at least one item" in said
    assert "line 4: repository: has a form" in said
    assert "line 5: max_model_len: must be a whole number" in said
    assert "line 6: tool_parser: unknown key; did you mean 'tool_call_parser'?" in said
    assert "tool_call_parser" in said
    assert "line 7: gpu_memory_utilization: must be 1 or less" in said
    assert "line 10: source[0].commmit: unknown key; did you mean 'commit'?" in said


@pytest.mark.parametrize("option", sorted(OWN_OPTIONS))
def test_an_option_with_a_key_of_its_own_does_not_come_in_by_the_back_door(
    tmp_path: Path, option: str
) -> None:
    spelled = option[:2] + option[2:].replace("-", "_")
    for arguments in ([option, "x"], [f"{option}=x"], [spelled, "x"], [option[:-1], "x"]):
        if arguments[0] == "-t":
            # No short option is taken for another one.
            continue
        assert "does not belong here" in complaint(tmp_path, basic(extra_arguments=arguments))


@pytest.mark.parametrize("name", ["HF_TOKEN", "MY_API_KEY", "db_password", "AWS_SECRET"])
def test_a_secret_is_named_and_never_written(tmp_path: Path, name: str) -> None:
    said = complaint(tmp_path, basic(environment={name: "hunter2-hunter2"}))
    assert "pass_environment" in said
    assert "hunter2" not in said
    assert read_recipe(written(tmp_path, basic(pass_environment=[name]))).pass_environment == (name,)


@pytest.mark.parametrize(
    "more",
    [
        {"name": "other"},
        {"name": "M"},
        {"served_names": ["--port"]},
        {"served_names": ["a b"]},
        {"repository": "../weights"},
        {"repository": "--help/x"},
        {"revision": "-x"},
        {"tool_call_parser": "a;b"},
        {"max_model_len": 0},
        {"tensor_parallel_size": 0},
        {"port": 80},
        {"start_minutes": 0},
        {"environment": {"A=B": "c"}},
        {"environment": {"A": "b\nc"}},
        {"extra_arguments": ["a\nb"]},
        {"source": []},
        {"source": [{"what": "x", "repository": "http://plain"}]},
        {"source": [{"what": "x", "repository": "https://me:pass@host/x"}]},
        {"schema_version": "2"},
    ],
)
def test_what_no_server_should_be_started_with_is_refused(tmp_path: Path, more: dict[str, object]) -> None:
    assert "fault" in complaint(tmp_path, basic(**more))


@pytest.mark.parametrize(
    "text",
    ["", "[]", "a", "{a: 1, a: 2}", "--- {}\n--- {}", "!!python/object:os.system {}", "a: \x00", "\tx: 1"],
)
def test_what_is_no_recipe_at_all_is_a_clear_refusal(tmp_path: Path, text: str) -> None:
    assert complaint(tmp_path, text)


def test_a_few_lines_that_stand_for_billions_are_refused_at_once(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    assert "entries" in complaint(tmp_path, "\n".join(lines))


def test_a_file_that_is_far_too_large_is_not_read(tmp_path: Path) -> None:
    assert "larger" in complaint(tmp_path, "# " + "x" * 70_000)
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read_recipe(tmp_path / "nothing.yaml")


@given(
    st.dictionaries(
        st.sampled_from([*BASIC, "name", "served_names", "other"]), st.text(max_size=20) | st.integers()
    )
)
def test_any_keys_and_values_are_a_recipe_or_a_clear_refusal(body: dict[str, object]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder), {**basic(), **body})
        said = ""
        try:
            read_recipe(path)
        except ConfigurationError as error:
            said = error.what
        assert not said or "  line " in said


def test_a_recipe_is_found_by_name_by_path_and_by_what_it_serves(tmp_path: Path) -> None:
    path = written(tmp_path, basic(served_names=["m", "alias"]))
    assert find_recipe("m", tmp_path) == find_recipe(str(path), tmp_path / "elsewhere") == read_recipe(path)
    found = recipe_for("alias", tmp_path)
    assert found is not None
    assert found.name == "m"
    assert recipe_for("nobody", tmp_path) is None
    with pytest.raises(UsageError, match="there is no recipe 'mm'"):
        find_recipe("mm", tmp_path)


def test_a_file_that_was_changed_is_read_again(tmp_path: Path) -> None:
    path = written(tmp_path, basic())
    assert read_recipe(path).max_model_len == 131_072
    written(tmp_path, basic(max_model_len=1))
    assert read_recipe(path).max_model_len == 1


def test_the_shipped_recipes_serve_published_models_and_say_their_sources() -> None:
    recipes = all_recipes(SHIPPED)
    assert len(recipes) >= 6
    assert len({name for each in recipes for name in each.served_names}) >= len(recipes)
    for recipe in recipes:
        command = recipe.command("vllm")
        assert command[:3] == ("vllm", "serve", recipe.repository)
        assert recipe.tool_call_parser is not None
        assert recipe.max_model_len >= 64_000
        assert recipe.instance_type is not None
        assert all(each.repository and each.commit and each.path for each in recipe.source)
        assert ("--trust-remote-code" in command) is recipe.trust_remote_code
        assert len(set(command) & {"--host", "--port", "--max-model-len"}) == 3
