"""Draw mutants: copies of a package in which one place is changed.

The changes are mutmut's, and some of ours that are smaller than its own. Left out are those that say
nothing of what a test judges: `a = None` and arguments that a call needs, because the program then ends
with an error wherever it runs; what is written for a reader (a text with a space in it), because tests
compare names and values; and annotations, decorators and imports. What is equivalent is not sorted out
by hand, so not all mutants can be killed.

Mutants are drawn by places, and for each place one of its changes: a choice that can be forced either way
counts once. Each room, a folder, has its share of the places.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, NamedTuple

import libcst as cst
from libcst.metadata import MetadataWrapper, ParentNodeProvider, PositionProvider
from mutmut.mutation import mutators

from .mutant import Lines, Mutant

Change = Callable[[Any], Iterable[cst.CSTNode]]

# What stands in these is of no account when a program runs, or ends it on import.
SKIPPED = (cst.Annotation, cst.Decorator, cst.Import, cst.ImportFrom)
# Parts of a statement that have a condition or a pattern of their own.
STATEMENTS = (
    cst.SimpleStatementLine,
    cst.BaseCompoundStatement,
    cst.ExceptHandler,
    cst.MatchCase,
)
OPPOSITE = {"max": "min", "min": "max"}
SMALL = 20  # a whole number below it counts something, and one more is another count


class Place(NamedTuple):
    """A node that can be changed, by the names of the changes."""

    node: cst.CSTNode
    changes: tuple[tuple[str, cst.CSTNode], ...]


def without_option(node: cst.Call) -> Iterator[cst.Call]:
    """Leave out an argument that is passed by name: it is mostly one that may be left out."""
    for index, argument in enumerate(node.args):
        if argument.keyword:
            yield node.with_changes(args=[*node.args[:index], *node.args[index + 1 :]])


def without_call(node: cst.Expr) -> Iterator[cst.BaseSmallStatement]:
    """Leave out a call, or a wait, whose value nobody uses."""
    if isinstance(node.value, (cst.Call, cst.Await)):
        yield cst.Pass()


def opposite_end(node: cst.Call) -> Iterator[cst.Call]:
    """Take the smallest for the largest, and the other way round."""
    if isinstance(node.func, cst.Name) and node.func.value in OPPOSITE:
        yield node.with_changes(func=cst.Name(OPPOSITE[node.func.value]))


def number(node: cst.BaseNumber) -> Iterator[cst.BaseNumber]:
    """Take one more of a count, and the double of anything else: one more of 1e9 is nearly the same."""
    if not isinstance(node, (cst.Integer, cst.Float)):
        return  # nobody counts in imaginary numbers
    value = node.evaluated_value
    more = 2 * value if isinstance(value, float) or value >= SMALL else value + 1
    yield node.with_changes(value=repr(more or 1.0))


def for_a_program(node: cst.BaseString) -> Iterator[cst.BaseString]:
    """Change a text that a program compares, and not one that a reader reads."""
    if isinstance(node, cst.SimpleString) and " " not in node.value:
        yield from list(mutators.operator_string(node))[:1]


CHANGES: tuple[tuple[type, Change], ...] = (
    *(
        (kind, change)
        for kind, change in mutators.mutation_operators
        if change
        not in (
            mutators.operator_assignment,
            mutators.operator_arg_removal,
            mutators.operator_number,
            mutators.operator_string,
        )
    ),
    (cst.BaseNumber, number),
    (cst.BaseString, for_a_program),
    (cst.Call, without_option),
    (cst.Call, opposite_end),
    (cst.Expr, without_call),
)


class Finder(cst.CSTVisitor):
    """Finds all places of a module that can be changed."""

    def __init__(self) -> None:
        super().__init__()
        self.places: list[Place] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, SKIPPED) or of_no_account(node):
            return False
        changes = tuple(
            (change.__name__.removeprefix("operator_"), changed)
            for kind, change in CHANGES
            if isinstance(node, kind)
            for changed in change(node)
        )
        if changes:
            self.places.append(Place(node, changes))
        return True


def of_no_account(node: cst.CSTNode) -> bool:
    """Return whether *node* only tells tools something: what a type is, or which names are public."""
    if isinstance(node, cst.If):
        return isinstance(node.test, cst.Name) and node.test.value == "TYPE_CHECKING"
    if isinstance(node, cst.Assign):
        return any(name in ("__all__", "__slots__") for name in targets(node))
    return False


def targets(statement: cst.CSTNode) -> list[str]:
    """Return the names that a *statement* assigns."""
    match statement:
        case cst.Assign():
            found = [target.target for target in statement.targets]
        case cst.AnnAssign() | cst.AugAssign():
            found = [statement.target]
        case cst.SimpleStatementLine():
            return [name for part in statement.body for name in targets(part)]
        case _:
            return []
    return [node.value for node in found if isinstance(node, cst.Name)]


class Source:
    """A file of the package, and what can be changed in it."""

    def __init__(self, file: str, text: str) -> None:
        self.file, self.text = file, text
        wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
        self.module = wrapper.module
        self.positions = wrapper.resolve(PositionProvider)
        self.parents = wrapper.resolve(ParentNodeProvider)
        finder = Finder()
        self.module.visit(finder)
        self.places = finder.places

    def span(self, node: cst.CSTNode) -> Lines:
        """Return the lines of *node*."""
        position = self.positions[node]
        return Lines(position.start.line, position.end.line)

    def way_up(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Give *node* and all that it stands in, to the module."""
        yield node
        while node is not self.module:
            node = self.parents[node]
            yield node

    def header(self, node: cst.CSTNode) -> Lines:
        """Return the lines of the statement of *node*, without what is indented below it."""
        statement = next(one for one in self.way_up(node) if isinstance(one, STATEMENTS))
        lines = self.span(statement)
        if isinstance(statement, cst.SimpleStatementLine):
            return lines
        own, inner = self.span(node), getattr(statement, "body", None)
        last = self.span(inner).first - 1 if isinstance(inner, cst.BaseSuite) else own.last
        return Lines(lines.first, max(lines.first, last))

    def judges(self, node: cst.CSTNode) -> tuple[Lines, tuple[str, ...]]:
        """Return the lines and the names by which to look for tests that can judge *node*."""
        below, names = node, list[str]()
        for above in self.way_up(node):
            names += targets(above) if isinstance(above, cst.SimpleStatementLine) else []
            if isinstance(above, cst.FunctionDef):
                if below is above.body:
                    return self.header(node), ()
                return self.span(above.body), (above.name.value,)
            if isinstance(above, cst.ClassDef):
                return self.header(node), (above.name.value, *names)
            below = above
        return self.header(node), tuple(names)

    def mutant(self, place: Place, kind: str, changed: cst.CSTNode) -> Mutant:
        """Return the file with *changed* at a *place*."""
        new = self.module.deep_replace(place.node, changed)
        assert isinstance(new, cst.Module)
        before, after = different(self.text, new.code)
        lines, names = self.judges(place.node)
        line = self.span(place.node).first
        return Mutant(self.file, line, kind, before, after, lines, names, new.code)


