"""Snakemake's logger plugin `epic`: a run on the screen in one line a stage.

`VERBOSE=1` in the environment, --verbose, --printshellcmds and --debug-dag show Snakemake's own lines instead.
"""

import logging
import os
import shutil
import sys

from snakemake.logging import ColorizingTextHandler, DefaultFilter, DefaultFormatter
from snakemake.settings.enums import Quietness
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_epic.console import PLAIN_WIDTH, Console

SCREEN = "EPIC_CONSOLE"  # as in epic/core/log.py: tells jobs that the screen is ours


class LogHandler(LogHandlerBase):
    """Snakemake's log records as lines of a console, or as Snakemake itself would show them."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        settings, stream = self.common_settings, sys.stdout if self.common_settings.stdout else sys.stderr
        verbose = os.environ.get("VERBOSE", "") not in ("", "0")
        self.console = self.theirs = None
        if verbose or settings.verbose or settings.printshellcmds or settings.debug_dag:
            formatter = DefaultFormatter(settings.quiet, settings.show_failed_logs)
            chosen = settings.quiet, settings.debug_dag, settings.verbose, settings.dryrun, settings.printshellcmds
            self.theirs = ColorizingTextHandler(settings.nocolor, stream, formatter, DefaultFilter(*chosen))
            return
        terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
        width = shutil.get_terminal_size().columns if terminal else PLAIN_WIDTH
        quiet = not {Quietness.ALL, Quietness.PROGRESS}.isdisjoint(settings.quiet or ())
        self.console = Console(stream, terminal, width, settings.dryrun, quiet)
        os.environ[SCREEN] = "live" if terminal else "plain"  # jobs write to their logs, not to the screen

    def emit(self, record: logging.LogRecord) -> None:
        """Show a record."""
        if self.theirs:
            self.theirs.handle(record)
            return
        console, event = self.console, getattr(record, "event", None)
        if event == LogEvent.RUN_INFO:
            console.start({name: count for name, count in record.stats.items() if name != "total"})
        elif event == LogEvent.JOB_INFO:
            log = next(iter(record.log), None)
            console.job(record.jobid, record.rule_name, dict(record.wildcards), log, record.reason)
        elif event == LogEvent.JOB_FINISHED:
            console.end(record.job_id)
        elif event == LogEvent.JOB_ERROR:
            console.fail(record.jobid, record.rule_name, list(record.log))
        elif getattr(record, "refusal", False):
            console.refuse(record.getMessage())
        elif getattr(record, "remark", False):
            console.remark(record.getMessage())
        elif record.levelno >= logging.ERROR:
            text = record.getMessage().strip()
            console.error(text.removeprefix(f"{getattr(record, 'exception', None)}:").strip())
        elif record.levelno >= logging.WARNING:
            console.warn(record.getMessage())
        elif event is None:
            console.say(record.getMessage())

    def close(self) -> None:
        """Write the last lines."""
        if self.console:
            self.console.close()
        super().close()
