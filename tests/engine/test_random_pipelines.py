"""The random pipelines have every operator, so a rule that holds for them holds for each."""

from support.random_pipelines import loaded, pipeline
from support.rewritable_pipelines import rewritable

from lessonkit.engine.node import METHODS, walk
from lessonkit.optimize import RULES, rewrite


def test_every_method_of_a_dataset_is_drawn() -> None:
    drawn = {
        node.method
        for draw in (pipeline, loaded)
        for seed in range(500)
        for node in walk(draw(seed).node)
    }
    assert drawn == METHODS.keys() - {"code"}


def test_every_rule_finds_something() -> None:
    found = {
        step.rule
        for seed in range(150)
        for rule in RULES
        for step in rewrite(rewritable(seed), [rule]).steps
    }
    assert found == RULES.keys()
