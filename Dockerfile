# The locked environment and this repository; what is built needs no network to run `smoke`.
# docs/install.md says how to build and run it.
FROM python:3.11.7-slim-bookworm

ARG UID=1000
RUN useradd --create-home --uid "$UID" epic && mkdir /epic && chown epic /epic
USER ${UID}
WORKDIR /epic

# Which build of torch, and where pip finds the CPU build: see docs/install.md.
ARG TORCH=""
ARG PIP_EXTRA_INDEX_URL=""
ARG PIP_NO_CACHE_DIR=1
COPY --chown=epic pyproject.toml README.md ./
COPY --chown=epic requirements requirements
COPY --chown=epic epic epic
COPY --chown=epic snakemake_logger_plugin_epic snakemake_logger_plugin_epic
RUN requirements/install.sh python .venv "$TORCH"

COPY --chown=epic . .
ENV PATH=/epic/.venv/bin:$PATH HF_HUB_OFFLINE=1
ENTRYPOINT ["workflow/run.sh"]
CMD ["smoke", "--cores", "all"]
