# From a configuration to verified tables and a page in results/<sweep>/.
#
#   snakemake --cores all                                      runs config/default.yaml
#   snakemake --cores all --configfile config/papers/….yaml    another one
#   snakemake --cores all --config results=DIR                 elsewhere; also backend=, symmetry=on|off, workers=
#   snakemake --report report.zip                              what it made, how long it took, and the page, in one file
#
# Snakemake owns the files. The points within static, loads, deadlock, layout and simulation belong to Dask, and the finished ones stay in
# results/<sweep>/shards/, which no rule declares, because Snakemake deletes the outputs of what it runs again.
from torusweep.run.asked import asked

CONFIG, FOLDER, INPUTS, OPTIONS, LATER, CODE, PROGRAM, POINTS, PATH = asked(workflow)
shell.prefix(f"export PATH={PATH}; ")


# a cluster's scheduler is for what takes long
localrules:
    all,
    points,
    distances,
    latency,
    verification,
    report,
    check,


rule all:
    input:
        points=FOLDER / "points.parquet",
        static=FOLDER / "static.parquet",
        later=[FOLDER / f"{stage}.parquet" for stage in LATER],
        manifest=FOLDER / "manifest.json",
        distances=FOLDER / "distances.parquet",
        verification=FOLDER / "verification.parquet",
        report=FOLDER / "report.html",
        checked=FOLDER / "checked.txt",


rule points:
    input:
        INPUTS,
    output:
        FOLDER / "points.parquet",
    params:
        code=CODE,  # of every stage: points are keyed by it
    shell:
        "{POINTS}"


rule static:
    input:
        points=rules.points.output,
    output:
        table=FOLDER / "static.parquet",
        manifest=FOLDER / "manifest.json",
    threads: 1024  # all there are
    params:
        code=CODE["static"],
    shell:
        "torusweep step static {CONFIG:q} {FOLDER:q} {OPTIONS}"


rule loads:
    input:
        static=rules.static.output.table,  # one after the other: each takes all there is
    output:
        FOLDER / "loads.parquet",
    threads: 1024
    params:
        code=CODE["loads"],
    shell:
        "torusweep step loads {CONFIG:q} {FOLDER:q} {OPTIONS}"


rule deadlock:
    input:
        rules.loads.output if "loads" in LATER else rules.static.output.table,
    output:
        FOLDER / "deadlock.parquet",
    threads: 1024
    params:
        code=CODE["deadlock"],
    shell:
        "torusweep step deadlock {CONFIG:q} {FOLDER:q} {OPTIONS}"


rule layout:
    input:
        rules.deadlock.output if "deadlock" in LATER else rules.deadlock.input,
    output:
        FOLDER / "layout.parquet",
    threads: 1024
    params:
        code=CODE["layout"],
    shell:
        "torusweep step layout {CONFIG:q} {FOLDER:q} {OPTIONS}"


rule simulation:
    input:
        rules.layout.output if "layout" in LATER else rules.layout.input,
    output:
        FOLDER / "simulation.parquet",
    threads: 1024
    params:
        code=CODE["simulation"],
    shell:
        "torusweep step simulation {CONFIG:q} {FOLDER:q} {OPTIONS}"


rule distances:
    input:
        static=rules.static.output.table,
    output:
        FOLDER / "distances.parquet",
    params:
        code=PROGRAM,
    shell:
        "torusweep step distances {CONFIG:q} {FOLDER:q}"


rule latency:
    input:
        INPUTS,
        static=rules.static.output.table,
        later=[
            FOLDER / f"{stage}.parquet"
            for stage in ("loads", "layout")
            if stage in LATER
        ],
    output:
        FOLDER / "latency.parquet",
    params:
        code=PROGRAM,
    shell:
        "torusweep step latency {CONFIG:q} {FOLDER:q}"


rule verification:
    input:
        INPUTS,
        static=rules.static.output.table,
        later=rules.all.input.later,
    output:
        FOLDER / "verification.parquet",
    params:
        code=PROGRAM,
    shell:
        "torusweep step verification {CONFIG:q} {FOLDER:q}"


rule report:
    input:
        static=rules.static.output.table,
        later=rules.all.input.later,
        distances=rules.distances.output,
        verification=rules.verification.output,
    output:
        page=report(
            FOLDER / "report.html",
            caption="docs/captions/page.rst",
            category="The sweep",
            labels={"what": "the page: everything, to explore"},
        ),
        figures=report(
            directory(FOLDER / "figures"),  # the papers', one SVG each
            patterns=["{paper,[^-]+}-{figure}.svg"],
            caption="docs/captions/figure.rst",
            category="The papers' figures",
            labels={"paper": "{paper}", "figure": "{figure}"},
        ),
    priority: 1  # the last to end
    params:
        code=PROGRAM,
    shell:
        "torusweep step report {CONFIG:q} {FOLDER:q}"


rule check:
    input:
        verification=rules.verification.output,
    output:
        report(
            FOLDER / "checked.txt",
            caption="docs/captions/checked.rst",
            category="The sweep",
            labels={"what": "the papers' numbers against ours, counted"},
        ),
    params:
        code=PROGRAM,
    shell:
        "torusweep step check {CONFIG:q} {FOLDER:q}"
