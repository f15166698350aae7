# Two commands: `make demo` opens the debugger on sample graphs, `make test` runs every check and test.
#
# Needs a Python >= 3.11 with venv, and the package index. Everything goes into .venv; nothing else is touched.
# Written for GNU make 3.81 (macOS) and later.

VENV := .venv
BIN := $(VENV)/bin

ifndef PYTHON
PYTHON := $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo $$p; break; }; done)
endif

# With the folders, whose time tells of a file that was removed.
SOURCES := $(shell find runtime debugger_ui sample_graphs ! -name '*.py[cod]' ! -name __pycache__ 2>/dev/null)

# Two files at a time: the browser tests wait as much as they compute. A file stays on one worker, so that its
# tests share their server.
PYTEST := -n 2 --dist loadfile

.PHONY: help demo test check tests install clean

help:
	@echo 'make demo    open the debugger on sample graphs with recorded threads (ARGS="--port 0")'
	@echo 'make test    run the checks (style, types, architecture) and the tests'
	@echo 'make clean   remove .venv and caches'

# --- set up ---------------------------------------------------------------------------------------

$(VENV)/.made:
	@command -v "$(PYTHON)" >/dev/null || { echo 'forkpoint: no Python 3.11 or newer was found; install one,' \
		'or say which to use: make PYTHON=/path/to/python3.12 ...' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo 'forkpoint: $(PYTHON) is' \
		"`$(PYTHON) --version 2>&1`, but Python 3.11 or newer is needed" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo 'forkpoint: $(PYTHON) comes without venv;' \
		'on Debian and Ubuntu install it with: apt install python3-venv' >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

# The dependencies follow pyproject.toml; the package itself follows its sources. It is installed as a copy, not
# editable, so that what runs is what anybody installs: a data file that is not packaged is missed at once.
$(VENV)/.installed: $(VENV)/.made pyproject.toml $(SOURCES)
	@if [ $(VENV)/.dependencies -nt pyproject.toml ]; then \
		echo '$(BIN)/python -m pip install --no-deps --force-reinstall .'; \
		$(BIN)/python -m pip install --quiet --no-deps --force-reinstall .; \
	else \
		echo "$(BIN)/python -m pip install '.$(EXTRAS)'"; \
		$(BIN)/python -m pip install --quiet '.$(EXTRAS)' && touch $(VENV)/.dependencies $(if $(EXTRAS),$(VENV)/.test-dependencies); \
	fi
	@touch $@

# Usually done by the rule above, in one go; something is left to do only after `make demo` came first.
$(VENV)/.test-dependencies: $(VENV)/.installed
	@if [ ! $@ -nt pyproject.toml ]; then \
		echo "$(BIN)/python -m pip install '.$(EXTRAS)'"; \
		$(BIN)/python -m pip install --quiet '.$(EXTRAS)'; \
	fi
	@touch $@

install: $(VENV)/.installed

# --- use ------------------------------------------------------------------------------------------

demo: $(VENV)/.installed
	$(BIN)/forkpoint demo $(ARGS)

# Side by side: the types are checked by one processor while the other begins with the tests.
test: $(VENV)/.test-dependencies
	@$(MAKE) --no-print-directory -j 2 check tests

test check tests: EXTRAS := [test]

check: $(VENV)/.test-dependencies
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

tests: $(VENV)/.test-dependencies
	@FORKPOINT_CHROMIUM="$$($(BIN)/python scripts/chromium.py --get)" || exit 1; \
		export FORKPOINT_CHROMIUM; \
		echo '$(BIN)/python -m pytest $(PYTEST)'; \
		$(BIN)/python -m pytest $(PYTEST)

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
