"""Generating a task with language models, as in the paper's figure 7.

    proposal -> two independent reviews -> assessment target, frozen -> task file -> review of its formulas
             -> everything that `tasks check` runs, with the page to look at -> accepted

What is found at any step goes back to the author, who answers anew: a revision. After the most that are allowed the
generation is given up. The dashed arrow of the figure: a revision of the task may change anything but the frozen
target, and its formulas are reviewed again whenever they change.

Every question and every answer is in `generation.jsonl` before it is used. Started again in the same folder, a
generation takes the answers that it has from there and goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from iwreplay.app import reference
from iwreplay.app.shorter import Search
from iwreplay.app.tasks import list_tasks
from iwreplay.app.validation import check_task
from iwreplay.canonical import sha256_hex, struct_hash
from iwreplay.errors import IwreplayError, ModelError, StoreError, TaskError, UnknownNameError
from iwreplay.generation import (
    CheckFound,
    ChecksReviewed,
    GenerationClosed,
    GenerationOpened,
    GenerationRecord,
    ModelCalled,
    PackChecked,
    Proposal,
    ProposalReviewed,
    Review,
    Reviewed,
    Target,
    TargetFrozen,
    check_lines,
    load_prompts,
    proposal_problems,
    read_pack_text,
    read_struct,
    target_changes,
    target_problems,
)
from iwreplay.ports import Model, ModelMessage, ModelRequest
from iwreplay.scene.library import load_library
from iwreplay.scene.loader import data_root, scene_ids
from iwreplay.store.directory import write_whole
from iwreplay.store.journal import Journal
from iwreplay.taskpack.loader import load_task, validate_task
from iwreplay.taskpack.model import TaskPack
from iwreplay.version import __version__
from iwreplay.vocabulary import CAPABILITIES, FAMILIES, Family

__all__ = ["JOURNAL", "Generated", "GenerationPlan", "generate_task", "hosted_models", "plan_generation"]

T = TypeVar("T")
Role = Literal["author", "reviewer"]
#: a further message of a conversation
Said = tuple[Literal["user", "assistant"], str]

JOURNAL = "generation.jsonl"
PAGES = "pages"
_LETTERS = dict(zip(FAMILIES, "GPADVF", strict=True))
#: answers of a reviewer to one question that can't be read, before the generation is given up
_READINGS = 4
#: what reviewers look at; they do not see each other's answers
_LENSES = ("review_need", "review_feasible")


class GenerationPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be generated, and how."""

    task_id: str
    family: Family
    capability: str
    #: "" leaves it to the author
    scene: str = ""
    seed: int = 11
    temperature: float = 0.0
    revisions: int = 8
    search: Search = "bounded"


class Generated(msgspec.Struct, frozen=True, kw_only=True):
    """How a generation ended."""

    task: str
    outcome: Literal["accepted", "not_converged"]
    #: the task file, or None
    file: str | None
    #: folder of the page with what the Assistant saw, for a person to look at
    pages: str
    journal: str
    revisions: int
    #: to models, and how many of them were taken from the journal
    calls: int
    reused: int
    cost_usd: float | None
    #: why it was given up; ""
    reason: str = ""


class _GivenUpError(Exception):
    pass


def plan_generation(
    *, family: str, capability: str, task_id: str = "", scene: str = "", seed: int = 11, revisions: int = 8,
    search: Search = "bounded",
) -> GenerationPlan:  # fmt: skip
    """A plan whose names are right; without an id the family's first free number. UnknownNameError, TaskError."""
    if family not in FAMILIES:
        raise UnknownNameError("family", family, known=FAMILIES)
    if capability not in CAPABILITIES:
        raise UnknownNameError("capability", capability, known=tuple(CAPABILITIES))
    if scene and scene not in scene_ids():
        raise UnknownNameError("scene", scene, known=scene_ids(), hint="All: iwreplay scene list.")
    taken = {t.id for t in list_tasks()[0]}
    letter = _LETTERS[family]
    free = [f"{letter}{n:02d}" for n in range(1, 100) if f"{letter}{n:02d}" not in taken]
    wanted = task_id.upper() or (free[0] if free else "")
    if wanted not in free:
        why = f"is taken; the next free one is {free[0]}" if wanted in taken else f"is not {letter} and two digits"
        raise TaskError(f"id {wanted!r} {why}")
    return GenerationPlan(
        task_id=wanted, family=family, capability=capability, scene=scene, seed=seed, revisions=revisions, search=search
    )  # fmt: skip


