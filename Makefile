# Works with GNU make 3.81 (macOS) and later. `make help` lists the commands.
.DEFAULT_GOAL := help
.PHONY: help setup book pdf serve test failed notebooks stills bundle lint format clean

# The first Python that can run the book; if none can, one that says what it lacks.
PYTHON ?= $(or $(shell \
	for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import tools.setup.python as p; p.check_python()' 2>/dev/null \
	&& echo $$p && break; done), $(shell command -v python3))
RUN := .venv/bin/python

help:
	@echo 'make book       install what is needed and build the book into _build/html'
	@echo 'make pdf        print the whole book into one PDF in _build; needs Chromium'
	@echo 'make serve      serve the built book on this machine'
	@echo 'make test       check the library, the notebooks and the built book;'
	@echo '                one group of it: make test GROUP=library'
	@echo 'make failed     only the tests that failed last, but for notebooks'
	@echo 'make notebooks  run all notebooks and store their outputs;'
	@echo '                one of them: make notebooks NB=chapters/03_positions.ipynb'
	@echo 'make stills     only draw the still pictures of figures in notebooks anew'
	@echo 'make bundle     rebuild the figures that the notebooks load'
	@echo 'make lint       only the linters: ruff, mypy, prettier, eslint, tsc'
	@echo 'make format     let ruff and prettier format the code'
	@echo 'make clean      remove what was built; .venv and node_modules stay'

setup:
	@test -n '$(PYTHON)' || \
	  { echo 'set-up failed: no python3 found; install Python 3.11 or later' >&2; exit 1; }
	@$(PYTHON) -m tools.setup

book: setup
	@$(RUN) -m booksite.build

pdf: setup
	@$(RUN) -m booksite.pdf

serve: setup
	@test -f _build/html/index.html || $(RUN) -m booksite.build
	@$(RUN) -m booksite.serve

test: setup
	@$(RUN) -m tools.test $(GROUP)

failed: setup
	@OMP_NUM_THREADS=1 $(RUN) -m pytest --last-failed --last-failed-no-failures none

notebooks: setup
	@$(RUN) -m tools.notebooks $(NB)

stills: setup
	@$(RUN) -m tools.notebooks --stills $(NB)

bundle: setup
	@PATH="$(CURDIR)/.venv/bin:$$PATH" npm run --silent bundle

lint: setup
	@$(RUN) -m tools.test lint

format: setup
	@.venv/bin/ruff check --fix-only --quiet
	@.venv/bin/ruff format
	@PATH="$(CURDIR)/.venv/bin:$$PATH" npx prettier --write --log-level warn .

clean:
	rm -rf _build build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis .coverage
