"""Plans: which cache and which mix of tiers a trace wants, for what money."""

from __future__ import annotations

import json
import math
import re
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.routing import Route

from nacre import toml, trace
from nacre.catalog import Entry, catalog
from nacre.errors import Error, Problem, config_error
from nacre.explore import answers, worth
from nacre.explore.folder import Folder
from nacre.explore.jobs import Job, Jobs
from nacre.explore.runs import Runs
from nacre.explore.traces import Traces
from nacre.mixes import Mixes, mixes
from nacre.report import headline
from nacre.run import check
from nacre.saving import Staging, write_file
from nacre.shown import TraceInfo
from nacre.summary_mixes import counted, ranking
from nacre.summary_mixes import tiers as tier_table
from nacre.text import amount, size
from nacre.trace_summary import trace_facts, trace_shape

if TYPE_CHECKING:
    import altair as alt

PLAN_FILE = "plan.json"
TIERS_MAX = 4
STEPS = 20
_EXTENTS = 1024
_SAMPLED_BLOCKS = 1 << 16
"""Caches are simulated in miniature where a trace touches more blocks."""
_REACHES = re.compile(r"reaches to byte (\d+)")
_POLICIES = ("lru", "arc", "s3_fifo", "sieve")


class Plans:
    """The plans of a folder."""

    def __init__(self, folder: Folder, jobs: Jobs, traces: Traces, runs: Runs) -> None:
        self._folder, self._jobs, self._traces, self._runs = folder, jobs, traces, runs
        self._load = lru_cache(maxsize=8)(_loaded)

    def routes(self) -> list[Route]:
        """What the page asks."""
        answering = answers.answering
        begin = answering(self.begin, takes_document=True)
        caches = answering(self.caches, takes_document=True)
        return [
            Route("/api/devices", answering(lambda _request: devices())),
            Route("/api/plans", begin, methods=["POST"]),
            Route("/api/plans", answering(self.listed)),
            Route("/api/plans/{name}", answering(self.shown)),
            Route("/api/plans/{name}/caches", caches, methods=["POST"]),
            Route("/api/plans/{name}/latencies", answering(self.latencies), methods=["POST"]),
            Route("/api/plans/{name}/figures/{figure}", answering(self.figure)),
        ]

    def begin(self, _request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
        """Begins to look at a trace, to simulate caches for it, and to score mixes of tiers."""
        name = answers.text(given, "trace")
        place = self._traces.place(name)
        currency, chosen = _tiers(given)
        check(_store(place, currency, chosen, 1 << 40))
        work = partial(self._plan, name, place, currency, chosen)
        return self._jobs.start("plan", f"Plan for {name}", work).told()

    def listed(self, _request: Request) -> list[dict[str, Any]]:
        """The plans there are, the latest first."""
        return [
            {"id": path.name, "modified": path.stat().st_mtime}
            for path in self._folder.listed("plans")
            if (path / PLAN_FILE).is_file()
        ]

    def shown(self, request: Request) -> dict[str, Any]:
        """What a plan says, with the prices and the budget of the address."""
        path = self._folder.find("plans", answers.word(request, "name"))
        plan, info, curves, scored = self._load(path)
        found = _priced(scored, plan, request)
        budget = _number(request, "budget")
        within = found.within(budget) if budget is not None else found
        said = (
            headline.of_mixes(within)
            if len(within)
            else [f"No mix of these tiers costs {amount(budget or 0)} a GiB or less."]
        )
        return {
            **plan,
            "id": path.name,
            "folder": str(path),
            "toml": _repriced(path, found),
            "prices": {tier.name: tier.price for tier in found.tiers},
            "caches": _caches(plan, info),
            "headline": answers.lines([*self._cache(plan, curves, found), *said]),
            "counted": answers.lines([counted(found), *found.findings]),
            "best": answers.tables(ranking(within)) if len(within) else [],
            "tiers": answers.tables(tier_table(found)),
            "worth": worth.of_prices(found, budget),
            "latencies": worth.of_latencies(path, found, budget),
            "trace_tables": answers.tables(trace_facts(info), trace_shape(info)),
            "footprint": size(info.footprint_bytes),
        }

    def _cache(self, plan: Mapping[str, Any], curves: Mapping[str, Any], found: Mixes) -> list[str]:
        prices = {tier.name: tier.price for tier in found.tiers if tier.price is not None}
        known = _curves(curves, str(plan["trace"]))
        return headline.of_caches(known, prices, str(plan["currency"]))

    def figure(self, request: Request) -> dict[str, Any]:
        """The surface of the mixes under the prices of the address, or what caches miss."""
        plan, _, curves, scored = self._found(request)
        wanted = answers.word(request, "figure")
        if wanted not in ("caches", "mixes"):
            raise config_error([Problem(path=wanted, problem="there is no such figure")])
        if wanted == "caches":
            from nacre.figures.cache_curves import cache_curves

            name = str(plan["trace"])
            return answers.figure(lambda: cache_curves(_curves(curves, name), "block"))
        found = _priced(scored, plan, request)

        def draw() -> alt.TopLevelMixin:
            return found.plot("iops_per_cost")

        return answers.figure(draw)

    def caches(self, request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
        """Begins to simulate server caches that cost the same, before a network store."""
        plan, *_ = self._found(request)
        currency, chosen = _tiers(given)
        money = given.get("money")
        if not isinstance(money, int | float) or not 0 < money < 1e12:
            hint = f"give a number of {currency}"
            problem = Problem(path="money", problem="it is no amount", given=repr(money), hint=hint)
            raise config_error([problem])
        trees = [
            _cache(str(plan["place"]), str(plan["trace"]), currency, tier, float(money))
            for tier in chosen
        ]
        for tree in trees:
            check(tree)
        work = partial(self._simulate, trees)
        title = f"Caches for {amount(money)} {currency}"
        return self._jobs.start("caches", title, work, noun="requests").told()

    def latencies(self, request: Request) -> dict[str, Any]:
        """Begins to ask what becomes of the best mix when a device is a fifth faster or slower."""
        path = self._folder.find("plans", answers.word(request, "name"))
        self._load(path)

        def ask(job: Job) -> str:
            worth.ask_latencies(path, STEPS, job)
            return f"/plan?plan={path.name}"

        return self._jobs.start("plan", f"Latencies of {path.name}", ask).told()

    def _simulate(self, trees: Sequence[Mapping[str, Any]], job: Job) -> str:
        names = []
        for number, tree in enumerate(trees, 1):
            job.note = f"cache {number} of {len(trees)}"
            names.append(self._runs.carry_out(tree, str(tree["name"]), job).name)
            if job.asked_to_stop:
                job.note = f"stopped; {number} of {len(trees)} caches were begun"
                break
        else:
            job.note = ""
        return f"/design?compare={','.join(names)}" if len(names) > 1 else f"/design?run={names[0]}"

    def _plan(
        self, name: str, place: str, currency: str, chosen: Sequence[Mapping[str, Any]], job: Job
    ) -> str:
        job.note = "reading"
        info = trace.info(place, progress=job.tick)
        job.go_on()
        job.note = "simulating caches"
        curves = trace.caches(place, _POLICIES, sample=_sample(info), progress=job.tick)
        job.go_on()
        job.note = "scoring mixes"
        found, tree = _scored(place, currency, chosen, int(info.footprint_bytes), job)
        job.note = ""
        path = self._folder.new("plans", name)
        plan = {"trace": name, "place": place, "currency": currency, "chosen": list(chosen)}
        with Staging(path) as staging:
            staging.write("trace.json", _json(info.to_dict()))
            staging.write("curves.json", _json(curves.to_dict()))
            staging.write("scenario.toml", toml.document(tree).encode())
            staging.mixes(found)
        write_file(path / PLAN_FILE, _json(plan))
        return f"/plan?plan={path.name}"

    def _found(self, request: Request) -> tuple[dict[str, Any], TraceInfo, dict[str, Any], Mixes]:
        return self._load(self._folder.find("plans", answers.word(request, "name")))


def devices() -> list[dict[str, Any]]:
    """Devices of the catalogue that have a price, with what it is counted in."""
    found = []
    for name, entry in catalog().items():
        values = {value.path: value.value for value in entry.values}
        if entry.family == "device" and "price" in values:
            number, _, unit = values["price"].partition("/")
            found.append(
                {
                    "name": name,
                    "summary": entry.summary,
                    "price": float(number) if unit.strip() == "GiB" else None,
                    "basis": values.get("price_basis", "not stated"),
                    "source": _source(entry),
                }
            )
    return found


def _source(entry: Entry) -> str:
    return next(value.source for value in entry.values if value.path == "price")


def _tiers(given: Mapping[str, Any]) -> tuple[str, list[dict[str, Any]]]:
    """The currency, and the devices with the price of a GiB; every mistake at once."""
    currency = answers.text(given, "currency").strip()
    chosen, problems = given.get("tiers"), []
    if not currency:
        hint = "say what prices are counted in, as USD 2023"
        problems.append(Problem(path="currency", problem="it is missing", hint=hint))
    if not isinstance(chosen, list) or not 2 <= len(chosen) <= TIERS_MAX:
        hint = f"choose 2 to {TIERS_MAX} devices"
        problems.append(Problem(path="tiers", problem="there is nothing to mix", hint=hint))
        chosen = []
    found = []
    for each in chosen:
        name, price = (each.get("name"), each.get("price")) if isinstance(each, dict) else (0, 0)
        if not isinstance(price, int | float) or not 0 < price < 1e9:
            hint = f"give what a GiB costs in {currency or 'your currency'}"
            problems.append(
                Problem(path=f"price-{name}", problem="it has no price", given="", hint=hint)
            )
        found.append({"name": str(name), "price": price})
    if problems:
        raise config_error(problems)
    return currency, found


def _device(currency: str, tier: Mapping[str, Any]) -> dict[str, Any]:
    price = f"{tier['price']:.9g} /GiB"
    return {"preset": tier["name"], "price": price, "price_basis": currency}


def _workload(place: str) -> dict[str, Any]:
    return {"kind": "trace", "file": place, "placement": "compact"}


def _store(
    place: str, currency: str, chosen: Sequence[Mapping[str, Any]], capacity: int
) -> dict[str, Any]:
    """A store of these tiers that the trace is played to."""
    share = f"{100 / len(chosen):.9g} %"
    tiers = [{"device": _device(currency, tier), "share": share} for tier in chosen]
    extent = max(1 << 20, capacity // _EXTENTS)
    stack = {
        "kind": "tiers",
        "capacity": f"{capacity} B",
        "extent": f"{extent} B",
        "placement": "static_optimal",
        "tier": tiers,
    }
    return {"name": "mix of tiers", "workload": _workload(place), "stack": stack}


def _cache(
    place: str, name: str, currency: str, tier: Mapping[str, Any], money: float
) -> dict[str, Any]:
    """A server cache of one device, as large as the money buys."""
    blocks = int(money / tier["price"] * 2**30) // 4096
    if blocks < 1:
        problem = Problem(path="money", problem=f"it does not buy a block of {tier['name']}")
        raise config_error([problem])
    device = {**_device(currency, tier), "capacity": f"{4096 * blocks} B"}
    stack = {
        "kind": "server_cache",
        "level": [{"device": device, "policy": "lru"}],
        "backing": {"preset": "network_store"},
    }
    return {"name": f"{name} {tier['name']}", "workload": _workload(place), "stack": stack}


def _scored(
    place: str, currency: str, chosen: Sequence[Mapping[str, Any]], footprint: int, job: Job
) -> tuple[Mixes, dict[str, Any]]:
    """Every mix of a store that is as large as the addresses of the trace reach."""
    least = footprint
    while True:
        tree = _store(place, currency, chosen, 1 << max(26, math.ceil(math.log2(max(1, least)))))
        try:
            return mixes(tree, steps=STEPS, progress=job.tick), tree
        except Error as error:
            reached = _REACHES.search(str(error))
            if reached is None or int(reached[1]) <= least:
                raise
            least = int(reached[1])


def _sample(info: TraceInfo) -> float | None:
    """The share of blocks that caches are simulated for."""
    blocks = info.footprint_bytes // 4096
    return None if blocks <= _SAMPLED_BLOCKS else _SAMPLED_BLOCKS / blocks


def _caches(plan: Mapping[str, Any], info: TraceInfo) -> dict[str, str]:
    """What finds the misses of caches again: as a command, and in Python."""
    place, sample = str(plan["place"]), _sample(info)
    followed = "" if sample is None else f" --sample {sample!r}"
    share = "" if sample is None else f", sample={sample!r}"
    return {
        "shell": f"nacre trace mrc {shlex.quote(place)} --policy {','.join(_POLICIES)}{followed}",
        "python": f"import nacre\n\nnacre.trace.caches({place!r}, {_POLICIES!r}{share}).frame()",
    }


def _repriced(path: Path, found: Mixes) -> str:
    """The scenario of a plan under other prices, as TOML."""
    tree = tomllib.loads((path / "scenario.toml").read_text())
    for tier, given in zip(found.tiers, tree["stack"]["tier"], strict=True):
        given["device"]["price"] = f"{tier.price:.9g} /GiB"
    return toml.document(tree)


def _priced(found: Mixes, plan: Mapping[str, Any], request: Request) -> Mixes:
    """The mixes under the prices of the address: `price.pcm_ssd=24`."""
    prices = {tier.name: tier.price or 0.0 for tier in found.tiers}
    for name in prices:
        price = _number(request, f"price.{name}")
        if price is not None:
            prices[name] = price
    return found.repriced(prices, str(plan["currency"]))


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
        problem = Problem(path=key, problem="it is no price", given=given[:40], hint=hint)
        raise config_error([problem])
    return number


def _loaded(path: Path) -> tuple[dict[str, Any], TraceInfo, dict[str, Any], Mixes]:
    try:
        plan, info, curves = (
            json.loads((path / name).read_bytes())
            for name in (PLAN_FILE, "trace.json", "curves.json")
        )
    except (OSError, ValueError):
        raise Error(f"{path} holds no plan: it did not come so far") from None
    return plan, TraceInfo(info), curves, Mixes.load(path)


def _curves(about: Mapping[str, Any], name: str) -> Any:
    from nacre.cache_curves import CacheCurves

    return CacheCurves(name, {**about, "rows": about["caches"]})


def _json(document: object) -> bytes:
    with suppress(ValueError):
        return json.dumps(document, ensure_ascii=False, allow_nan=False).encode()
    return bytes(answers.told(document).body)