def hosted_models(author: str, reviewer: str, *, secrets: tuple[str, ...] = ()) -> tuple[Model, Model]:
    """The two models at their providers. secrets: what no error may show. ModelError when they are the same, when
    litellm is not there or knows no such provider, or when a provider's key is not set."""
    _must_differ(author, reviewer)
    from recorder.models.hosted import HostedModel

    models = HostedModel(author, secrets=secrets), HostedModel(reviewer, secrets=secrets)
    for model in models:
        model.require_key()
    return models


def _must_differ(author: str, reviewer: str) -> None:
    if author == reviewer:
        raise ModelError(author, "it is the author and the reviewer", hint="They must differ: name another reviewer.")


def generate_task(
    plan: GenerationPlan,
    *,
    author: Model,
    reviewer: Model,
    out: Path,
    threads: int | None = None,
    progress: Callable[[str], None] = lambda step: None,
) -> Generated:
    """Generates one task into the folder `out`: the journal, pages to look at, and `<ID>.toml` once it is accepted.

    StoreError when `out` holds another generation, or can't be a folder; ModelError when author and reviewer are the
    same, or when a model does not answer: what was answered is kept, and started again the generation goes on.
    """
    _must_differ(author.name, reviewer.name)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise StoreError(f"{out} can't be used as a folder: {e.strerror or e}") from e
    with Journal[GenerationRecord](out / JOURNAL, GenerationRecord) as journal:
        run = _Generation(plan, author=author, reviewer=reviewer, out=out, journal=journal, threads=threads)
        run.progress = progress
        return run.run()


