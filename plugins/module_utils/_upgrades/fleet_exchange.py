# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Exchange the drivers of all nodes of a recipe, or try remedies on some: begins nodes as fast as it
may, leads each through its steps, and stops where too much fails. It works beside the walk that
proves states."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field, replace
from threading import Lock

from .._cluster.api_client.api_errors import ApiError
from .._cluster.api_objects.change_report import name_some
from .._nodes.facts import NodeFacts
from .._nodes.upgrade_marks import DONE, QUARANTINED, UPGRADING
from .._runs.context import RunContext
from .._runs.guard import Guard
from .._states.desired import Desired
from .._states.validation.node_marks import NodeMarks
from .._states.validation.phases import BROKEN, Phase, Result
from .._states.validation.table import duration
from .._states.validation.walk import Walker
from .._verdicts.verdict import Outcome, Verdict
from .exchange_choice import Begin, ExchangeChoice
from .exchange_steps import ExchangeEnding, ExchangeSettings, ExchangeStep
from .maintenance_window import MaintenanceWindow
from .node_exchange import NodeExchange
from .pace import Pace
from .upgrade_plan import UpgradePlan
from .upgrade_survey import UpgradeSurvey

WORKERS = 16
TELL_EVERY_S = 10.0
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
        self._in_wave: list[NodeExchange] = []
        self._wave = 0
        self._last_end = 0.0
        self._reported_at = context.clock()
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
        if self.plan is None:
            self.plan, self._pace = choice.plan()
            for line in () if self._context.diff else self.plan.table():
                self._context.notice(line)
        if self._context.check_mode or self._is_over:
            return set()
        dirty = self._advance(walker, survey)
        if begun := self._begin(walker, survey, choice):
            dirty |= begun | self._advance(walker, survey)
        self._tell_progress()
        self.outcome.reboot = sorted(
            each.node for each in self._active.values() if each.waits_for_caller()
        )
        if self.outcome.reboot and len(self.outcome.reboot) == len(self._active):
            self._is_over = True
        return dirty & walker.snapshot.nodes.keys()

    def _survey_of(self, walker: Walker) -> tuple[UpgradeSurvey, ExchangeChoice]:
        """What is seen, and what is taken of it."""
        self._survey = self._survey or UpgradeSurvey(self._desired, self._settings, walker.snapshot)
        self._choice = self._choice or self._choose_by(self._survey)
        return self._survey, self._choice

    def marks_of(self, node: NodeFacts, before: NodeMarks) -> NodeMarks:
        """Of a node on its way: the gates go by which our own pods stand on the driver."""
        exchange = self._active.get(node.name)
        if self._survey is None or exchange is None or not exchange.withdraws():
            return before
        states = self._survey.standing_states(node.name)
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
        now = self._clock()
        self._batch.begin()
        due = [each for each in self._active.values() if each.is_due(now)]
        if due:
            calls = [each.advance for each in due]
            for answer in self._desired.client.parallel(calls, workers=WORKERS):
                if isinstance(answer, ApiError):
                    raise answer
        dirty = {each.node for each in due}
        for each in list(self._active.values()):
            if each.is_held():
                walker.held[each.node] = self._held(each.reason)
            elif each.node in walker.held:
                # What was found before says nothing of the new driver.
                walker.forget(each.node)
                dirty.add(each.node)
            elif each.step is ExchangeStep.PROVE:
                self._judge(each, walker, survey)
            if each.ending:
                self._settle(each)
        for node in [name for name in self.outcome.done if name in self._ended]:
            self._watch(node, walker)
        return dirty

    def _judge(self, exchange: NodeExchange, walker: Walker, survey: UpgradeSurvey) -> None:
        """Go by what the proofs say of a node with a new driver."""
        unready = _unready(walker, exchange.node)
        if exchange.remedy is None and survey.drivers.outdated(exchange.node):
            exchange.begin_again()
        elif unready == []:
            exchange.finish()
        elif unready and all(result.final for result in unready):
            self._fail(exchange, self._in_words(unready))
        elif unready:
            exchange.tell(self._in_words(unready))

    def _fail(self, exchange: NodeExchange, reason: str) -> None:
        exchange.fail(reason)
        if exchange.remedy and exchange.step is ExchangeStep.CORDON:
            self._context.notice(
                f"{exchange.node} is not mended: {reason}; {exchange.remedy.step} is tried next"
            )

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
        if exchange not in self._in_wave:
            self._in_wave.append(exchange)
        if exchange.ending is ExchangeEnding.DONE:
            outcome.done.append(node)
        elif exchange.ending is ExchangeEnding.POSTPONED:
            outcome.postponed[node] = exchange.reason
            self._context.notice(f"{node} is left as it was: {exchange.reason}")
        elif exchange.ending is ExchangeEnding.QUARANTINED:
            outcome.quarantined[node] = exchange.reason
            outcome.done = [name for name in outcome.done if name != node]
            self._context.notice(f"{node} is in quarantine: {exchange.reason}")
        if exchange.ending is not ExchangeEnding.POSTPONED:
            self._last_end = self._clock()

    def _begin(self, walker: Walker, survey: UpgradeSurvey, choice: ExchangeChoice) -> set[str]:
        """Begin as many nodes as may be on their way; find out whether that is all. Returns those
        to be looked at again."""
        failed = choice.ended(QUARANTINED) - set(self._ended) | set(self.outcome.quarantined)
        done = choice.ended(DONE) - set(self._ended) | set(self.outcome.done)
        if any(self._may_recover(walker, node) for node in failed - set(self._ended)):
            return set()
        too_many = self._pace.stop_reason(len(done) + len(failed), len(failed))
        self.outcome.failed, self.outcome.changed = bool(too_many), frozenset(done | failed)
        unavailable = survey.unavailable(self._ended) | set(self._active)
        waiting, undecided = self._waiting(walker, choice)
        under_way = survey.under_way(choice.phase)
        stopped = too_many or self._window_closed()
        begun = [name for name in waiting if name in under_way]
        if not stopped:
            others = [name for name in waiting if name not in under_way]
            begun += self._choose(others, len(done) + len(failed), len(begun), unavailable)
        for name in begun:
            self._enter(self._pace.wave(len(done) + len(failed)))
            self._active[name] = self._exchange(survey, choice, name)
            walker.held[name] = self._held(self._active[name].reason)
            self._tell_remedy(self._active[name])
        released = self._release(walker)
        left = [name for name in waiting if name not in begun]
        if left and not stopped and not self._active:
            stopped = self._no_place_reason(unavailable)
        self.outcome.stopped = stopped if left else ""
        if (stopped or not (left or undecided)) and not under_way & self._ended.keys():
            self._end()
        return released.union(begun)

    def _release(self, walker: Walker) -> set[str]:
        """Let go what was held for the sake of an earlier run, and is not gone on with now."""
        released = walker.held.keys() - self._active.keys()
        for name in released:
            walker.forget(name)
        return released

    def _end(self) -> None:
        """Nothing follows what is on its way."""
        if not self._active:
            self._is_over = True
            self._tell_wave()

    def _tell_remedy(self, exchange: NodeExchange) -> None:
        """Say what is tried on a node, and why where the proofs do not."""
        remedy = exchange.remedy
        if remedy and remedy.step:
            why = f", which {remedy.fault} was reported of" if remedy.fault else ""
            self._context.notice(f"{exchange.node}{why}: {remedy.step} is tried")

    def _no_place_reason(self, unavailable: Set[str]) -> str:
        """Why no node may be begun although none is on its way, "" where that is a matter of time."""
        if len(unavailable) < self._pace.at_once:
            return ""
        names = name_some(sorted(unavailable), _NAMED)
        return f"{names} cannot be used as it is, and max_unavailable allows {self._pace.at_once}"

    def _choose(
        self, waiting: Sequence[str], ended: int, resumed: int, unavailable: Set[str]
    ) -> list[str]:
        """Those of the waiting nodes that begin now. One that nobody can use anyhow takes no place."""
        free = self._pace.at_once - len(unavailable) - resumed
        idle_s = self._clock() - self._last_end
        chosen: list[str] = []
        for name in waiting:
            under_way = len(self._active) + resumed + len(chosen)
            if not self._pace.may_begin(ended, under_way, idle_s):
                break
            if name in unavailable:
                chosen.append(name)
            elif free > 0:
                chosen.append(name)
                free -= 1
        return chosen

    def _waiting(self, walker: Walker, choice: ExchangeChoice) -> tuple[list[str], bool]:
        """The nodes that are still to be begun, in their order; whether there may be more of them."""
        blocked = {row.node for row in (self.plan.nodes if self.plan else ()) if row.obstacle}
        found = {
            name: choice.may_begin(name, _unready(walker, name))
            for name in choice.candidates()
            if name not in blocked and name not in self._active and name not in self._ended
        }
        return [name for name in found if found[name] is Begin.NOW], Begin.WAIT in found.values()

    def _held(self, reason: str) -> Verdict:
        """What is found of a node that is not to be proven now."""
        return Verdict(Outcome.BLOCKED, self._choice.reason if self._choice else "", reason)

    def _may_recover(self, walker: Walker, node: str) -> bool:
        """Whether it is yet to be seen if a node that failed in an earlier run has recovered."""
        unready = _unready(walker, node)
        return unready is None or not unready or not all(result.final for result in unready)

    def _exchange(self, survey: UpgradeSurvey, choice: ExchangeChoice, node: str) -> NodeExchange:
        exchange = NodeExchange(
            self._desired.client,
            survey.surveyed(node),
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
        window = self._window
        return (
            ""
            if window is None or window.is_open(self._clock())
            else f"the maintenance window is {window}"
        )

    def _enter(self, wave: int) -> None:
        """Say when a wave begins."""
        if wave > self._wave:
            self._tell_wave()
            self._wave = wave
            bounds = self._pace.bounds
            size = bounds[wave - 1] - (bounds[wave - 2] if wave > 1 else 0)
            if self._takes_waves():
                self._context.progress(
                    f"{self._title()}: {size} of {bounds[-1]} nodes, at most {self._pace.at_once} at a time"
                )

    def _takes_waves(self) -> bool:
        return self._choice is not None and self._choice.phase == UPGRADING

    def _title(self) -> str:
        """What goes on, in a word."""
        waves = f"wave {self._wave} of {len(self._pace.bounds)}"
        return waves if self._takes_waves() else "remedies"

    def _tell_wave(self) -> None:
        """Say how the last wave went."""
        ended, self._in_wave = self._in_wave, []
        if ended:
            slowest = max(ended, key=lambda each: each.took)
            done = sum(each.ending is ExchangeEnding.DONE for each in ended)
            self._context.notice(
                f"{self._title()}: {done} of {len(ended)} nodes proven again;"
                f" slowest: {slowest.node}, {duration(slowest.took)}"
            )

    def _tell_progress(self) -> None:
        """Now and then, how far it is, and which node has been on its way for longest."""
        now = self._clock()
        if not self._active or now - self._reported_at < TELL_EVERY_S:
            return
        self._reported_at = now
        slowest = min(self._active.values(), key=lambda each: each.began)
        self._context.progress(
            f"{self._title()}: {len(self.outcome.done)} nodes done, {len(self._active)} on their way;"
            f" slowest: {slowest.node}, for {duration(now - slowest.began)}: {slowest.reason}"
        )


class BatchGuard:
    """Looks before the first of some writes, which several threads send, whether the lock is still
    this run's."""

    def __init__(self, before_write: Callable[[], None]) -> None:
        self._before_write = before_write
        self._lock = Lock()
        self._done = False

    def begin(self) -> None:
        """The next write is the first of another batch."""
        self._done = False

    def before_write(self) -> None:
        """Raises LockHeld."""
        with self._lock:
            if not self._done:
                self._before_write()
                self._done = True


def _unready(walker: Walker, node: str) -> list[Result] | None:
    """The results of a node that are not ready; None where there are none at all."""
    keys = [(node, plan.name) for plan in walker.plans if plan.per_node]
    results = [walker.results[key] for key in keys if key in walker.results]
    if not results:
        return None
    return [result for result in results if result.phase is not Phase.READY]
