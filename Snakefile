# From a configuration to verified tables and a page in results/<sweep>/.
#
#   snakemake --cores all --force-use-threads   runs config/default.yaml
#     … --configfile config/papers/….yaml       another one
#     … --config results=DIR                    elsewhere; also backend=, symmetry=on|off, workers=, parts=auto|N
#     … --executor slurm --jobs 100             on a cluster: each stage in parts, each part a job
#   snakemake --report report.zip               what it made, how long it took, and the page, in one file
#
# The short steps run in Snakemake's process; without --force-use-threads it starts another Snakemake for each.
# Snakemake owns the files. Dask computes the points within a job of `stage`; finished ones stay in
# results/<sweep>/shards/, which no rule declares, because Snakemake deletes the outputs of a rule that runs again.
#
# logs/ has what a step said, with times: of `stage` its progress; of the others, which run in Snakemake's process,
# when they began and ended, and why they failed. benchmarks/ has seconds and memory of each job; of a step in
# Snakemake's process, the seconds are the step's, and the memory is the process's.
#
# `snakemake --lint` complains of `stage` (tests/run/test_parts.py holds this list):
#   conda environment or container   the rule calls the very torusweep that Snakemake runs beside; requirements/ is locked
from torusweep.run.workflow import requested_sweep

# configuration, folder, stages, derived tables, files, digests of code, options
sweep = requested_sweep(workflow, config)
FOLDER = sweep.declared  # a module's prefix is added to it, and is in sweep.folder
TABLE = FOLDER / "{stage}.parquet"
TABLE = directory(TABLE) if sweep.in_folders else TABLE
CONFIG = FOLDER / "sweep.yaml"  # a copy of the configuration, which is read once
FILES = local(sweep.files)  # no prefix is added to these
PART = (
    "{stage}/{part}" if sweep.in_parts else "{stage}"
)  # what a job of the rule `stage` makes


wildcard_constraints:
    stage="|".join(sweep.stages),
    part=r"\d+-of-\d+",


rule all:
    input:
        FOLDER / "points.parquet",
        FOLDER / "manifest.json",
        sweep.tables(sweep.stages),
        sweep.tables(sweep.derived),
        FOLDER / "report.html",
        FOLDER / "checked.txt",
    localrule: True


if sweep.is_module:

    checkpoint configuration:  # once the files are there, which other rules may make, parts are known
        input:
            FILES,
        output:
            CONFIG,
        log:
            FOLDER / "logs/configuration.log",
        benchmark:
            FOLDER / "benchmarks/configuration.tsv"
        localrule: True
        params:
            digests=sweep.digests,
        run:
            sweep.write(log)


rule points:
    input:
        CONFIG if sweep.is_module else [],
        FILES,
    output:
        [] if sweep.is_module else update(CONFIG),
        points=FOLDER / "points.parquet",
        manifest=update(FOLDER / "manifest.json"),  # every later step adds its entry
    log:
        FOLDER / "logs/points.log",
    benchmark:
        FOLDER / "benchmarks/points.tsv"
    localrule: True
    params:
        code=list(sweep.code.values()),  # a point's key contains its stage's
        digests=sweep.digests,  # of the configuration and its files
    run:
        sweep.make("points", log)


# Where `points` failed, Snakemake remembers the files that it failed of, and would find nothing changed the next time. So
# tables name them, too.
rule stage:
    input:
        FOLDER / "points.parquet",
        CONFIG,
        FILES,
    output:
        temp(FOLDER / f"parts/{PART}.json") if sweep.in_parts else TABLE,
    log:
        FOLDER / f"logs/{PART}.log",
    benchmark:
        FOLDER / f"benchmarks/{PART}.tsv"
    threads: sweep.threads
    resources:
        **sweep.resources,
    params:
        code=lambda wildcards: sweep.code[wildcards.stage],
        step=sweep.step,
        paths=sweep.paths,
    shell:
        "{params.step} --log {log:q} -- {params.paths:q}"


if sweep.in_parts:

    rule merge:
        input:
            lambda wildcards: sweep.outcomes(wildcards, checkpoints),
            CONFIG,
            FILES,
        output:
            TABLE,
        log:
            FOLDER / "logs/{stage}/merge.log",
        benchmark:
            FOLDER / "benchmarks/{stage}/merge.tsv"
        localrule: True
        run:
            sweep.merge(wildcards.stage, log)


rule derived:
    input:
        CONFIG,
        FILES,
        sweep.tables(sweep.stages),
    output:
        sweep.tables(sweep.derived),  # verification is the last of them
    log:
        FOLDER / "logs/derived.log",
    benchmark:
        FOLDER / "benchmarks/derived.tsv"
    localrule: True
    params:
        code=sweep.code["tables"],
    run:
        sweep.make("derived", log)


rule page:
    input:
        sweep.tables(sweep.derived),
    output:
        page=report(
            FOLDER / "report.html",
            caption=sweep.captions / "page.rst",
            category="The sweep",
            labels={"what": "the page: everything, to explore"},
        ),
        figures=report(
            directory(FOLDER / "figures"),  # the papers', one SVG each
            patterns=["{paper,[^-]+}-{figure}.svg"],
            caption=sweep.captions / "figure.rst",
            category="The papers' figures",
            labels={"paper": "{paper}", "figure": "{figure}"},
        ),
    log:
        FOLDER / "logs/page.log",
    benchmark:
        FOLDER / "benchmarks/page.tsv"
    localrule: True
    params:
        code=sweep.code["tables"],
    run:
        sweep.make("report", log)


rule check:
    input:
        sweep.tables(sweep.derived),
    output:
        report(
            FOLDER / "checked.txt",
            caption=sweep.captions / "checked.rst",
            category="The sweep",
            labels={"what": "the papers' numbers against ours, counted"},
        ),
    log:
        FOLDER / "logs/check.log",
    benchmark:
        FOLDER / "benchmarks/check.tsv"
    localrule: True
    params:
        code=sweep.code["tables"],
    run:
        sweep.make("check", log)
