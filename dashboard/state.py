"""The one file that touches ``st.session_state``.

An officer's choices live in a `Workspace`, kept by the server under an unguessable key that stands in the page's address:
a page refresh, which starts a new Streamlit session, finds them again, with running jobs and finished releases.
"""

from __future__ import annotations

import hashlib
import secrets
import shutil
import tempfile
import weakref
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Literal

import streamlit as st

import sample_data
from core.budget import FEATURES, HISTOGRAM, SELECTION, Recipe, Split, parse_epsilon
from core.bundle import Bundle
from core.encoding import CountedTable, read_contingency
from core.errors import InputError, PrivPfCError
from core.evaluation import Result
from core.plan import Plan, make_plan, size_source
from core.recipes import TUNED, recipe_named
from core.release import Release
from core.schema import Declaration, Label, MissingPolicy, PrivacyUnit, Schema
from core.source import TableSource, open_table
from core.taxonomy import Taxonomy
from core.taxonomy_io import read_taxonomies
from dashboard.jobs import Job

_KEY = "workspace"
_KEPT = 20
"""Workspaces that the server remembers; the one unused for longest goes first."""


@dataclass(frozen=True, eq=False)
class FinishedRelease:
    """A release with its bundle; both are kept as they are.

    Parameters
    ----------
    release : Release
    bundle : Bundle
    created : datetime
    table : str
        Digest of the table it was made from.
    choices : str
        Fingerprint of the choices that it was made with.
    """

    release: Release
    bundle: Bundle
    created: datetime
    table: str
    choices: str


