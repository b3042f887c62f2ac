"""What a configuration may say: every key with its meaning, unit and range.

A sweep's networks are written in four ways: as a spelling, as a spelling with a label and a source, as a
family with values, lists and ranges, or as a requirement that every family is asked to meet.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, PrivateAttr, Tag, create_model, field_validator, model_validator

from torusweep.documents import Place, spelled
from torusweep.errors import BadInput, one_line
from torusweep.questions import question_named
from torusweep.questions.stage import Bounds, Section, Spellings
from torusweep.stages import STAGES

(FAULTS,) = (one.range for one in question_named("describe").parameters if one.name == "fault_nodes" and one.range)
FaultNodes = Annotated[int, Field(ge=FAULTS.minimum, le=FAULTS.maximum)] | None
SECTIONS = {**STAGES, "latency": question_named("latency")}
PAPERS = ("P98", "P04", "D90", "C10", "R05")
_ADDRESS = re.compile(r"(?P<protocol>tls|tcp)://(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):(?P<port>\d{1,5})")
MOST_PARTS = 10_000  # of a stage
_WORD = r"[\w.,:@+=/%][\w.,:@+=/%-]*"  # in a job script: no blank, quote, line break, and no option
# Options of sbatch that ask for resources. Others set a job's environment, run something, or write files: a
# configuration, which may come from anybody, has none of them, nor a part of a name, which sbatch would complete
_WITH_VALUE = (
    "account|begin|constraint|core-spec|cores-per-socket|cpus-per-gpu|cpus-per-task|deadline|distribution|exclude|gpus|"
    "gpus-per-node|gpus-per-socket|gpus-per-task|gres|gres-flags|hint|licenses|mem|mem-per-cpu|mem-per-gpu|mincpus|nice|"
    "nodelist|nodes|ntasks|ntasks-per-core|ntasks-per-node|ntasks-per-socket|partition|prefer|priority|qos|reservation|"
    "signal|sockets-per-node|switches|threads-per-core|time|time-min|tmp|wckey"
)
_ALONE = "contiguous|exclusive|nice|no-requeue|overcommit|oversubscribe|requeue"
_DIRECTIVE = rf"--({_WITH_VALUE})[= ]{_WORD}|--({_ALONE})(={_WORD})?|-[ACGLNbcnpqtwx] ?{_WORD}"


class Labelled(Section):
    """Networks by their spellings, with what a reader should know of them; tables and points do not depend on it."""

    topology: Spellings = Field(description="spelling of a network, or several")
    label: str = Field("", max_length=60, description="name of the machine that has this network")
    year: int | None = Field(None, ge=1, le=9999, description="year in which it was built or described")
    source: str = Field("", max_length=400, description="where its network is described")
    note: str = Field("", max_length=1000, description="how the network here differs from the machine's")
    comparison: str = Field(
        "", max_length=80, description="title of the page's table in which it stands beside others; no table without"
    )

    @model_validator(mode="after")
    def _one_machine(self) -> Labelled:
        given = [name for name in ("label", "year", "source", "note") if getattr(self, name)]
        if given and len(self.topology) > 1:
            raise ValueError(
                f"expected one topology with {given[0]}, got {len(self.topology)}; give each its own entry"
            )
        if given and not self.label:
            raise ValueError(f"expected a label with {given[0]}, got none; name the machine")
        if not given and not self.comparison:
            raise ValueError("expected a label or a comparison, got neither; write the spelling alone")
        return self


class Family(Section):
    """A family with its parameters: each a value, a list or a range {from, to, step or count}; all combinations."""

    model_config = ConfigDict(extra="allow")

    family: str = Field(description="name of the family; 'torusweep topologies' lists all")
    fault_nodes: FaultNodes = Field(None, description=f"{FAULTS.meaning}; null: as many as the sweep says")
    skip_invalid: bool = Field(
        False, description="leave out combinations that violate the family's constraints instead of refusing the sweep"
    )


class Requirement(Section):
    """What a network must be, whatever its family."""

    families: Literal["all"] | Annotated[tuple[str, ...], Field(min_length=1, strict=False)] = Field(
        "all", description="families to search: all that have a size, or a list of names"
    )
    excluded: tuple[str, ...] = Field((), alias="except", strict=False, description="families that are left out")
    nodes: Bounds = Field(description="number of nodes: {from, to}, or one number")
    degree: Bounds | None = Field(None, description="most links of a node: {from, to}, or one number")
    directed: bool | None = Field(
        None, description="true: links of one direction only; false: bidirectional links only; null: both"
    )
    parameters: dict[str, Any] = Field(
        default_factory=dict,
        description=(
            "values, lists or ranges of parameters, for the families that have them;"
            " any other parameter that has a default keeps it"
        ),
    )


class Required(Section):
    """An entry of `topologies` that is a requirement."""

    require: Requirement = Field(description="every network that meets this is added")


def _kind(entry: Any) -> str | None:
    """Which of the four ways an entry of `topologies` is written in."""
    if isinstance(entry, str):
        return "<spelling>"
    if isinstance(entry, dict):
        found = [key for key in _KINDS if key in entry]
        if "family" in found and "topology" in found:
            found.remove("topology")  # a parameter of a family, as of faulty
        return f"<{found[0]}>" if len(found) == 1 else None
    return next((f"<{key}>" for key, kind in _KINDS.items() if isinstance(entry, kind)), None)


_KINDS = {"topology": Labelled, "family": Family, "require": Required}  # by the key that tells an entry's kind
Entry = Annotated[
    Annotated[str, Tag("<spelling>")]
    | Annotated[Labelled, Tag("<topology>")]
    | Annotated[Family, Tag("<family>")]
    | Annotated[Required, Tag("<require>")],
    Discriminator(
        _kind,
        custom_error_type="entry",
        custom_error_message=(
            "expected a topology such as torus(k=8, n=3), or a mapping with one of 'topology', 'family' and 'require'"
        ),
    ),
]


class Slurm(Section):
    """Workers started as Slurm jobs by dask-jobqueue."""

    jobs: int = Field(1, ge=1, le=10_000, description="jobs to submit; each gets one node")
    cores: int = Field(1, ge=1, le=4096, description="cores, and workers, of a job")
    memory: str = Field("4GiB", pattern=r"^\d+(\.\d+)? ?[KMGT]i?B$", description="memory of a job, as in 16GiB")
    walltime: str = Field(
        "01:00:00", pattern=r"^(\d+-)?\d{1,3}:\d{2}:\d{2}$", description="time of a job, as hours:minutes:seconds"
    )
    queue: str | None = Field(None, pattern=f"^{_WORD}$", description="partition: one word")
    account: str | None = Field(None, pattern=f"^{_WORD}$", description="account to charge: one word")
    interface: str | None = Field(
        None, pattern=r"^\w[\w.-]*$", description="network interface over which workers are reached, as in ib0"
    )
    directives: tuple[str, ...] = Field(
        (),
        strict=False,
        description="further #SBATCH options that ask for resources, as in --constraint=epyc, of "
        + f"{_WITH_VALUE}|{_ALONE}".replace("|", ", "),
    )

    @field_validator("directives")
    @classmethod
    def _of_resources(cls, directives: tuple[str, ...]) -> tuple[str, ...]:
        for directive in directives:
            if not re.fullmatch(_DIRECTIVE, directive):
                raise ValueError(
                    "expected options of sbatch that ask for resources (docs/config.md lists them), got"
                    f" {one_line(directive, 60)!r}; give sbatch others in its variables, as SBATCH_EXPORT"
                )
        return directives


class Cluster(Section):
    """Who computes: local processes unless an address or Slurm is given."""

    workers: Literal["auto"] | Annotated[int, Field(ge=0, le=100_000)] = Field(
        "auto",
        description=(
            "worker processes, one thread each; auto: one for each core, limited by the open files "
            "that this process may have, none for a few seconds of work; 0: this process computes alone"
        ),
    )
    memory_per_worker_gib: float | None = Field(
        None, gt=0, le=65_536, description="GiB a worker may take; null: an equal share of the machine's"
    )
    cores: Literal["auto"] | Annotated[int, Field(ge=1, le=4096)] = Field(
        "auto", description="most cores that a process takes; auto: all that it may use here, 8 for a job on a cluster"
    )
    parts: Literal["auto"] | Annotated[int, Field(ge=1, le=MOST_PARTS)] = Field(
        "auto",
        description=(
            "jobs of equal estimated time into which Snakemake cuts a stage; auto: as many as take part_minutes each "
            "where Snakemake submits jobs to a cluster, none elsewhere"
        ),
    )
    part_minutes: float = Field(
        30.0, gt=0, le=43_200, description="minutes that a part of a stage takes on its cores, estimated"
    )
    gpus: Annotated[int, Field(ge=0, le=64)] | Annotated[str, Field(pattern=r"^gpu(:[\w.]+)?:\d+$")] | None = Field(
        None,
        description=(
            "GPUs of a job on a cluster: a number, or as Slurm's gres, as in gpu:a100:2; "
            "null: one where Snakemake submits the job and the backend is cupy, else none"
        ),
    )
    batch_seconds: float = Field(
        2.0, ge=0.01, le=3600, description="seconds of estimated work in one batch of networks"
    )
    worker_ttl_seconds: float = Field(
        60.0,
        ge=10,
        le=86_400,
        description=("seconds after which a silent worker is replaced; after half of them it is given up"),
    )
    watchdog_seconds: float = Field(
        600.0,
        ge=1,
        le=2_592_000,
        description=(
            "seconds after which a batch's worker is stopped and the batch is tried again, unless 20 times "
            "the estimate is more; doubled for each trial of a single network"
        ),
    )
    scheduler: str | None = Field(
        None,
        description=(
            "address of a running Dask scheduler, as in tls://host:8786; you must say that you trust it"
            " (torusweep run --trust-scheduler); null: torusweep starts its own cluster"
        ),
    )
    slurm: Slurm | None = Field(None, description="start workers as Slurm jobs")

    @model_validator(mode="before")
    @classmethod
    def _no_consent(cls, given: Any) -> Any:
        """Refuse the keys by which a configuration once said what is the user's to say (torusweep.run.consent)."""
        for key in {"tls", "insecure"} & given.keys() if isinstance(given, dict) else ():
            raise ValueError(
                f"expected no '{key}', as a configuration may come from anybody; say it where you run it:"
                " --trust-scheduler ADDRESS or ADDRESS,CA,CERT,KEY"
            )
        return given

    @model_validator(mode="after")
    def _one_place(self) -> Cluster:
        if self.scheduler is not None and self.slurm is not None:
            raise ValueError("expected a scheduler's address or slurm, got both; keep one")
        self.check_parts()
        if self.scheduler is None:
            return self
        address = _ADDRESS.fullmatch(self.scheduler)
        if address is None or not 0 < int(address["port"]) < 65536:
            raise ValueError(
                "scheduler: expected an address such as tls://host:8786 or tcp://127.0.0.1:8786,"
                f" got {self.scheduler!r}"
            )
        return self

    def check_parts(self) -> None:
        """Raise ValueError for parts together with workers elsewhere: either Snakemake's jobs compute, or Dask's."""
        if self.parts not in ("auto", 1) and (self.scheduler is not None or self.slurm is not None):
            raise ValueError(
                f"expected parts or workers elsewhere (scheduler, slurm), got both; leave parts: {self.parts} out"
            )


