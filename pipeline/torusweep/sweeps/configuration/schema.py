"""The schema of a configuration: every key with its meaning, unit and range.

A sweep gives networks in four ways: as a spelling, as a spelling with a label and a source, as a family with values,
lists and ranges, or as a requirement for networks of all families.
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
MOST_PARTS = 10_000  # greatest number of parts of a stage
_WORD = r"[\w.,:@+=/%][\w.,:@+=/%-]*"  # a word in a job script: no blank, quote or line break, and not an option
# Options of sbatch that request resources. Others set a job's environment, run programs or write files, and are
# refused, because a configuration may come from anybody; so are abbreviated names, which sbatch would complete.
_WITH_VALUE = (
    "account|begin|constraint|core-spec|cores-per-socket|cpus-per-gpu|cpus-per-task|deadline|distribution|exclude|gpus|"
    "gpus-per-node|gpus-per-socket|gpus-per-task|gres|gres-flags|hint|licenses|mem|mem-per-cpu|mem-per-gpu|mincpus|nice|"
    "nodelist|nodes|ntasks|ntasks-per-core|ntasks-per-node|ntasks-per-socket|partition|prefer|priority|qos|reservation|"
    "signal|sockets-per-node|switches|threads-per-core|time|time-min|tmp|wckey"
)
_ALONE = "contiguous|exclusive|nice|no-requeue|overcommit|oversubscribe|requeue"
_DIRECTIVE = rf"--({_WITH_VALUE})[= ]{_WORD}|--({_ALONE})(={_WORD})?|-[ACGLNbcnpqtwx] ?{_WORD}"


class Labelled(Section):
    """Networks given by their spellings, with information for readers, on which points and tables do not depend."""

    topology: Spellings = Field(description="spelling of a network, or several spellings")
    label: str = Field("", max_length=60, description="name of the machine that has this network")
    year: int | None = Field(None, ge=1, le=9999, description="year in which the machine was built or described")
    source: str = Field("", max_length=400, description="publication that describes the network")
    note: str = Field("", max_length=1000, description="how the network here differs from the machine's")
    comparison: str = Field(
        "", max_length=80, description="title of the table on the page that compares this network with others"
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
    """A family and values of its parameters: each a value, a list or a range. All combinations are networks."""

    model_config = ConfigDict(extra="allow")

    family: str = Field(description="name of the family; 'torusweep topologies' lists all")
    fault_nodes: FaultNodes = Field(None, description=f"{FAULTS.meaning}; null: the sweep's fault_nodes")
    skip_invalid: bool = Field(
        False, description="leave out combinations that violate the family's constraints instead of refusing the sweep"
    )


class Requirement(Section):
    """A requirement for networks of several families."""

    families: Literal["all"] | Annotated[tuple[str, ...], Field(min_length=1, strict=False)] = Field(
        "all", description="families to search: a list of names, or all families that have a size"
    )
    excluded: tuple[str, ...] = Field((), alias="except", strict=False, description="families that are left out")
    nodes: Bounds = Field(description="number of nodes: {from, to}, or one number")
    degree: Bounds | None = Field(None, description="greatest number of links of a node: {from, to}, or one number")
    directed: bool | None = Field(
        None, description="true: only networks with one-way links; false: only with bidirectional links; null: both"
    )
    parameters: dict[str, Any] = Field(
        default_factory=dict,
        description=(
            "values, lists or ranges of parameters, for those families that have them;"
            " other parameters with a default keep it"
        ),
    )


class Required(Section):
    """An entry of `topologies` that is a requirement."""

    require: Requirement = Field(description="requirement; all networks that meet it are added")


def _kind(entry: Any) -> str | None:
    """Return the tag of the form of an entry of `topologies`, such as <family>; None for none of the four forms."""
    if isinstance(entry, str):
        return "<spelling>"
    if isinstance(entry, dict):
        found = [key for key in _KINDS if key in entry]
        if "family" in found and "topology" in found:
            found.remove("topology")  # here a parameter of a family, such as faulty
        return f"<{found[0]}>" if len(found) == 1 else None
    return next((f"<{key}>" for key, kind in _KINDS.items() if isinstance(entry, kind)), None)


_KINDS = {"topology": Labelled, "family": Family, "require": Required}  # characteristic key → class of the entry
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
    """Workers that dask-jobqueue starts as Slurm jobs."""

    jobs: int = Field(1, ge=1, le=10_000, description="number of jobs to submit; each gets one node")
    cores: int = Field(1, ge=1, le=4096, description="number of cores, and of workers, of a job")
    memory: str = Field("4GiB", pattern=r"^\d+(\.\d+)? ?[KMGT]i?B$", description="memory of a job, as in 16GiB")
    walltime: str = Field(
        "01:00:00", pattern=r"^(\d+-)?\d{1,3}:\d{2}:\d{2}$", description="time limit of a job, as hours:minutes:seconds"
    )
    queue: str | None = Field(None, pattern=f"^{_WORD}$", description="name of the partition, one word")
    account: str | None = Field(None, pattern=f"^{_WORD}$", description="name of the account to charge, one word")
    interface: str | None = Field(
        None, pattern=r"^\w[\w.-]*$", description="network interface over which workers are reached, as in ib0"
    )
    directives: tuple[str, ...] = Field(
        (),
        strict=False,
        description="further #SBATCH options that request resources, as in --constraint=epyc; permitted are "
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
    """The workers that compute: local processes, unless a scheduler's address or Slurm is given."""

    workers: Literal["auto"] | Annotated[int, Field(ge=0, le=100_000)] = Field(
        "auto",
        description=(
            "number of worker processes, of one thread each; auto: one for each core, as far as the limit on open "
            "files permits, but none for a few seconds of work; 0: this process computes alone"
        ),
    )
    memory_per_worker_gib: float | None = Field(
        None, gt=0, le=65_536, description="GiB that a worker may take; null: an equal share of the machine's memory"
    )
    cores: Literal["auto"] | Annotated[int, Field(ge=1, le=4096)] = Field(
        "auto", description="most cores for a process; auto: all available cores, or 8 for a job on a cluster"
    )
    parts: Literal["auto"] | Annotated[int, Field(ge=1, le=MOST_PARTS)] = Field(
        "auto",
        description=(
            "number of jobs of equal estimated time into which Snakemake divides a stage; auto: if Snakemake submits "
            "jobs to a cluster, as many as take part_minutes each, otherwise one"
        ),
    )
    part_minutes: float = Field(
        30.0, gt=0, le=43_200, description="estimated minutes that a part of a stage takes on its cores"
    )
    gpus: Annotated[int, Field(ge=0, le=64)] | Annotated[str, Field(pattern=r"^gpu(:[\w.]+)?:\d+$")] | None = Field(
        None,
        description=(
            "GPUs of a job on a cluster: a number, or Slurm's gres, as in gpu:a100:2; "
            "null: one if Snakemake submits the job and the backend is cupy, otherwise none"
        ),
    )
    batch_seconds: float = Field(2.0, ge=0.01, le=3600, description="estimated seconds of work in a batch of networks")
    worker_ttl_seconds: float = Field(
        60.0,
        ge=10,
        le=86_400,
        description="seconds after which a silent worker is replaced; it counts as lost after half of this time",
    )
    watchdog_seconds: float = Field(
        600.0,
        ge=1,
        le=2_592_000,
        description=(
            "seconds after which a batch's worker is stopped and the batch is tried again; at least 20 times the "
            "estimate, and doubled for each further trial of a single network"
        ),
    )
    scheduler: str | None = Field(
        None,
        description=(
            "address of a running Dask scheduler, as in tls://host:8786; you must confirm that you trust it"
            " (torusweep run --trust-scheduler); null: torusweep starts a cluster of its own"
        ),
    )
    slurm: Slurm | None = Field(None, description="workers that are started as Slurm jobs; null: none")

    @model_validator(mode="before")
    @classmethod
    def _no_consent(cls, given: Any) -> Any:
        """Refuse former keys that gave the user's consent, which no configuration can give (torusweep.run.consent)."""
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
        """Raise ValueError if parts (jobs of Snakemake) are given together with workers on other machines (of Dask)."""
        if self.parts not in ("auto", 1) and (self.scheduler is not None or self.slurm is not None):
            raise ValueError(
                f"expected parts or workers elsewhere (scheduler, slurm), got both; leave parts: {self.parts} out"
            )


