# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Exchange the drivers of all nodes of a recipe, or try remedies on some, beside the walk that proves
states.

Each time the walk has looked, every node on its way is led one step on, all at once, and what the
proofs say of a new driver is taken down: done, or quarantined. Then others are begun, as many as the
pace and its waves allow. None is begun where too many have failed, or the maintenance window has
closed; what is on its way is led to its end. Nodes of a run before this one are gone on with first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from .._cluster.api_client.api_errors import ApiError
from .._cluster.api_objects.change_report import name_some
from .._nodes.facts import NodeFacts
from .._nodes.upgrade_marks import DONE, QUARANTINED, UPGRADING
from .._runs.context import RunContext
from .._runs.guard import Guard
from .._states.desired import Desired
from .._states.validation.node_marks import NodeMarks
from .._states.validation.phases import BROKEN, Phase, Result
from .._states.validation.walk import Walker
from .._verdicts.verdict import Outcome, Verdict
from .batch_guard import BatchGuard
from .exchange_choice import Begin, ExchangeChoice
from .exchange_progress import ExchangeProgress
from .exchange_steps import ExchangeEnding, ExchangeSettings, ExchangeStep
from .maintenance_window import MaintenanceWindow
from .node_exchange import NodeExchange
from .pace import Pace
from .upgrade_plan import UpgradePlan
from .upgrade_survey import UpgradeSurvey

WORKERS = 16
_NAMED = 3


@dataclass
class ExchangeOutcome:
    """What became of the nodes; of those that are not done, why. stopped: why no further node was
    begun, "" where all were. failed: that is since too many failed; changed: the nodes that have been
    brought to the version that is deployed, in this run or before, or failed on the way. reboot:
    those that whoever called has to reboot."""

    done: list[str] = field(default_factory=list)
    postponed: dict[str, str] = field(default_factory=dict)
    quarantined: dict[str, str] = field(default_factory=dict)
    stopped: str = ""
    failed: bool = False
    reboot: list[str] = field(default_factory=list)
    changed: frozenset[str] = frozenset()


@dataclass(frozen=True)
class _ExchangeTally:
    """The nodes whose exchange has ended, in this run or one before."""

    done: Set[str]
    failed: Set[str]

    @property
    def count(self) -> int:
        """Of both."""
        return len(self.done) + len(self.failed)


@dataclass(frozen=True)
class _BeginOrder:
    """The nodes that may begin. resumed: an earlier run has begun with them; others: in their order.
    undecided: whether the proofs may yet add some. under_way: all nodes that say that they are. held:
    why others are not begun now."""

    resumed: list[str]
    others: list[str]
    undecided: bool
    under_way: Set[str]
    held: Mapping[str, str] = field(default_factory=dict)

    @property
    def why_held(self) -> str:
        """Of the first of these, "" where there is none."""
        return next(iter(self.held.values()), "")

    def without(self, begun: Collection[str]) -> list[str]:
        """Those that are left when some have begun."""
        return [name for name in (*self.resumed, *self.others) if name not in begun]


