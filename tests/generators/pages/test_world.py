"""World: what a set of results holds, and how it is loaded from folders, with faults told in words."""

from __future__ import annotations

import shutil
from datetime import date
from pathlib import Path

import pytest

from generators.pages import links
from generators.pages.world import World
from generators.sources import load_datasets, load_worlds
from runner.errors import ConfigurationError, StoreError
from runner.records import Standing, TrialIdentity
from tests import examples
from tests.generators.tables.made import ROOT, Made, write

DATASETS = ROOT / "datasets"


def loaded(root: Path, *trials: Made, planned: tuple[TrialIdentity, ...] = ()) -> World:
    """The real world of a store with these trials."""
    write(root / "results", trials, planned)
    return load_worlds(root / "results", DATASETS)[0]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Three models, two harnesses, two datasets."""
    return loaded(
        tmp_path_factory.mktemp("world"),
        Made("task-a", cell=examples.cell("one")),
        Made("task-a", cell=examples.cell("two")),
        Made("task-b", cell=examples.cell("two")),
        Made("task-a", cell=examples.cell("two", harness="pi")),
        Made("task-a", points=None, cell=examples.cell("three", dataset="another-set")),
    )


def test_names_are_in_order_and_each_stands_once(world: World) -> None:
    assert world.models == ("one", "three", "two")
    assert world.harnesses == ("loop", "pi")
    assert world.skills == ("fix",)


def test_real_results_name_described_datasets_that_nobody_ran(world: World) -> None:
    assert {"another-set", "hello-world"} <= set(world.dataset_names)
    assert set(world.datasets) <= set(world.dataset_names)
    assert list(world.dataset_names) == sorted(world.dataset_names)


def test_select_narrows_by_every_name_given(world: World) -> None:
    assert len(world.select()) == 4
    assert len(world.select(model="two")) == 2
    assert len(world.select(model="two", harness="pi")) == 1
    assert world.select(model="two", harness="pi", dataset="another-set") == ()
    assert [cell.identity.model.slug for cell in world.select(dataset="another-set")] == ["three"]


def test_the_board_with_most_cells_comes_first(world: World) -> None:
    assert [board.dataset for board in world.boards("loop", "fix")] == ["hello-world", "another-set"]
    assert world.boards("loop", "no-such-skill") == ()


def test_each_cell_finds_its_own_board(world: World) -> None:
    for cell in world.cells:
        board = world.board_of(cell)
        assert board is not None
        assert board.dataset == cell.identity.dataset
        assert any(other.key == cell.key for other in board.cells)


def test_the_home_page_shows_the_dataset_with_most_scored_cells(world: World) -> None:
    assert world.widest == ("fix", "hello-world")


def test_scored_cells_weigh_more_than_any_number_of_unscored_ones(tmp_path: Path) -> None:
    unscored = [Made("task-a", None, cell=examples.cell(f"m{n}", dataset="large")) for n in range(5)]
    found = loaded(tmp_path, *unscored, Made("task-a", cell=examples.cell("m0", dataset="small")))
    assert found.widest == ("fix", "small")


def test_an_empty_store_is_a_world_without_anything(tmp_path: Path) -> None:
    world, demonstration = load_worlds(tmp_path / "none", DATASETS)
    assert demonstration is None
    assert (world.cells, world.models, world.widest, world.newest_run) == ((), (), None, None)
    assert world.trial_count == 0


def test_the_newest_run_is_the_latest_day_that_is_known(world: World) -> None:
    assert world.newest_run == date(2026, 1, 31)


def test_trials_are_counted_whether_or_not_they_count(tmp_path: Path) -> None:
    found = loaded(tmp_path, Made("task-a"), Made("task-a", trial=2, standing=Standing.PROBE))
    assert found.trial_count == 2


def test_a_plan_without_any_trial_still_makes_a_cell(tmp_path: Path) -> None:
    planned = TrialIdentity(cell=examples.cell("never-ran"), task="task-a", trial=1)
    found = loaded(tmp_path, Made("task-a"), planned=(planned,))
    (cell,) = found.select(model="never-ran")
    assert cell.missing == (("task-a", 1),)
    assert cell.trials == ()


def test_a_task_is_found_only_where_a_file_describes_it(world: World) -> None:
    found = world.task("hello-world", "quarter-hour-default")
    assert found is not None
    assert world.task("hello-world", "no-such-task") is None
    assert world.task("another-set", "task-a") is None


def test_paths_of_a_world_carry_its_prefix(world: World) -> None:
    cell = world.cells[0]
    assert world.cell_page(cell) == links.cell_page(cell.identity)
    apart = World(
        world.cells, world.datasets, world.pricing, world.sweeps, world.plans, prefix=links.DEMONSTRATION
    )
    assert apart.demonstration
    assert not world.demonstration
    assert apart.cell_page(cell) == f"demonstration/{world.cell_page(cell)}"
    trial = cell.trials[0]
    assert apart.trial_page(trial) == f"demonstration/{world.trial_page(trial)}"
    assert world.trial_page(trial).startswith(world.cell_page(cell).removesuffix("index.md"))


def test_the_demonstration_names_only_datasets_it_ran(world: World) -> None:
    apart = World(world.cells, world.datasets, world.pricing, (), (), prefix=links.DEMONSTRATION)
    assert apart.dataset_names == ("another-set", "hello-world")


def copied(into: Path) -> Path:
    """A copy of the dataset files that a test may spoil."""
    shutil.copytree(DATASETS, into / "datasets")
    return into / "datasets"


def test_two_files_that_claim_one_name_are_a_fault_with_a_remedy(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    twin = (folder / "mcp-gateway-registry.yaml").read_text(encoding="utf-8")
    (folder / "zz-twin.yaml").write_text(twin, encoding="utf-8")
    with pytest.raises(ConfigurationError, match="under the name 'mcp-gateway-registry'") as caught:
        load_datasets(folder)
    assert "zz-twin.yaml" in str(caught.value)
    assert "output_scope" in str(caught.value)


def test_a_fault_of_a_dataset_stops_the_build_with_its_place(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    (folder / "broken.yaml").write_text("name: broken\ntasks: 3\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"broken\.yaml"):
        load_worlds(tmp_path / "results", folder)


def test_a_fault_of_the_model_names_stops_the_build_with_its_place(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    (folder / "models" / "aliases.yaml").write_text("schema_version: 1\nalias: {}\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"aliases\.yaml"):
        load_worlds(tmp_path / "results", folder)


def test_a_broken_record_stops_the_build_and_is_named(tmp_path: Path) -> None:
    write(tmp_path / "results", [Made("task-a")])
    (path,) = (tmp_path / "results").rglob("trial.json")
    path.write_text("{", encoding="utf-8")
    with pytest.raises(StoreError, match=r"trial\.json"):
        load_worlds(tmp_path / "results", DATASETS)


def test_a_record_marked_as_demonstration_in_the_real_store_is_shown_nowhere(tmp_path: Path) -> None:
    demo = Made("task-a", cell=examples.cell("replay-x"), changes={"demonstration": True})
    found = loaded(tmp_path, demo, Made("task-a", cell=examples.cell("real")))
    assert "replay-x" not in {cell.identity.model.slug for cell in found.cells if cell.trials}