class Limits(Section):
    """Limits on a sweep. A sweep beyond them is refused before anything is computed."""

    points: int = Field(
        100_000,
        ge=1,
        le=100_000_000,
        description="greatest number of networks in a sweep, and of points in a stage; if it is above 1,048,576, the"
        " tables of stages are folders of files",
    )
    memory_gib: float | None = Field(
        None, gt=0, le=1_048_576, description="GiB that one network may take; null: half of the machine's memory"
    )


class Settings(Section):
    """A whole configuration. `source` is the path of its file as given, `text` its content, `digest` the sha256."""

    sweep: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$",
        description="name of the results' folder: at most 64 letters, digits, - and _; a letter or digit first",
    )
    description: str = Field("", max_length=2000, description="purpose of the sweep; the page prints it")
    topologies: tuple[Entry, ...] = Field(
        (), strict=False, description="networks of the sweep: spellings, labelled spellings, families, requirements"
    )
    papers: tuple[str, ...] = Field(
        (),
        strict=False,
        description=(
            "papers (of P98, P04, D90, C10, R05) whose networks and requests are added, and printed numbers verified"
        ),
    )
    verify: tuple[str, ...] = Field(
        (), strict=False, description="papers whose printed numbers are verified where the sweep has them; adds nothing"
    )
    fault_nodes: FaultNodes = Field(None, description=f"for every network: {FAULTS.meaning}; null: not computed")
    certificates: bool = Field(
        False, description="whether to write the table certificates, with proofs of rows that certify/check.py checks"
    )
    symmetry: bool = Field(
        True,
        description=(
            "whether to use proved symmetry; if false, every node is a source of the computation, with the same result"
        ),
    )
    backend: Literal["auto", "numpy", "numba", "cupy"] = Field(
        "auto", description="library that computes; auto: a GPU, if there is one, for large calls; otherwise Numba"
    )
    cluster: Cluster = Field(
        default_factory=lambda: Cluster.model_validate({}), description="workers and the cluster on which they run"
    )
    limits: Limits = Field(
        default_factory=lambda: Limits.model_validate({}), description="limits beyond which a sweep is refused"
    )

    _source: str = PrivateAttr("")
    _text: str = PrivateAttr("")
    _digest: str = PrivateAttr("")
    _places: dict[Place, tuple[int, int]] = PrivateAttr(default_factory=dict)

    @property
    def verified(self) -> tuple[str, ...]:
        """The papers whose printed numbers are verified."""
        return tuple(dict.fromkeys((*self.papers, *self.verify)))

    @field_validator("papers", "verify")
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
        """Return the entries in the section of a stage or of another question in `SECTIONS`; () if there are none."""
        found = getattr(self, stage, ())
        return found if isinstance(found, tuple) else ()

    def choice(self, stage: str) -> Any:
        """Return a stage's section if its form is one mapping (`Stage.Choice`) or "none"; None otherwise."""
        return getattr(self, stage, None) if STAGES[stage].Choice is not None else None

    def cluster_under(self, overrides: Mapping[str, Any]) -> Cluster:
        """Return the section `cluster` with overrides of the command line. Raises BadInput if settings conflict."""
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
        """Return `path:line:column: key` of a place in a file, or `name: key` in a dictionary, for messages."""
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
