# make run | artifact | test | test-faults | test-slow | soak | papers | papers-full | bench | gpu-check | gpu-tune | docs | gallery | lint | measures | requirements | release | clean
# GPU=12 or GPU=13 also installs CuPy for that CUDA version:  make run GPU=12
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install
UV := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-emit-index-url --generate-hashes --no-header pyproject.toml

.PHONY: run artifact papers papers-full test test-faults test-slow soak bench gpu-check gpu-tune docs gallery lint measures requirements release clean

run: .venv/ready
	$(BIN)/torusweep run config/default.yaml

papers: .venv/ready
	for config in config/papers/*.yaml; do $(BIN)/torusweep run $$config || exit 1; done

# hours
papers-full: .venv/ready
	for config in config/papers-full/*.yaml; do $(BIN)/torusweep run $$config || exit 1; done

# two processes, a file of tests in one of them: its fixtures are set up once
test: .venv/ready-dev
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow and not faults" --junitxml build/tests.xml tests

# the rows of docs/reliability.md that take their time; make test has the others. Four processes, since many tests only wait
# for a limit of 10 to 30 s, or for Slurm. Files stay whole, for their fixtures: xdist's groups do nothing with pytest 9.2
# (its issue 1386). Each process reads only the files that have such tests: all of them take it half a minute
test-faults: .venv/ready-dev
	$(BIN)/python -m pytest -n 4 --dist loadfile -m "faults and not slow" --timeout 600 --junitxml build/faults.xml \
		$$(grep -rl "mark\.faults" --include="test_*.py" tests)

test-slow: .venv/ready-dev
	$(BIN)/python -m pytest -m slow --timeout 1800 tests

# kills a sweep at random for half an hour, then asks of 95,000 altered inputs, for an hour:
# make soak SOAK="--minutes 5 --seed 3" MUTATIONS="--count 5000 --seed 3"
soak: .venv/ready-dev
	$(BIN)/python tests/faults/soak.py $(SOAK)
	$(BIN)/python -m tests.faults.mutations $(MUTATIONS)

# peers live in an environment of their own: make bench BENCH="--only distance loads --large"
bench: .venv-bench/ready
	.venv-bench/bin/python -m benchmarks.suite $(BENCH)

.venv-bench/ready: requirements/bench.txt pyproject.toml
	@echo "setting up .venv-bench (once; about a minute)"
	@$(PYTHON) -m venv .venv-bench
	@.venv-bench/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes -r requirements/bench.txt
	@.venv-bench/bin/python -m pip --disable-pip-version-check --quiet install --no-deps --no-build-isolation --editable .
	@touch $@

# on a machine with a GPU: make gpu-check GPU=12 (or GPU=13); each takes at most 9 minutes
gpu-check gpu-tune: .venv/ready
	$(if $(GPU),@$(PIP) --require-hashes -r requirements/gpu$(GPU).txt)
	$(BIN)/python -m benchmarks.gpu_check $(if $(filter gpu-tune,$@),tuning,truth)

# the claims of docs/artifact.md that take at most an hour each, and what came of them; status 1 where one fails
artifact: .venv/ready-dev
	$(BIN)/python -m tests.docs.artifact

# the generated pages, and the site: build/site/index.html
docs: .venv/ready-docs
	$(BIN)/python -c "from torusweep.all_columns import markdown; print(markdown(), end=\"\")" > docs/tables.md
	$(BIN)/python -c "from torusweep.sweeps.configuration.documentation import documentation; print(documentation(), end=\"\")" > docs/config.md
	$(BIN)/python -c "from torusweep.sweeps.configuration.documentation import json_schema; print(json_schema(), end=\"\")" > config/schema.json
	$(BIN)/python -c "from torusweep.questions.heeds import markdown; print(markdown(), end=\"\")" > docs/heeds.md
	$(BIN)/python -m sphinx -c docs -d build/doctrees -W --keep-going -q . build/site

# runs the gallery's commands, and writes what they print and draw
gallery: .venv/ready-dev
	$(BIN)/python -m tests.docs.console docs/gallery.md

lint: .venv/ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m tests.packaging.stubs
	$(BIN)/mypy
	$(BIN)/mypy tests/packaging/typed_calls.py
	$(BIN)/snakefmt --check Snakefile workflow

# size and shape of the code
measures: .venv/ready-dev
	$(BIN)/python -m tests.measures

.venv/ready: requirements/run.txt pyproject.toml $(if $(GPU),requirements/gpu$(GPU).txt)
	@echo "setting up .venv (once; about a minute)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "torusweep needs Python 3.11 or newer, this is %s; try: make PYTHON=python3.12 run" % sys.version.split()[0])'
	@$(PYTHON) -m venv .venv
	@$(PIP) --require-hashes -r requirements/run.txt
	$(if $(GPU),$(PIP) --require-hashes -r requirements/gpu$(GPU).txt)
	@$(PIP) --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m tests.packaging.stubs --editable
	@touch $@

.venv/ready-docs: .venv/ready requirements/docs.txt
	@$(PIP) --require-hashes -r requirements/docs.txt
	@touch $@

.venv/ready-dev: .venv/ready requirements/dev.txt
	@$(PIP) --require-hashes -r requirements/dev.txt
	@touch $@

# after a change of pyproject.toml's dependencies: pip install uv in .venv, then make requirements
requirements:
	$(UV) --extra build --output-file requirements/run.txt
	$(UV) --extra build --extra test --extra docs --extra lint --constraint requirements/run.txt --output-file requirements/dev.txt
	$(UV) --extra build --extra docs --constraint requirements/dev.txt --output-file requirements/docs.txt
	$(UV) --extra build --extra bench --constraint requirements/run.txt --output-file requirements/bench.txt
	$(UV) --extra build --extra gpu12 --constraint requirements/run.txt --output-file requirements/gpu12.txt
	$(UV) --extra build --extra gpu13 --constraint requirements/run.txt --output-file requirements/gpu13.txt

# the source distribution and the wheel, checked: make release REPOSITORY=https://… (docs/releasing.md)
release: .venv/ready-dev
	$(BIN)/python -m tests.packaging.release $(if $(REPOSITORY),--repository $(REPOSITORY))

clean:
	rm -rf .venv .venv-bench .snakemake build *.egg-info
	find results -mindepth 1 -maxdepth 1 ! -name README.md -exec rm -rf {} +
