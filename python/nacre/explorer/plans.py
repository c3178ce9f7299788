"""The page on plans, i.e. caches and tier mixes for a trace and a budget."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.routing import Route

import nacre
from nacre.base import toml
from nacre.base.text import amount, size
from nacre.errors import Error, Problem, config_error, invalid
from nacre.explorer import answers
from nacre.explorer.folder import Folder, write_file
from nacre.explorer.jobs import Job, Jobs
from nacre.explorer.resource import Resource
from nacre.explorer.runs import Runs
from nacre.explorer.traces import Traces
from nacre.words.headlines import of_plan
from nacre.words.mixes import flushes

ASKED_FILE = "asked.json"
TIERS_MAX = 4
FACTORS = ("less", "more")


class Plans(Resource):
    """The plans that are saved in a folder."""

    kind = "plans"

    def __init__(self, folder: Folder, jobs: Jobs, traces: Traces, runs: Runs) -> None:
        super().__init__(folder, jobs)
        self._traces, self._runs = traces, runs
        self._load = lru_cache(maxsize=8)(nacre.simulate.Plan.load)

    def more(self) -> list[Route]:
        """Returns the endpoints that list devices and simulate parts of a plan."""
        answering = answers.answering
        caches = answering(self.caches, takes_document=True)
        return [
            Route("/api/devices", answering(lambda _request: devices())),
            Route("/api/plans/{name}/caches", caches, methods=["POST"]),
            Route("/api/plans/{name}/latencies", answering(self.latencies), methods=["POST"]),
        ]

    def begin(self, _request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
        """Starts a job that analyzes a trace, simulates caches for it, and scores tier mixes."""
        name = answers.text(given, "trace")
        place = self._traces.place(name)
        currency, prices = _tiers(given)
        nacre.simulate.Plan.check(place, prices, currency)
        work = partial(self._plan, name, place, currency, prices)
        return self._jobs.start("plan", f"Plan for {name}", work).report()

    def load(self, path: Path) -> nacre.simulate.Plan:
        """Loads the plan from a directory. The latest plan is cached."""
        _request_of(path)
        return self._load(path)

    def line(self, path: Path) -> dict[str, Any]:
        """Returns an empty row, because the list of plans shows no details.

        Raises an error if there is no plan.
        """
        _request_of(path)
        return {}

    def details(self, path: Path, request: Request) -> dict[str, Any]:
        """Returns the summary of a plan for the prices and the budget in the request address."""
        plan = self.load(path)
        priced, budget = _priced(plan, request), _number(request, "budget")
        within = priced.within(budget)
        best = within.summary().tables[0] if len(within) else None
        whole = priced.mixes.summary()
        others = _others(path, plan)
        return {
            **_request_of(path),
            "toml": toml.document(priced.scenario),
            "prices": priced.prices,
            "caches": _caches(plan),
            "headline": answers.lines(of_plan(priced, budget)),
            "counted": answers.lines([*whole.facts, *flushes(plan)]),
            "best": answers.tables(best) if best else [],
            "tiers": answers.tables(whole.tables[-1]),
            "worth": answers.tables(priced.if_prices_differ(budget))[0],
            "latencies": answers.tables(priced.if_latencies_differ(others, budget))[0]
            if others
            else None,
            "trace_tables": answers.tables(*plan.info.summary().tables[:2]),
            "footprint": size(plan.info.footprint_bytes),
        }

    def figure(self, request: Request) -> dict[str, Any]:
        """Returns the heat map of mixes for the prices in the request, or the miss-ratio curves."""
        path = self.directory_of(request)
        plan = self.load(path)
        # Pages identify a trace by its name, not by its path on the server.
        plan.caches.name = answers.lines([_request_of(path)["trace"]])[0]
        wanted = answers.path_word(request, "figure")
        if wanted not in ("caches", "mixes"):
            raise invalid("unknown-name", wanted, "unknown figure")
        if wanted == "caches":
            return answers.figure(plan.caches.plot)
        return answers.figure_of(_priced(plan, request).mixes, request)

    def caches(self, request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
        """Starts simulations of equally expensive server caches in front of a network store."""
        path = self.directory_of(request)
        plan = self.load(path)
        currency, prices = _tiers(given)
        money = given.get("money")
        if not isinstance(money, int | float):
            hint = f"give a number of {currency}"
            raise invalid("wrong-type", "money", "expected an amount", given=repr(money), hint=hint)
        bought = zip(prices, plan.cache_scenarios(float(money), prices), strict=True)
        trace = answers.lines([_request_of(path)["trace"]])[0]
        trees = [{**tree, "name": f"{trace} {device}"} for device, tree in bought]
        work = partial(self._simulate, trees)
        title = f"Caches for {amount(money)} {currency}"
        return self._jobs.start("caches", title, work, noun="requests").report()

    def latencies(self, request: Request) -> dict[str, Any]:
        """Starts a job that finds the best mixes if one device is 20 % faster or slower."""
        path = self.directory_of(request)
        plan = self.load(path)

        def ask(job: Job) -> str:
            for (name, word), found in plan.with_latencies(progress=job.tick).items():
                found.save(_place(path, name, word))
            return f"/plan?plan={path.name}"

        return self._jobs.start("plan", f"Latencies of {path.name}", ask).report()

    def _simulate(self, trees: Sequence[Mapping[str, Any]], job: Job) -> str:
        names = []
        for number, tree in enumerate(trees, 1):
            job.note = f"cache {number} of {len(trees)}"
            names.append(self._runs.carry_out(tree, str(tree["name"]), job).name)
            if job.asked_to_stop:
                job.note = f"stopped; {number} of {len(trees)} caches were started"
                break
        else:
            job.note = ""
        return f"/design?compare={','.join(names)}" if len(names) > 1 else f"/design?run={names[0]}"

    def _plan(
        self, name: str, place: str, currency: str, prices: Mapping[str, float], job: Job
    ) -> str:
        def watch(step: str, done: int, total: int | None) -> bool:
            job.note = step
            return job.tick(done, total)

        found = nacre.plan(place, prices, currency, progress=watch)
        job.go_on()
        job.note = ""
        path = found.save(self._folder.new(self.kind, name))
        chosen = [{"name": each, "price": price} for each, price in prices.items()]
        asked = {"trace": name, "place": place, "currency": currency, "chosen": chosen}
        write_file(path / ASKED_FILE, json.dumps(asked).encode())
        return f"/plan?plan={path.name}"


def _request_of(path: Path) -> dict[str, Any]:
    if not (path / ASKED_FILE).is_file():
        raise Error(f"{path} has no plan yet", "invalid-content")
    asked: dict[str, Any] = json.loads((path / ASKED_FILE).read_bytes())
    return asked


def devices() -> list[dict[str, Any]]:
    """Returns the catalog devices that have a price, with prices and currencies."""
    found = []
    for name, entry in nacre.catalog.entries().items():
        values = {value.path: value for value in entry.values}
        if entry.family == "device" and "price" in values:
            number, _, unit = values["price"].value.partition("/")
            basis = values.get("price_basis")
            found.append(
                {
                    "name": name,
                    "summary": entry.summary,
                    "price": float(number) if unit.strip() == "GiB" else None,
                    "basis": basis.value if basis else "not stated",
                    "source": values["price"].source,
                }
            )
    return found


def _tiers(given: Mapping[str, Any]) -> tuple[str, dict[str, float]]:
    """Returns the currency, and the price per GiB of each device.

    Raises `ConfigError` with all errors.
    """
    currency = answers.text(given, "currency").strip()
    chosen, problems = given.get("tiers"), []
    if not currency:
        hint = "give the currency and year of the prices, e.g. USD 2023"
        problems.append(
            Problem(code="missing-setting", path="currency", problem="it is missing", hint=hint)
        )
    if not isinstance(chosen, list) or not 2 <= len(chosen) <= TIERS_MAX:
        hint = f"choose 2 to {TIERS_MAX} devices"
        problems.append(
            Problem(
                code="missing-setting", path="tiers", problem="there is nothing to mix", hint=hint
            )
        )
        chosen = []
    found: dict[str, float] = {}
    for each in chosen:
        name, price = (each.get("name"), each.get("price")) if isinstance(each, dict) else (0, 0)
        if not isinstance(price, int | float) or not 0 < price < 1e9:
            hint = f"give the price per GiB in {currency or 'your currency'}"
            problems.append(
                Problem(
                    code="missing-setting",
                    path=f"price-{name}",
                    problem="it has no price",
                    given="",
                    hint=hint,
                )
            )
            continue
        found[str(name)] = float(price)
    if problems:
        raise config_error(problems)
    return currency, found


def _caches(plan: nacre.simulate.Plan) -> dict[str, str]:
    """Returns a shell command and Python code that recompute the miss ratios."""
    place, sample = plan.trace, plan.sample
    policies = tuple(plan.caches.policies)
    followed = "" if sample is None else f" --sample {sample!r}"
    share = "" if sample is None else f", sample={sample!r}"
    return {
        "shell": f"nacre trace mrc {shlex.quote(place)} --policy {','.join(policies)}{followed}",
        "python": f"import nacre\n\nnacre.traces.caches({place!r}, {policies!r}{share}).plot()",
    }


def _place(path: Path, name: str, word: str) -> Path:
    return path / "latencies" / f"{name}-{word}"


def _others(path: Path, plan: nacre.simulate.Plan) -> dict[tuple[str, str], nacre.results.Mixes]:
    """Returns the saved mixes for faster and slower devices, by device and direction."""
    found = {}
    for name in plan.mixes.names:
        for word in FACTORS:
            with suppress(Error):
                found[name, word] = nacre.results.Mixes.load(_place(path, name, word))
    return found


def _priced(plan: nacre.simulate.Plan, request: Request) -> nacre.simulate.Plan:
    """Returns the plan with the prices in the request address, e.g. `price.pcm_ssd=24`."""
    given = {name: _number(request, f"price.{name}") for name in plan.prices}
    return plan.repriced({name: price for name, price in given.items() if price is not None})


def _number(request: Request, key: str) -> float | None:
    given = request.query_params.get(key)
    if not given:
        return None
    try:
        number = float(given)
    except ValueError:
        number = -1.0
    if not 0 < number < 1e9:
        hint = "give a number above 0"
        raise invalid("invalid-value", key, "expected a price", given=given[:40], hint=hint)
    return number
