"""The catalogue's tables, as data: the database, the projection and docs/catalogue.md are all made from this."""

from __future__ import annotations

import msgspec

from iwreplay.annotations import LABELS, NEEDED, REASONS
from iwreplay.catalogue.taskbook import TASK_STATES
from iwreplay.store import STATUSES

__all__ = ["ANNOTATED", "KEPT", "SCHEMA_VERSION", "TABLES", "Column", "Table", "ddl", "markdown"]

#: raised with any change of tables or of what the projection writes; an older catalogue file is rebuilt
SCHEMA_VERSION = 6
#: tables whose rows come from what is kept beside a log; those of all others come from the logs
KEPT = ("scores", "points", "checks", "replays", "replay_steps")
#: tables whose rows come from what people say of the logs
ANNOTATED = ("annotations", "first_errors")


class Column(msgspec.Struct, frozen=True):
    """One column. `sql` is a DuckDB type."""

    name: str
    sql: str
    doc: str


class Table(msgspec.Struct, frozen=True):
    """One table."""

    name: str
    doc: str
    columns: tuple[Column, ...]


_EPISODE = Column("episode", "VARCHAR", "id of the episode in the store")
_SEQ = Column("seq", "BIGINT", "number of the event in the log, from 0")
_WHEN = (
    Column("sim_time_s", "DOUBLE", "simulated seconds since the start of the episode"),
    Column("turn", "INTEGER", "0 before live interaction, then 1, 2, ..."),
    Column("phase", "VARCHAR", "scene_init, warmup, closed_loop or end"),
)