@dataclass(eq=False)
class Workspace:
    """Everything that one officer has chosen, and what came of it.  Uploads are deleted with it."""

    source: TableSource | None = None
    digest: str = ""
    title: str = ""
    label_name: str | None = None
    label_values: tuple[str, ...] = ()
    label_suggested: bool = False
    unit_who: str = ""
    unit_rows: int | None = None
    size: int | None = None
    missing: MissingPolicy | None = None
    taxonomies: dict[str, Taxonomy] = field(default_factory=dict)
    excluded: set[str] = field(default_factory=set)
    epsilon_text: str = "1.0"
    recipe_name: str = TUNED.name
    own_split: tuple[int, int, int] | None = None
    counts_rule: Literal["clip", "project"] = "clip"
    counting: Job[CountedTable] | None = None
    counting_choices: str = ""
    releasing: Job[FinishedRelease] | None = None
    releases: list[FinishedRelease] = field(default_factory=list)
    evaluating: Job[list[Result]] | None = None
    evaluating_choices: str = ""
    partial_results: list[Result] = field(default_factory=list)
    uploads: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="privpfc-")))

    def __post_init__(self) -> None:
        weakref.finalize(self, shutil.rmtree, self.uploads, ignore_errors=True)

    def open_sample(self, name: str) -> None:
        """Take a sample table with its declarations."""
        folder = sample_data.sample_path(name).parent
        declared = Declaration.read(sample_data.sample_path(name).read_text(encoding="utf-8"))
        path = folder / declared.table
        self._take(open_table(path), hashlib.sha256(path.read_bytes()).hexdigest(), declared.title)
        self.label_name, self.label_values, self.label_suggested = declared.label.name, declared.label.values, False
        self.unit_who, self.unit_rows = declared.unit.who, declared.unit.rows
        self.size, self.missing = declared.size, declared.missing
        self.taxonomies = read_taxonomies((folder / declared.taxonomies).read_text(encoding="utf-8"))

    def open_upload(self, name: str, content: bytes) -> None:
        """Take an uploaded table; the one in use stays where this one cannot be read."""
        digest = hashlib.sha256(content).hexdigest()
        path = self.uploads / f"{digest[:16]}{Path(name).suffix.lower()}"
        path.write_bytes(content)
        self._take(open_table(path, name), digest, name)
        self.label_name, self.label_values, self.label_suggested = None, (), False
        self.unit_who, self.unit_rows, self.size, self.missing = "", None, None, None
        self.taxonomies = {}

    def _take(self, source: TableSource, digest: str, title: str) -> None:
        self.source, self.digest, self.title, self.excluded = source, digest, title, set()

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the table but for the label."""
        return () if self.source is None else tuple(c for c in self.source.columns if c != self.label_name)

    @property
    def used_taxonomies(self) -> tuple[Taxonomy, ...]:
        """Taxonomies of the attributes that take part, in the order of the columns."""
        return tuple(self.taxonomies[c] for c in self.columns if c in self.taxonomies and c not in self.excluded)

    def schema(self) -> Schema:
        """The declarations; raises `InputError` with what is missing first."""
        if self.source is None:
            raise InputError("Choose a table on the page Data.")
        if self.label_name is None or not self.label_values:
            raise InputError("Choose the label on the page Data.")
        if self.unit_rows is None:
            raise InputError("Say who is protected, and how many rows each has at most, on the page Data.")
        label = Label(self.label_name, self.label_values, self.label_suggested)
        return Schema(self.used_taxonomies, label, PrivacyUnit(self.unit_who, self.unit_rows), self.size, self.missing)

    @property
    def epsilon(self) -> Fraction:
        """ε for one record, exactly as typed."""
        return parse_epsilon(self.epsilon_text)

    @property
    def recipe(self) -> Recipe:
        """The chosen recipe."""
        return recipe_named(self.recipe_name)

    @property
    def split(self) -> Split | None:
        """The officer's own split, or None for the recipe's."""
        if self.own_split is None:
            return None
        steps = zip((FEATURES, SELECTION, HISTOGRAM), self.own_split, strict=True)
        return {step: Fraction(percent, 100) for step, percent in steps if percent}

    def plan(self, epsilon: Fraction | None = None) -> Plan:
        """The plan of a release; where no size is declared it looks at the records, which must be counted by then."""
        epsilon = epsilon or self.epsilon
        schema = self.schema()
        n = schema.size if schema.size is not None else self.counted().contingency.n
        return make_plan(self.recipe, schema, epsilon, n, size_source(self.recipe, schema.size), self.split)

    def counted(self) -> CountedTable:
        """The counted table; raises `InputError` where it is not there (yet)."""
        if self.counting is None or self.counting_choices != self.schema_choices() or self.counting.running:
            raise InputError("The records are not counted yet; open the page Preview first.")
        if self.counting.result is None:
            raise InputError(self.counting.error or "Counting the records was stopped; open the page Preview again.")
        return self.counting.result

    def start_counting(self) -> Job[CountedTable]:
        """Count the records in the background, unless that was done for these declarations."""
        choices = self.schema_choices()
        if self.counting is None or self.counting_choices != choices or self.counting.cancelled:
            if self.counting is not None:
                self.counting.cancel()
            source, schema = self.source, self.schema()
            assert source is not None
            self.counting, self.counting_choices = Job(lambda report: read_contingency(source, schema)), choices
        return self.counting

    def schema_choices(self) -> str:
        """Fingerprint of the table and its declarations."""
        return repr((self.digest, self.schema()))

    def choices(self) -> str:
        """Fingerprint of everything that a release depends on."""
        return repr((self.schema_choices(), self.epsilon, self.recipe_name, self.split, self.counts_rule))

    @property
    def latest(self) -> FinishedRelease | None:
        """The last finished release."""
        return self.releases[-1] if self.releases else None

    @property
    def spent_on_table(self) -> Fraction:
        """ε that the releases of this table have cost in this workspace, for one record."""
        return sum((done.release.epsilon for done in self.releases if done.table == self.digest), Fraction(0))

    def gaps(self) -> dict[str, str]:
        """What is missing, by page and in the order of the pages: page title → one sentence."""
        found: dict[str, str] = {}
        if self.source is None:
            return {"Data": "Choose a sample or upload a table."}
        if self.label_name is None or not self.label_values:
            found["Data"] = "Choose the label: the column that classifiers are to predict."
        else:
            try:
                Label(self.label_name, self.label_values, self.label_suggested)
            except PrivPfCError as error:
                found["Data"] = str(error)
        if "Data" not in found and (self.unit_rows is None or not self.unit_who.strip()):
            found["Data"] = "Say who is protected, and how many rows each has at most."
        if not self.used_taxonomies:
            found["Taxonomies"] = "Give at least one attribute a taxonomy."
        if not found:
            try:
                self.schema()
            except PrivPfCError as error:
                found["Data"] = str(error)
        try:
            self.recipe.budget(self.epsilon, size=False, features=False, split=self.split)
        except PrivPfCError as error:
            found["Privacy budget"] = str(error)
        return found


@st.cache_resource
def _workspaces() -> OrderedDict[str, Workspace]:
    return OrderedDict()


def workspace() -> Workspace:
    """The workspace of this browser tab."""
    kept = _workspaces()
    key: str = st.session_state.get(_KEY) or st.query_params.get(_KEY) or ""
    if key not in kept:
        key = secrets.token_urlsafe(24)
        kept[key] = Workspace()
        while len(kept) > _KEPT:
            kept.popitem(last=False)
    kept.move_to_end(key)
    st.session_state[_KEY] = key
    if st.query_params.get(_KEY) != key:
        st.query_params[_KEY] = key
    return kept[key]


def once(name: str) -> bool:
    """True the first time in this browser session."""
    first = name not in st.session_state
    st.session_state[name] = True
    return first


def forget(*names: str) -> None:
    """Forget the values of widgets, so that they start from the workspace again."""
    for name in names:
        st.session_state.pop(name, None)
