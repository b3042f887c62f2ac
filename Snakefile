# From a configuration to verified tables and a page in results/<sweep>/.
#
#   snakemake --cores all --force-use-threads   runs config/default.yaml
#     … --configfile config/papers/….yaml       another one
#     … --config results=DIR                    elsewhere; also backend=, symmetry=on|off, workers=
#   snakemake --report report.zip               what it made, how long it took, and the page, in one file
#
# The short steps run in Snakemake's process; without --force-use-threads it starts another Snakemake for each.
# Snakemake owns the files. Dask computes the points within a stage; finished ones stay in results/<sweep>/shards/,
# which no rule declares, because Snakemake deletes the outputs of a rule that runs again.
from torusweep.run.workflow import requested_sweep

sweep = requested_sweep(
    workflow
)  # config, folder, stages, derived tables, input files, digests of code, options
FOLDER = sweep.folder

shell.prefix(f"export PATH={sweep.path}; ")


# on a cluster, only the stages are jobs
localrules:
    all,
    points,
    derived,
    page,
    check,


wildcard_constraints:
    stage="|".join(sweep.stages),


rule all:
    input:
        FOLDER / "points.parquet",
        FOLDER / "manifest.json",
        sweep.tables(sweep.stages),
        sweep.tables(sweep.derived),
        FOLDER / "report.html",
        FOLDER / "checked.txt",


rule points:
    input:
        sweep.inputs,
    output:
        points=FOLDER / "points.parquet",
        manifest=update(FOLDER / "manifest.json"),  # every later step adds its entry
    params:
        code=list(sweep.code.values()),  # a point's key contains its stage's
    run:
        sweep.make("points")


rule stage:
    input:
        rules.points.output.points,
    output:
        FOLDER / "{stage}.parquet",
    threads: os.cpu_count()
    resources:
        machine=1,  # with --resources machine=1, which `torusweep run` gives, one stage at a time
    params:
        code=lambda wildcards: sweep.code[wildcards.stage],
    shell:
        "torusweep step {wildcards.stage} {sweep.options} -- {sweep.config:q} {FOLDER:q}"


rule derived:
    input:
        sweep.inputs,
        sweep.tables(sweep.stages),
    output:
        sweep.tables(sweep.derived),  # verification is the last of them
    params:
        code=sweep.code["tables"],
    run:
        sweep.make("derived")


rule page:
    input:
        rules.derived.output,
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
    params:
        code=sweep.code["tables"],
    run:
        sweep.make("report")


rule check:
    input:
        rules.derived.output,
    output:
        report(
            FOLDER / "checked.txt",
            caption=sweep.captions / "checked.rst",
            category="The sweep",
            labels={"what": "the papers' numbers against ours, counted"},
        ),
    params:
        code=sweep.code["tables"],
    run:
        sweep.make("check")