TABLES: tuple[Table, ...] = (
    Table(
        "episodes",
        "One row for every episode of the store, also for the unfinished and the damaged.",
        (
            _EPISODE,
            Column("task", "VARCHAR", "id of the task, G05"),
            Column("task_version", "INTEGER", "version of the frozen task in the log"),
            Column("task_sha256", "VARCHAR", "hash of the frozen task in the log"),
            Column("task_state", "VARCHAR", ", ".join(TASK_STATES) + ": beside the present task; see below"),
            Column(
                "task_release",
                "INTEGER",
                "latest release of the task pack with this very task and scene; null for none",
            ),
            Column("family", "VARCHAR", "guidance, planning, accessibility, decision, prevention or finding"),
            Column("title", "VARCHAR", "title of the task"),
            Column("request", "VARCHAR", "what the wearer asked for"),
            Column("scene", "VARCHAR", "id of the scene"),
            Column("scene_hash", "VARCHAR", "sha256 of the compiled scene"),
            Column("assistant", "VARCHAR", "name of the Assistant"),
            Column("assistant_params", "JSON", "its parameters, an object of strings"),
            Column("assistant_prompt", "VARCHAR", "a hosted Assistant's prompt: name/version and its hash, else empty"),
            Column("human", "VARCHAR", "name of the Human"),
            Column("human_params", "JSON", "its parameters, an object of strings"),
            Column("human_prompt", "VARCHAR", "a hosted Human's prompt: name/version and its hash, else empty"),
            Column("simulator", "VARCHAR", "name and version of the physics"),
            Column("renderer", "VARCHAR", "name and version of the renderer"),
            Column("seed", "BIGINT", "seed of the recording"),
            Column("format_version", "INTEGER", "version of the log format"),
            Column("status", "VARCHAR", ", ".join(STATUSES) + "; see below"),
            Column(
                "end_reason", "VARCHAR", "done, turn_limit, action_limit, fault or interrupted; null without an end"
            ),
            Column(
                "valid",
                "BOOLEAN",
                "false when spoilt by a fault or an interruption, or when events are missing; null without an end",
            ),
            Column("log_state", "VARCHAR", "sealed, open, truncated or corrupt; unreadable when it can't be opened"),
            Column("problem", "VARCHAR", "what is wrong with the log; null when nothing is"),
            Column("root_hash", "VARCHAR", "end of the hash chain over its events"),
            Column("events", "BIGINT", "number of intact events"),
            Column("sim_time_s", "DOUBLE", "simulated seconds at the last event"),
            Column("turns", "INTEGER", "turns of live interaction"),
            Column("actions", "INTEGER", "commands in live interaction, refused ones included"),
            Column("refused", "INTEGER", "commands in live interaction that were refused"),
            Column("guided_turns", "INTEGER", "turns but for the closing `done`: what compares with oracle_turns"),
            Column(
                "guided_actions",
                "INTEGER",
                "commands but for those that the Human issued by itself: what compares with oracle_actions",
            ),
            Column("oracle_turns", "INTEGER", "turns of the task's oracle"),
            Column("oracle_actions", "INTEGER", "commands of the task's oracle"),
            Column("max_turns", "INTEGER", "turn limit"),
            Column("max_actions", "INTEGER", "action limit"),
        ),
    ),
    Table(
        "turns",
        "One row for every Assistant decision.",
        (
            _EPISODE,
            Column("turn", "INTEGER", "1, 2, ..."),
            _SEQ,
            Column("sim_time_s", "DOUBLE", "when it was made"),
            Column("decision", "VARCHAR", "silent, interrupt or done"),
            Column("text", "VARCHAR", "the Assistant's words; null when silent"),
            Column("memory", "VARCHAR", "its hidden memory, in the memory arm only"),
            Column("frames_shown", "INTEGER", "frames shown to the Assistant"),
            Column("frames_available", "INTEGER", "frames that there were"),
            Column("commands", "INTEGER", "commands that the Human issued in this turn ([NoOp] is none)"),
            Column("reply", "VARCHAR", "what the Human said; null when nothing"),
        ),
    ),
    Table(
        "actions",
        "One row for every command with its outcome, warmup included.",
        (
            _EPISODE,
            Column("action", "INTEGER", "0, 1, 2, ... over the episode"),
            _SEQ,
            *_WHEN,
            Column("source", "VARCHAR", "human, warmup or intent (what the Human does by itself)"),
            Column("command", "VARCHAR", "as issued"),
            Column("verb", "VARCHAR", "surface verb as written"),
            Column("primitive", "VARCHAR", "canonical primitive"),
            Column("obj", "VARCHAR", "id of the main object, or empty"),
            Column("dest", "VARCHAR", "id of the destination, or empty"),
            Column("tool", "VARCHAR", "id of the tool, or empty"),
            Column("ok", "BOOLEAN", "carried out with its effect; null when the log ends before the outcome"),
            Column("code", "VARCHAR", "OK or the failure code"),
            Column("code_group", "VARCHAR", "parse, grounding, motion, hand, affordance, state, execution or protocol"),
            Column("refused", "BOOLEAN", "refused before anything moved"),
            Column("sentence", "VARCHAR", "what the Human was told; empty on success"),
            Column("blocker", "VARCHAR", "id of what was in the way, or empty"),
            Column("started_s", "DOUBLE", "simulated time of its start"),
            Column("duration_s", "DOUBLE", "simulated seconds it took"),
            Column("distance_m", "DOUBLE", "metres walked"),
        ),
    ),
    Table(
        "utterances",
        "Words heard outside decisions and replies: reports of failure, callers, spoken corrections.",
        (
            _EPISODE,
            _SEQ,
            *_WHEN,
            Column("speaker", "VARCHAR", "human, caller, ..."),
            Column("text", "VARCHAR", "the words"),
        ),
    ),
    Table(
        "frames",
        "One row for every captured frame.",
        (
            _EPISODE,
            Column("frame", "VARCHAR", "f000000, f000001, ..."),
            _SEQ,
            *_WHEN,
            Column("step", "BIGINT", "physics step at which it was taken"),
            Column("cause", "VARCHAR", "initial, action, idle or script"),
            Column("action", "INTEGER", "command that it belongs to; null when none"),
            Column("width", "INTEGER", "pixels"),
            Column("height", "INTEGER", "pixels"),
            Column("pixels_sha256", "VARCHAR", "hash of the pixels; null when it was never drawn"),
        ),
    ),
    Table(
        "sightings",
        "What was visible in each frame: one row for every thing in it.",
        (
            _EPISODE,
            Column("frame", "VARCHAR", "id of the frame"),
            _SEQ,
            Column("thing", "VARCHAR", "id of the thing"),
            Column("pixels", "INTEGER", "pixels of it in the id buffer"),
        ),
    ),
    Table(
        "deltas",
        "Every change of an attribute.",
        (
            _EPISODE,
            _SEQ,
            *_WHEN,
            Column("thing", "VARCHAR", "id of the thing, or wearer"),
            Column("cls", "VARCHAR", "its class; null for the wearer"),
            Column("attr", "VARCHAR", "attribute"),
            Column("old", "JSON", "value before"),
            Column("new", "JSON", "value after"),
            Column("cause", "VARCHAR", "primitive:<name>, process:<name> or script:<id>"),
        ),
    ),
    Table(
        "happenings",
        "Semantic happenings: pour, wipe, cut, seen, fell, ...; a contact is the happening `contact` of two things.",
        (
            _EPISODE,
            _SEQ,
            *_WHEN,
            Column("what", "VARCHAR", "kind of happening"),
            Column("obj", "VARCHAR", "id of the main thing, or empty"),
            Column("dest", "VARCHAR", "id of the other thing, or empty"),
            Column("tool", "VARCHAR", "id of the tool, or empty"),
            Column("detail", "JSON", "an object of further values"),
        ),
    ),
    Table(
        "scripted",
        "Scripted events of the task that fired.",
        (
            _EPISODE,
            _SEQ,
            *_WHEN,
            Column("script", "VARCHAR", "id of the scripted event"),
            Column("text", "VARCHAR", "words of it, or empty"),
        ),
    ),
    Table(
        "faults",
        "What broke outside the protocol.",
        (
            _EPISODE,
            _SEQ,
            *_WHEN,
            Column("source", "VARCHAR", "participant:assistant, participant:human, simulator, recorder or user"),
            Column("code", "VARCHAR", "kind of fault"),
            Column("detail", "VARCHAR", "what was said about it"),
        ),
    ),
    Table(
        "model_calls",
        "Calls to hosted models.",
        (
            _EPISODE,
            _SEQ,
            *_WHEN,
            Column("role", "VARCHAR", "assistant or human"),
            Column("model", "VARCHAR", "name of the model"),
            Column("input_tokens", "BIGINT", "tokens in"),
            Column("output_tokens", "BIGINT", "tokens out"),
            Column("cost_usd", "DOUBLE", "US dollars; null when not known"),
            Column("latency_s", "DOUBLE", "wall seconds"),
            Column("retries", "INTEGER", "tries before the answer"),
            Column("outcome", "VARCHAR", "answered, malformed, refused, overflow or failed"),
            Column("problem", "VARCHAR", "why it is not answered, or empty"),
            Column("finish", "VARCHAR", "why the answer ends, in the provider's word"),
            Column("repair", "INTEGER", "0, or which request to mend a malformed answer"),
            Column("pictures", "INTEGER", "frames whose pictures were sent"),
            Column("answer", "VARCHAR", "the text that came back"),
            Column("params", "JSON", "how it was asked, an object of strings"),
            Column("request_sha256", "VARCHAR", "hash of the whole request, kept in the episode's folder requests/"),
            Column("provider_request_id", "VARCHAR", "for questions to the provider; null when there is none"),
        ),
    ),
    Table(
        "things",
        "The things of each episode's scene.",
        (
            _EPISODE,
            Column("thing", "VARCHAR", "id of the thing"),
            Column("cls", "VARCHAR", "its class"),
            Column("name", "VARCHAR", "its public name"),
            Column("fixed", "BOOLEAN", "part of the building or too heavy to move"),
        ),
    ),
    Table(
        "scores",
        "Scores kept in the store that are valid for the log as it is, by the scorers of this build and by one's own "
        "as they were used last.",
        (
            _EPISODE,
            Column("scorer", "VARCHAR", "name of the scorer"),
            Column("scorer_hash", "VARCHAR", "hash of the scorer's version"),
            Column("root_hash", "VARCHAR", "hash of the log that was scored"),
            Column("parameters", "JSON", "parameters of the scorer"),
            Column(
                "metric",
                "VARCHAR",
                "pass, mcr, capability, action_cost, turn_cost, token_cost, interventions, or one's own",
            ),
            Column("value", "DOUBLE", "the value, 0 and 1 for no and yes; null when there is none"),
            Column(
                "status",
                "VARCHAR",
                "scored; unscorable: the log can't support it; undefined: it has no meaning for such an episode",
            ),
            Column("reason", "VARCHAR", "why there is no value, or empty"),
            Column("evidence", "BIGINT[]", "numbers of the events that decided it"),
            Column("details", "JSON", "what it is made of"),
        ),
    ),
    Table(
        "points",
        "Capability points of the scored episodes (from the details of the score `capability`).",
        (
            _EPISODE,
            Column("point", "VARCHAR", "id of the point in its task"),
            Column("capability", "VARCHAR", "C1 to C9"),
            Column("status", "VARCHAR", "clean_pass, assisted_pass, fail or not_reached"),
            Column("help", "VARCHAR", "retry or human_repair for an assisted pass, or empty"),
        ),
    ),
    Table(
        "checks",
        "Every objective, gate, keep and capability point of the scored episodes, with the event that decided it.",
        (
            _EPISODE,
            Column("check_id", "VARCHAR", "id of the check in its task"),
            Column("kind", "VARCHAR", "objective, gate, keep or point"),
            Column("capability", "VARCHAR", "C1 to C9 of a point; null for the others"),
            Column(
                "verdict",
                "VARCHAR",
                "satisfied, not_satisfied or withheld (an objective without its credit); held or broken (a gate or "
                "keep); clean_pass, assisted_pass, fail or not_reached (a point)",
            ),
            Column("passed", "BOOLEAN", "the verdict as yes or no; null for a point that was not reached"),
            Column(
                "decided_seq",
                "BIGINT",
                "number of the event that made it so; of the last event when it was so to the end, or never came about",
            ),
            Column("evidence", "BIGINT[]", "numbers of the events that it rests on"),
        ),
    ),
    Table(
        "replays",
        "Verdicts of `iwreplay replay`, each verification a row; kept with the episode, and never overwritten.",
        (
            _EPISODE,
            Column("replay", "INTEGER", "1, 2, ... in the order in which the verifications began"),
            Column(
                "about",
                "VARCHAR",
                "this log; another log, when the root hash is not the log's any more; unreadable, when the record is "
                "damaged or from a newer version",
            ),
            Column("root_hash", "VARCHAR", "root hash of the log that was verified"),
            Column("grade", "VARCHAR", "exact, state-equal, within-tolerance, outcome-equal or diverged: the worst"),
            Column("steps", "INTEGER", "steps that were compared"),
            Column("steps_exact", "INTEGER", "steps of that grade"),
            Column("steps_state_equal", "INTEGER", "steps of that grade"),
            Column("steps_within_tolerance", "INTEGER", "steps of that grade"),
            Column("steps_outcome_equal", "INTEGER", "steps of that grade"),
            Column("steps_diverged", "INTEGER", "steps of that grade"),
            Column("events", "BIGINT", "events of the log that were compared"),
            Column("differences", "BIGINT", "fields that differ"),
            Column("first_seq", "BIGINT", "first divergence: number of the event; null, with the next, when exact"),
            Column("first_sim_time_s", "DOUBLE", "first divergence: simulated seconds"),
            Column("first_turn", "INTEGER", "first divergence: turn"),
            Column("first_kind", "VARCHAR", "first divergence: kind of event"),
            Column("first_object", "VARCHAR", "first divergence: thing, or empty"),
            Column("first_field", "VARCHAR", "first divergence: field"),
            Column("first_expected", "VARCHAR", "first divergence: value in the log, as JSON"),
            Column("first_got", "VARCHAR", "first divergence: value of the re-execution, as JSON"),
            Column("replayed_root_hash", "VARCHAR", "root hash of what the re-execution gave"),
            Column("log_ended", "BOOLEAN", "false when the log has no end and was compared as far as it goes"),
            Column("stopped", "BOOLEAN", "true when stopped at the first difference (--fail-fast)"),
            Column("iwreplay", "VARCHAR", "version of iwreplay that verified"),
            Column("simulator", "VARCHAR", "physics that verified: name, version and parameters"),
            Column("renderer", "VARCHAR", "renderer that verified"),
            Column("fingerprint", "JSON", "the machine that verified: an object of versions and machine type"),
            Column("environment", "JSON", "what differs from the recording: a list of {name, recorded, here}"),
            Column("parameters", "JSON", "what was re-executed, and how: an object of texts"),
            Column("verified_at", "TIMESTAMP", "wall time of the end of the verification, UTC; never compared"),
            Column("problem", "VARCHAR", "why the record is unreadable; null when it is not"),
        ),
    ),
    Table(
        "replay_steps",
        "The grade of every step of every verification.",
        (
            _EPISODE,
            Column("replay", "INTEGER", "number of the verification"),
            Column("step", "INTEGER", "0, 1, 2, ..."),
            Column("seq", "BIGINT", "number of its first event in the log"),
            Column("kind", "VARCHAR", "kind of that event"),
            Column("turn", "INTEGER", "turn"),
            Column("action", "INTEGER", "number of the command; null when the step is none"),
            Column("command", "VARCHAR", "the command, or empty"),
            Column("grade", "VARCHAR", "exact, state-equal, within-tolerance, outcome-equal or diverged"),
        ),
    ),
    Table(
        "annotations",
        "Every record that people gave of first errors (docs/annotations.md), superseded ones included, and those on "
        "logs that are not in the store. It shows what all say: who still labels uses `iwreplay annotate list --for`.",
        (
            Column("episode", "VARCHAR", "id of the episode; null when no intact log of the store has the root hash"),
            Column("root_hash", "VARCHAR", "of the log that it is about"),
            Column("record", "VARCHAR", "id of the record: the hash of what it says"),
            Column("kind", "VARCHAR", "label, validity, withdrawal or adjudication"),
            Column("annotator", "VARCHAR", "who says it"),
            Column("about", "VARCHAR", "this log, or another log: no intact log of the store has the root hash"),
            Column("superseded", "BOOLEAN", "another record is in its place"),
            Column("label", "VARCHAR", ", ".join(f"{k} {v}" for k, v in LABELS.items()) + "; null without a label"),
            Column("seq", "BIGINT", "onset: number of the event at which the error begins"),
            Column("turn", "INTEGER", "turn of that event; null when the log is not there, or has no such event"),
            Column("confidence", "VARCHAR", "low, medium or high; null when it was not given"),
            Column("valid", "BOOLEAN", "whether the episode is valid; null in a withdrawal"),
            Column("reason", "VARCHAR", ", ".join(REASONS) + ": why it is invalid; null when it is not"),
            Column("rationale", "VARCHAR", "why, in words"),
            Column("supersedes", "JSON", "ids of the records in whose place it is, a list"),
            Column("considered", "JSON", "of an adjudication: ids of the records that it knew, a list"),
            Column("problem", "VARCHAR", "why its onset does not fit the log; null when it does"),
        ),
    ),
    Table(
        "first_errors",
        "What holds for every failed episode, and for others that somebody said something of.",
        (
            _EPISODE,
            Column("root_hash", "VARCHAR", "of its log"),
            Column("failed", "BOOLEAN", "its log is valid and `pass` is 0; null without a valid score"),
            Column(
                "status",
                "VARCHAR",
                f"unlabelled, open, unanimous, majority (strictly more than half of at least {NEEDED}) or adjudicated",
            ),
            Column("label", "VARCHAR", "R1 to R6; null while none holds, and when it is invalid"),
            Column("seq", "BIGINT", "onset that holds; null without a label"),
            Column("turn", "INTEGER", "turn of the onset"),
            Column("invalid", "BOOLEAN", "annotators found that it says nothing about its Assistant"),
            Column("reasons", "VARCHAR", "why it is invalid, with commas between; else empty"),
            Column("annotators", "INTEGER", "who say something of it"),
            Column("outdated", "BOOLEAN", "it was adjudicated before an annotator said something else"),
            Column("why", "VARCHAR", "why it is open, or empty"),
        ),
    ),
)