class Limits(Section):
    """What a sweep may ask for; more is refused before anything is computed."""

    points: int = Field(100_000, ge=1, le=100_000_000, description="most networks in a sweep")
    memory_gib: float | None = Field(
        None, gt=0, le=1_048_576, description="GiB that one network may take; null: half of the machine's memory"
    )


class Settings(Section):
    """A whole configuration. `source` is its path as given, `digest` the sha256 of the file, `text` what it says."""

    sweep: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$",
        description="name of the results' folder: letters, digits, - and _, at most 64, a letter or digit first",
    )
    description: str = Field("", max_length=2000, description="purpose of the sweep; the page prints it")
    topologies: tuple[Entry, ...] = Field(
        (), strict=False, description="the networks: spellings, alone or labelled, families with values, requirements"
    )
    papers: tuple[str, ...] = Field(
        (),
        strict=False,
        description=(
            "papers whose printed numbers are verified; the networks they name are added. Of P98, P04, D90, C10, R05"
        ),
    )
    fault_nodes: FaultNodes = Field(None, description=f"of every network, {FAULTS.meaning}; null: not")
    certificates: bool = Field(
        False, description="also write the table certificates: proofs of the tables' rows that certify/check.py checks"
    )
    symmetry: bool = Field(
        True,
        description=(
            "use proved symmetry; false searches distances and follows loads from every node, with the same result"
        ),
    )
    backend: Literal["auto", "numpy", "numba", "cupy"] = Field(
        "auto", description="library that computes; auto: a GPU, if there is one, for large calls; Numba otherwise"
    )
    cluster: Cluster = Field(
        default_factory=lambda: Cluster.model_validate({}), description="workers and their cluster"
    )
    limits: Limits = Field(
        default_factory=lambda: Limits.model_validate({}), description="limits beyond which a sweep is refused"
    )

    _source: str = PrivateAttr("")
    _text: str = PrivateAttr("")
    _digest: str = PrivateAttr("")
    _places: dict[Place, tuple[int, int]] = PrivateAttr(default_factory=dict)

    @field_validator("papers")
    @classmethod
    def _known_papers(cls, papers: tuple[str, ...]) -> tuple[str, ...]:
        unknown = [paper for paper in papers if paper not in PAPERS]
        if unknown:
            raise ValueError(f"expected papers of {', '.join(PAPERS)}, got {unknown[0]!r}")
        return tuple(dict.fromkeys(papers))

    @model_validator(mode="after")
    def _something(self) -> Settings:
        spaces = any(entry.spaces() for name in STAGES for entry in self.entries(name))
        if not (self.topologies or self.papers or spaces):
            raise ValueError(
                "expected topologies, papers or a design space, got none; add for example topologies: [ring(k=8)]"
            )
        return self

    def entries(self, stage: str) -> tuple[Any, ...]:
        """The entries of a section: of a stage, or of another question in `SECTIONS`."""
        found = getattr(self, stage, ())
        return found if isinstance(found, tuple) else ()

    def choice(self, stage: str) -> Any:
        """A stage's section that is about every network (`Stage.Choice`), or "none"; None where it has no such."""
        return getattr(self, stage, None) if STAGES[stage].Choice is not None else None

    def cluster_under(self, overrides: Mapping[str, Any]) -> Cluster:
        """Who computes, where the command line may say how many workers, cores and parts. Raises BadInput."""
        given = {name: overrides[name] for name in ("workers", "cores", "parts") if name in overrides}
        cluster = self.cluster.model_copy(update=given)
        try:
            cluster.check_parts()
        except ValueError as wrong:
            raise BadInput(f"cluster: {wrong}") from None
        return cluster

    @property
    def source(self) -> str:
        return self._source

    @property
    def text(self) -> str:
        return self._text

    @property
    def digest(self) -> str:
        return self._digest

    def where(self, place: Place) -> str:
        """`path:line:column: place` of something in the file, for messages; without a file, its name and the place."""
        known = place
        while known and known not in self._places:
            known = known[:-1]
        line, column = self._places.get(known, (1, 1))
        source = f"{self._source}:{line}:{column}" if self._places else self._source
        return f"{source}: {spelled(place)}" if place else source


if TYPE_CHECKING:
    Sweep = Settings
else:
    Sweep = create_model(
        "Sweep",
        __base__=Settings,
        __doc__=Settings.__doc__,
        **{
            name: (tuple[section.Entry, ...], Field((), strict=False, description=section.description))
            for name, section in SECTIONS.items()
            if section.Entry is not None
        },
        **{
            name: (stage.Choice | Literal["none"] | None, Field(None, description=stage.description))
            for name, stage in STAGES.items()
            if stage.Choice is not None
        },
    )