class FleetExchange:
    """One run of it. choose: what is taken, once there is something to see. plan: None until then."""

    def __init__(
        self,
        desired: Desired,
        settings: ExchangeSettings,
        window: MaintenanceWindow | None,
        choose: Callable[[UpgradeSurvey], ExchangeChoice],
        guard: Guard,
        context: RunContext,
    ) -> None:
        self._desired = desired
        self._settings = settings
        self._window = window
        self._choose_by = choose
        self._context = context
        self._clock: Callable[[], float] = context.clock
        self._survey: UpgradeSurvey | None = None
        self._choice: ExchangeChoice | None = None
        self._pace = Pace((), 1, 0)
        self._batch = BatchGuard(guard.before_write)
        self._active: dict[str, NodeExchange] = {}
        self._ended: dict[str, NodeExchange] = {}
        self._progress = ExchangeProgress(context)
        self._last_end = 0.0
        self._is_over = False
        self.plan: UpgradePlan | None = None
        self.outcome = ExchangeOutcome()

    def announce(self, walker: Walker) -> None:
        """A node is held from when it is begun; one that a run before this one has begun, from the
        first look: else its gates would open once more, and pods start on a driver that goes."""
        survey, choice = self._survey_of(walker)
        for node in () if self._context.check_mode else survey.under_way(choice.phase):
            walker.held[node] = self._held("a run before this one has begun with it")

    def act(self, walker: Walker) -> Set[str]:
        """Lead the nodes that are on their way, and begin others."""
        survey, choice = self._survey_of(walker)
        if not survey.drivers.refresh() and not self._context.check_mode:
            return set()
        self._plan_once(survey, choice)
        if self._context.check_mode or self._is_over:
            return set()
        dirty = self._advance(walker, survey)
        if begun := self._begin(walker, survey, choice):
            dirty |= begun | self._advance(walker, survey)
        self._progress.tell(len(self.outcome.done), self._active.values())
        self._leave_to_caller()
        return dirty & walker.snapshot.nodes.keys()

    def _plan_once(self, survey: UpgradeSurvey, choice: ExchangeChoice) -> None:
        """Make the plan and show it, unless that has been done."""
        if self.plan is not None:
            return
        self.plan, self._pace = choice.plan()
        self._progress.start(self._pace, in_waves=choice.phase == UPGRADING)
        for line in () if self._context.diff else self.plan.table():
            self._context.notice(line)
        for name, why in sorted(survey.leaving().items()):
            self._context.notice(f"nothing is done on {name}, which leaves: {why}")

    def _leave_to_caller(self) -> None:
        """Note which nodes whoever called has to reboot; where all wait for that, the run ends."""
        waiting = [each.node for each in self._active.values() if each.waits_for_caller()]
        self.outcome.reboot = sorted(waiting)
        if waiting and len(waiting) == len(self._active):
            self._is_over = True

    def _survey_of(self, walker: Walker) -> tuple[UpgradeSurvey, ExchangeChoice]:
        """What is seen, and what is taken of it."""
        self._survey = self._survey or UpgradeSurvey(
            self._desired,
            self._settings,
            walker.snapshot,
            walker.settings.controller_taints,
            self._clock,
        )
        self._choice = self._choice or self._choose_by(self._survey)
        return self._survey, self._choice

    def marks_of(self, node: NodeFacts, before: NodeMarks) -> NodeMarks:
        """Of a node on its way: the gates go by which our own pods stand on the driver."""
        exchange = self._active.get(node.name)
        if self._survey is None or exchange is None or not exchange.withdraws():
            return before
        states = exchange.standing_states()
        return replace(
            before,
            gates={state: value for state, value in before.gates.items() if state not in states},
            proofs={state: proof for state, proof in before.proofs.items() if state not in states},
            summary=f"{states[0]}.{exchange.phase}",
        )

    def is_over(self) -> bool:
        """Whether no node is on its way, and none follows."""
        return self._is_over

    def _advance(self, walker: Walker, survey: UpgradeSurvey) -> set[str]:
        """Lead each node on as far as it goes now; returns those to be looked at again."""
        for name in self._active.keys() - walker.snapshot.nodes.keys():
            self._active[name].drop()
        dirty = self._do_what_is_due()
        for exchange in list(self._active.values()):
            if self._follow(exchange, walker, survey):
                dirty.add(exchange.node)
        for node in [name for name in self.outcome.done if name in self._ended]:
            self._watch(node, walker)
        return dirty

    def _do_what_is_due(self) -> set[str]:
        """The next steps of all nodes, at once; returns the nodes. Raises ApiError."""
        now = self._clock()
        self._batch.begin()
        due = [each for each in self._active.values() if each.is_due(now)]
        if not due:
            return set()
        calls = [each.advance for each in due]
        for answer in self._desired.client.parallel(calls, workers=WORKERS):
            if isinstance(answer, ApiError):
                raise answer
        return {each.node for each in due}

    def _follow(self, exchange: NodeExchange, walker: Walker, survey: UpgradeSurvey) -> bool:
        """Bring the walk, and what is noted, in line with where an exchange is now; returns whether
        its node is proven from now on."""
        released = False
        if exchange.is_held():
            walker.held[exchange.node] = self._held(exchange.reason)
        elif exchange.node in walker.held:
            # What was found before says nothing of the new driver.
            walker.forget(exchange.node)
            released = True
        elif exchange.step is ExchangeStep.PROVE:
            self._judge(exchange, walker, survey)
        if exchange.ending:
            self._settle(exchange)
        return released

    def _judge(self, exchange: NodeExchange, walker: Walker, survey: UpgradeSurvey) -> None:
        """Go by what the proofs say of a node with a new driver."""
        unready = _unready(walker, exchange.node)
        if exchange.remedy is None and survey.is_behind(exchange.node):
            exchange.begin_again()
        elif unready == []:
            exchange.finish()
        elif unready and any(r.final and r.phase is Phase.LEAVING for r in unready):
            exchange.drop()
        elif unready and all(result.final for result in unready):
            self._fail(exchange, self._in_words(unready))
        elif unready:
            exchange.tell(self._in_words(unready))

    def _fail(self, exchange: NodeExchange, reason: str) -> None:
        exchange.fail(reason)
        if exchange.step is ExchangeStep.CORDON:
            self._progress.not_mended(exchange, reason)

    def _watch(self, node: str, walker: Walker) -> None:
        """A node that was proven, and has failed since."""
        unready = _unready(walker, node) or []
        if any(result.phase in BROKEN for result in unready):
            exchange = self._active[node] = self._ended.pop(node)
            self._fail(exchange, self._in_words(unready))

    def _in_words(self, unready: list[Result]) -> str:
        """The first cause of several results, without secrets: everybody may read it on the node."""
        cause = next((result for result in unready if not result.cause), unready[0])
        said = f"{cause.state}, {cause.reason}: {cause.message}" if cause.reason else cause.state
        return self._context.masked(said)

    def _settle(self, exchange: NodeExchange) -> None:
        """Take down how an exchange ended."""
        node, outcome = exchange.node, self.outcome
        self._active.pop(node, None)
        self._ended[node] = exchange
        if exchange.ending is ExchangeEnding.DONE:
            outcome.done.append(node)
        elif exchange.ending is ExchangeEnding.POSTPONED:
            outcome.postponed[node] = exchange.reason
        elif exchange.ending is ExchangeEnding.QUARANTINED:
            outcome.quarantined[node] = exchange.reason
            outcome.done = [name for name in outcome.done if name != node]
        if exchange.ending is not ExchangeEnding.POSTPONED:
            self._last_end = self._clock()
        self._progress.ended(exchange)

    def _begin(self, walker: Walker, survey: UpgradeSurvey, choice: ExchangeChoice) -> set[str]:
        """Begin as many nodes as may be on their way; find out whether that is all. Returns those
        to be looked at again."""
        ended = self._tally(choice)
        if any(self._may_recover(walker, node) for node in ended.failed - self._ended.keys()):
            return set()
        stopped = self._too_many_failed(ended) or self._window_closed()
        unavailable = survey.unavailable(self._ended) | self._active.keys()
        waiting = self._waiting(walker, survey, choice)
        begun = list(waiting.resumed)
        if not stopped:
            begun += self._choose(waiting, ended.count, unavailable)
        for name in begun:
            self._progress.enter_wave(self._pace.wave(ended.count))
            self._lead(name, walker, survey, choice)
        released = self._release(walker)
        self._conclude(waiting, waiting.without(begun), stopped, unavailable)
        return released.union(begun)

    def _tally(self, choice: ExchangeChoice) -> _ExchangeTally:
        """How nodes have ended so far; of those of this run, this run knows better."""
        this_run = self._ended.keys()
        return _ExchangeTally(
            done=choice.ended(DONE) - this_run | set(self.outcome.done),
            failed=choice.ended(QUARANTINED) - this_run | set(self.outcome.quarantined),
        )

    def _too_many_failed(self, ended: _ExchangeTally) -> str:
        """Why no other node may be begun for those that failed, "" where one may; taken down too."""
        reason = self._pace.stop_reason(ended.count, len(ended.failed))
        self.outcome.failed = bool(reason)
        self.outcome.changed = frozenset(ended.done | ended.failed)
        return reason

    def _lead(
        self, node: str, walker: Walker, survey: UpgradeSurvey, choice: ExchangeChoice
    ) -> None:
        """Begin with a node: from now on it is not proven."""
        exchange = self._active[node] = self._exchange(survey, choice, node)
        walker.held[node] = self._held(exchange.reason)
        self._progress.begun(exchange)

    def _conclude(
        self, waiting: _BeginOrder, left: Sequence[str], stopped: str, unavailable: Set[str]
    ) -> None:
        """Say why nodes are left, and end where nothing follows what is on its way. A node that
        still says it is, although this run has ended with it, is waited for."""
        if not stopped and not self._active:
            stopped = self._no_place_reason(unavailable) if left else waiting.why_held
        self.outcome.stopped = stopped if left or waiting.held else ""
        follows = not stopped and (left or waiting.undecided)
        if not follows and not self._active and not waiting.under_way & self._ended_here():
            self._is_over = True
            self._progress.end_wave()

    def _ended_here(self) -> set[str]:
        """The nodes that are still there, and with which this run has ended."""
        gone = ExchangeEnding.GONE
        return {name for name, each in self._ended.items() if each.ending is not gone}

    def _release(self, walker: Walker) -> set[str]:
        """Let go what was held for the sake of an earlier run, and is not gone on with now."""
        released = walker.held.keys() - self._active.keys()
        for name in released:
            walker.forget(name)
        return released

    def _no_place_reason(self, unavailable: Set[str]) -> str:
        """Why no node may be begun although none is on its way, "" where that is a matter of time."""
        if len(unavailable) < self._pace.at_once:
            return ""
        names = name_some(sorted(unavailable), _NAMED)
        return f"{names} cannot be used as it is, and max_unavailable allows {self._pace.at_once}"

    def _choose(self, waiting: _BeginOrder, ended: int, unavailable: Set[str]) -> list[str]:
        """Those that begin now beside the resumed ones. One that nobody can use anyhow takes no
        place."""
        resumed = len(waiting.resumed)
        free = self._pace.at_once - len(unavailable | set(waiting.resumed))
        idle_s = self._clock() - self._last_end
        chosen: list[str] = []
        for name in waiting.others:
            under_way = len(self._active) + resumed + len(chosen)
            if not self._pace.may_begin(ended, under_way, idle_s):
                break
            if name in unavailable:
                chosen.append(name)
            elif free > 0:
                chosen.append(name)
                free -= 1
        return chosen

    def _waiting(
        self, walker: Walker, survey: UpgradeSurvey, choice: ExchangeChoice
    ) -> _BeginOrder:
        """The nodes that may be begun, by what is planned and what their proofs say."""
        found = self._found(walker, choice)
        now = [name for name in found if found[name] is Begin.NOW]
        under_way = survey.under_way(choice.phase)
        held = survey.held(name for name in now if name not in under_way)
        return _BeginOrder(
            resumed=[name for name in now if name in under_way],
            others=[name for name in now if name not in under_way | held.keys()],
            undecided=Begin.WAIT in found.values(),
            under_way=under_way,
            held=held,
        )

    def _found(self, walker: Walker, choice: ExchangeChoice) -> dict[str, Begin]:
        """Whether they are begun, of the nodes that nothing is known to be in the way of."""
        blocked = {row.node for row in (self.plan.nodes if self.plan else ()) if row.obstacle}
        seen_to = blocked | self._active.keys() | self._ended.keys()
        return {
            name: choice.may_begin(name, _unready(walker, name))
            for name in choice.candidates()
            if name not in seen_to
        }

    def _held(self, reason: str) -> Verdict:
        """What is found of a node that is not to be proven now."""
        return Verdict(Outcome.BLOCKED, self._choice.reason if self._choice else "", reason)

    def _may_recover(self, walker: Walker, node: str) -> bool:
        """Whether it is yet to be seen if a node that failed in an earlier run has recovered."""
        unready = _unready(walker, node)
        return not unready or not all(result.final for result in unready)

    def _exchange(self, survey: UpgradeSurvey, choice: ExchangeChoice, node: str) -> NodeExchange:
        exchange = NodeExchange(
            self._desired.client,
            survey.surveyed(node, choice.phase),
            self._settings,
            choice.remedy(node),
            self._batch.before_write,
            self._clock,
            self._context.masked,
        )
        if reason := choice.hopeless(node):
            exchange.give_up(reason)
        return exchange

    def _window_closed(self) -> str:
        """Why no node may be begun at this time of day, "" where one may."""
        if self._window is None or self._window.is_open(self._clock()):
            return ""
        return f"the maintenance window is {self._window}"


def _unready(walker: Walker, node: str) -> list[Result] | None:
    """The results of a node that are not ready; None where there are none at all."""
    keys = [(node, plan.name) for plan in walker.plans if plan.per_node]
    results = [walker.results[key] for key in keys if key in walker.results]
    if not results:
        return None
    return [result for result in results if result.phase is not Phase.READY]