def ddl() -> str:
    """The statements that make every table."""
    return "\n".join(
        f"CREATE TABLE {t.name} ({', '.join(f'{_quoted(c.name)} {c.sql}' for c in t.columns)});" for t in TABLES
    )


def markdown() -> str:
    """The tables as the text of docs/catalogue.md."""
    parts = [
        "# The catalogue",
        "",
        "Generated by `make docs` from `iwreplay/catalogue/schema.py`; a test holds it equal to the real database.",
        "",
        "The catalogue is a DuckDB file in the store, `catalogue.duckdb`. It is derived from the logs, the kept",
        "scores and the annotations, brought up to date by every `iwreplay query`, and can be deleted at any time.",
        "Ask it in SQL:",
        "",
        '    iwreplay query "SELECT task, assistant, status FROM episodes ORDER BY episode"',
        "",
        f"Schema version {SCHEMA_VERSION}. Ids are those of the scene and are never shown to a participant.",
    ]
    for table in TABLES:
        parts += ["", f"## {table.name}", "", table.doc, "", "| column | type | what |", "| --- | --- | --- |"]
        parts += [f"| {c.name} | {c.sql} | {c.doc} |" for c in table.columns]
    parts += ["", "## What became of an episode", "", "The column `status`, and the word that every command uses.", ""]
    parts += ["| status | what |", "| --- | --- |", *(f"| {name} | {what} |" for name, what in STATUSES.items())]
    parts += ["", "## Which task it was", "", "The column `task_state`. A log holds its whole task, so what is said of"]
    parts += ["one that is not current holds for the task as it was then. The present tasks are compared anew whenever"]
    parts += ["they change.", "", "| task_state | what |", "| --- | --- |"]
    parts += [f"| {name} | {what} |" for name, what in TASK_STATES.items()]
    return "\n".join(parts) + "\n"


def _quoted(name: str) -> str:
    return f'"{name}"'