def different(before: str, after: str) -> tuple[str, str]:
    """Return the lines in which two texts differ, of both."""
    old, new = before.splitlines(), after.splitlines()
    changed = [
        block
        for block in SequenceMatcher(None, old, new, False).get_opcodes()
        if block[0] != "equal"
    ]
    first, last = changed[0], changed[-1]
    return (
        " ".join(line.strip() for line in old[first[1] : last[2]]),
        " ".join(line.strip() for line in new[first[3] : last[4]]),
    )


def compiles(mutant: Mutant) -> bool:
    """Return whether Python can read a *mutant* at all."""
    try:
        compile(mutant.source, mutant.file, "exec")
    except SyntaxError:
        return False
    return True


def shares(sizes: dict[str, int], whole: int) -> dict[str, int]:
    """Share out *whole* in proportion to *sizes*; what is left goes to the largest remainders.

    >>> shares({"a": 70, "b": 20, "c": 10}, 5)
    {'a': 4, 'b': 1, 'c': 0}
    """
    total = sum(sizes.values())
    found = {name: whole * size // total for name, size in sizes.items()}
    left = sorted(sizes, key=lambda name: (-(whole * sizes[name] % total), name))
    for name in left[: whole - sum(found.values())]:
        found[name] += 1
    return found


def drawn(root: Path, packages: Sequence[str], number: int, seed: int) -> list[Mutant]:
    """Draw a *number* of mutants of the *packages* below *root*; the same *seed* draws the same ones.

    Every room is drawn from by itself, so what changes in one does not change the others' mutants.
    """
    rooms: dict[str, list[tuple[Source, Place]]] = {}
    for package in packages:
        for path in sorted((root / package).rglob("*.py")):
            file = path.relative_to(root).as_posix()
            source = Source(file, path.read_text(encoding="utf-8"))
            found = [(source, place) for place in source.places]
            rooms.setdefault(Path(file).parent.as_posix(), []).extend(found)
    wanted = shares({room: len(places) for room, places in rooms.items()}, number)
    return [
        mutant
        for room, places in rooms.items()
        for mutant in draw(places, wanted[room], f"{seed} {room}")
    ]


def draw(places: list[tuple[Source, Place]], number: int, seed: str) -> list[Mutant]:
    """Draw a *number* of mutants of one room."""
    chance, found = random.Random(seed), list[Mutant]()
    for source, place in chance.sample(places, len(places)):
        if len(found) == number:
            break
        mutant = source.mutant(place, *chance.choice(place.changes))
        if compiles(mutant):
            found.append(mutant)
    return found