class _Generation:
    def __init__(
        self,
        plan: GenerationPlan,
        *,
        author: Model,
        reviewer: Model,
        out: Path,
        journal: Journal[GenerationRecord],
        threads: int | None,
    ) -> None:
        self.plan, self.out, self.journal, self.threads = plan, out, journal, threads
        self.models = {"author": author, "reviewer": reviewer}
        self.prompts = load_prompts()
        self.library = load_library(data_root() / "objects")
        self.progress: Callable[[str], None] = lambda step: None
        self.one_scene = cache(reference.one_scene)
        #: by the hash of the request: what was answered in an earlier run
        self.answered = {r.request_sha256: r for r in journal.records if isinstance(r, ModelCalled)}
        self.checked = {r.pack_sha256: r for r in journal.records if isinstance(r, PackChecked)}
        self.calls: dict[str, ModelCalled] = {}
        self.reused = self.revision = 0
        self.fresh = not journal.records

    def run(self) -> Generated:
        self._open()
        pack = ""
        reason = ""
        try:
            proposal = self._proposal()
            target = self._target(proposal)
            pack = self._pack(proposal, target)
        except _GivenUpError as e:
            reason = str(e)
        file = None
        if pack:
            path = self.out / f"{self.plan.task_id}.toml"
            write_whole(path, pack.encode())
            file = str(path)
        costs = [c.cost_usd for c in self.calls.values()]
        total = None if None in costs else sum(c for c in costs if c is not None)
        outcome: Literal["accepted", "not_converged"] = "accepted" if pack else "not_converged"
        self._record(
            GenerationClosed(
                outcome=outcome,
                revisions=self.revision,
                calls=len(self.calls),
                pack_sha256=sha256_hex(pack.encode()) if pack else "",
                cost_usd=total,
                reason=reason,
            )
        )
        return Generated(
            task=self.plan.task_id,
            outcome=outcome,
            file=file,
            pages=str(self.out / PAGES),
            journal=str(self.journal.path),
            revisions=self.revision,
            calls=len(self.calls),
            reused=self.reused,
            cost_usd=total,
            reason=reason,
        )

    def _open(self) -> None:
        plan = self.plan
        opened = GenerationOpened(
            task_id=plan.task_id,
            family=plan.family,
            capability=plan.capability,
            scene=plan.scene,
            author=self.models["author"].name,
            reviewer=self.models["reviewer"].name,
            seed=plan.seed,
            temperature=plan.temperature,
            revisions=plan.revisions,
            search=plan.search,
            prompts=self.prompts.hashes(),
            iwreplay=__version__,
        )
        if self.fresh:
            self.journal.append(opened)
            return
        before = self.journal.records[0]
        if before == opened:
            return
        if not isinstance(before, GenerationOpened):
            raise StoreError(f"{self.journal.path} does not begin with what was asked for. Choose another folder.")
        then, now = msgspec.structs.asdict(before), msgspec.structs.asdict(opened)
        changed = [f"{k} was {then[k]!r}, is {now[k]!r}" for k in then if k != "prompts" and then[k] != now[k]]
        changed += ["the prompts are others"] if then["prompts"] != now["prompts"] else []
        raise StoreError(
            f"{self.out} holds another generation: {'; '.join(changed)}. Choose another folder, or ask for the same."
        )

    def _proposal(self) -> Proposal:
        values = {
            "scenes": self._one_or_all_scenes(),
            "primitives": reference.primitives(),
            "classes": reference.classes(self.library),
            "existing": reference.tasks_of(self.plan.family),
        }
        answer = self._ask("author", "proposal", self.prompts.fill("proposal", values))
        while True:
            proposal, problems = self._read(answer, Proposal)
            reviews: tuple[Reviewed, ...] = ()
            if proposal is not None:
                problems = proposal_problems(proposal, scenes=scene_ids(), scene=self.plan.scene)
            if proposal is not None and not problems:
                reviews = tuple(self._reviewed(lens, proposal) for lens in _LENSES)
                problems = tuple(p for r in reviews for p in _asked_for(r.review))
            self._record(
                ProposalReviewed(revision=self.revision, proposal=proposal, reviews=reviews, problems=problems)
            )
            if proposal is not None and not problems:
                return proposal
            answer = self._revised("proposal", self.prompts.fill("proposal", values), answer, problems)

    def _one_or_all_scenes(self) -> str:
        return self.one_scene(self.plan.scene) if self.plan.scene else reference.scenes()

    def _reviewed(self, lens: str, proposal: Proposal) -> Reviewed:
        values = {
            "capability": self.plan.capability,
            "proposal": _json(proposal),
            "primitives": reference.primitives(),
            "scene": self.one_scene(proposal.scene),
            "classes": reference.classes(self.library),
        }
        return Reviewed(lens=lens, review=self._review("review", self.prompts.fill(lens, values)))

    def _target(self, proposal: Proposal) -> Target:
        prompt = self.prompts.fill(
            "target",
            {
                "proposal": _json(proposal),
                "capability": self.plan.capability,
                "capabilities": reference.capabilities(),
            },
        )
        answer = self._ask("author", "target", prompt)
        while True:
            target, problems = self._read(answer, Target)
            if target is not None:
                problems = target_problems(target, capability=self.plan.capability)
            if target is not None and not problems:
                self._record(TargetFrozen(revision=self.revision, sha256=struct_hash(target), target=target))
                return target
            answer = self._revised("target", prompt, answer, problems)

    def _pack(self, proposal: Proposal, target: Target) -> str:
        prompt = self.prompts.fill(
            "pack",
            {
                "task_id": self.plan.task_id,
                "target": _json(target),
                "proposal": _json(proposal),
                "scene": self.one_scene(proposal.scene),
                "classes": reference.classes(self.library),
                "primitives": reference.primitives(),
                "example": reference.example_of(self.plan.family),
            },
        )
        answer, frozen = self._ask("author", "pack", prompt), struct_hash(target)
        agreed: set[str] = set()
        while True:
            text, checks, problems = self._examined(answer, proposal, target, agreed=agreed)
            self._record(
                PackChecked(
                    revision=self.revision,
                    pack_sha256=sha256_hex(text.encode()),
                    target_sha256=frozen,
                    checks=checks,
                    problems=problems,
                )
            )
            if not problems:
                return text
            answer = self._revised("pack", prompt, answer, problems)

    def _examined(
        self, answer: str, proposal: Proposal, target: Target, *, agreed: set[str]
    ) -> tuple[str, tuple[CheckFound, ...], tuple[str, ...]]:
        """(text of the task file, what was run, what is to be mended). agreed: hashes of formulas that the reviewer
        has accepted; those of this file are added when it does."""
        try:
            text = read_pack_text(answer)
        except IwreplayError as e:
            return answer, (), (str(e),)
        self.progress(f"revision {self.revision}: checking the task")
        attempts = self.out / "attempts"
        attempts.mkdir(exist_ok=True)
        path = attempts / f"{self.plan.task_id}-{self.revision}.toml"
        write_whole(path, text.encode())
        try:
            task = load_task(path)
            changes = target_changes(
                target, proposal, task, task_id=self.plan.task_id, family=self.plan.family
            )  # fmt: skip
            if changes:
                return text, (), tuple(f"the frozen target is broken: {c}" for c in changes)
            validate_task(task, library=self.library)
        except IwreplayError as e:
            return text, (), (f"it does not load: {e}",)
        found = self._formulas_reviewed(task, agreed=agreed)
        if found:
            return text, (), found
        known = self.checked.get(sha256_hex(text.encode()))
        page_is_there = (self.out / PAGES / f"{self.plan.task_id}.html").is_file()
        if known is not None and known.checks and page_is_there:
            checks = known.checks
        else:
            report = check_task(
                task, path=str(path), search=self.plan.search, threads=self.threads, pages=self.out / PAGES
            )
            checks = tuple(CheckFound(name=c.name, ok=c.ok, detail=c.detail) for c in report.checks)
        return text, checks, tuple(f"{c.name}: {c.detail}" for c in checks if not c.ok)

    def _formulas_reviewed(self, task: TaskPack, *, agreed: set[str]) -> tuple[str, ...]:
        """What the reviewer finds in the formulas; () also for formulas that it has accepted before."""
        lines = check_lines(task)
        digest = struct_hash(lines)
        if digest in agreed:
            return ()
        things = ", ".join(f"{t.id} ({t.cls or 'of the scene'})" for t in task.things)
        prompt = self.prompts.fill("checks", {"things": things, "checks": "\n".join(lines)})
        review = self._review("checks", prompt)
        self._record(ChecksReviewed(revision=self.revision, sha256=digest, review=review))
        problems = _asked_for(review)
        if not problems:
            agreed.add(digest)
        return tuple(f"the reviewer of the formulas: {p}" for p in problems)

    def _review(self, stage: str, prompt: str) -> Review:
        """A review that can be read; the reviewer is told when its answer can't be."""
        more: tuple[Said, ...] = ()
        for _ in range(_READINGS):
            answer = self._ask("reviewer", stage, prompt, *more)
            review, problems = self._read(answer, Review)
            if review is not None:
                return review
            more = (("assistant", answer), ("user", self.prompts.fill("again", {"problem": problems[0]})))
        raise _GivenUpError(f"the reviewer's answers could not be read, the last one because {problems[0]}")

    def _read(self, answer: str, kind: type[T]) -> tuple[T | None, tuple[str, ...]]:
        try:
            return read_struct(answer, kind), ()
        except IwreplayError as e:
            return None, (str(e),)

    def _revised(self, stage: str, prompt: str, answer: str, problems: tuple[str, ...]) -> str:
        """The author's next answer. Gives up when there have been as many as may be."""
        if self.revision >= self.plan.revisions:
            raise _GivenUpError(f"after {self.revision} revisions the {stage} still has problems: {problems[0]}")
        self.revision += 1
        said = self.prompts.fill(
            "revise",
            {
                "revision": str(self.revision),
                "answer": answer,
                "problems": "\n".join(f"- {p}" for p in problems),
            },
        )
        return self._ask("author", stage, prompt + "\n\n" + said)

    def _ask(self, role: Role, stage: str, prompt: str, *more: Said) -> str:
        """The answer of a model: from the journal when the very same was asked before."""
        model, plan = self.models[role], self.plan
        system = self.prompts.system(role, family=plan.family, capability=plan.capability)
        request = ModelRequest(
            model=model.name,
            messages=(
                ModelMessage(role="system", parts=(system,)),
                ModelMessage(role="user", parts=(prompt,)),
                *(ModelMessage(role=who, parts=(text,)) for who, text in more),
            ),
            temperature=plan.temperature,
            seed=plan.seed,
        )
        digest = struct_hash(request)
        known = self.calls.get(digest) or self.answered.get(digest)
        if known is not None:
            self.reused += digest not in self.calls
            self.calls[digest] = known
            return known.answer
        self.progress(f"revision {self.revision}: {stage}, asking the {role}")
        reply = model.ask(request)
        call = ModelCalled(
            call=len(self.calls) + 1,
            role=role,
            stage=stage,
            request_sha256=digest,
            messages=tuple((m.role, m.text) for m in request.messages),
            answer=reply.text,
            finish=reply.finish,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            cost_usd=reply.cost_usd,
            retries=reply.retries,
            left_out=reply.left_out,
            provider_request_id=reply.provider_request_id,
        )
        self.journal.append(call)
        self.calls[digest] = call
        return call.answer

    def _record(self, record: GenerationRecord) -> None:
        """Written once, however often the generation is started again."""
        if record not in self.journal.records:
            self.journal.append(record)


def _asked_for(review: Review) -> tuple[str, ...]:
    if review.verdict == "accept":
        return ()
    return review.problems or ("the reviewer wants a revision and gives no reason",)


def _json(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=1).decode()
