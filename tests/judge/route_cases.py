"""Cases about topics' routes, drawn from a seed, in every form in which RocketMQ writes them."""

import copy
import json
import re
from typing import Any, Final

from tests.judge.cases import HALVES, Case, Draw

Document = dict[str, Any]

PERMS: Final = (0, 1, 2, 3, 4, 5, 6, 6, 6, 6, 6, 7, 14, -1)
COUNTS: Final = (-2, 0, 1, 1, 2, 3, 4, 4, 8, 12, 16)
ORDER_CONFS: Final[tuple[str, ...]] = (
    ";", "{b}:2", "{b}:2;", "{b}:1;{b}:3", ":2", "{b}:-1", "{b}:+2", "{b}:2:9", "{b}:0",
    "{b}:\u0664", "{b}:007", "{b}:4;{b}:2;;",
)  # fmt: skip
REFUSED_CONFS: Final[tuple[str, ...]] = (
    ";{b}:1", " ", "{b}", "{b}:1;;{b}:1", ":", "::", "{b}:", "{b}: 2", "{b}:x", "{b}::2", "{b}:+",
    "{b}:2147483648", "{b}:-2147483649", "{b}:1_0", "{b}:\U0001d7ce", "{b}:2 ", "{b}:1;{b}",
    "{b};{b}:x", "{b}:x;{b}",
)  # fmt: skip
_BARE: Final = re.compile(r'"@@(-?[0-9]+)"')


class RouteDraw:
    """Draws of routes for one line of RocketMQ.

    Attributes:
        line: "4.9", "5" or "4.3". Only 5 has static topics, only 4.3 calls the flag topicSynFlag,
            and 5 takes a list left out for an empty one, so it is asked with nulls there.
    """

    def __init__(self, draw: Draw, line: str) -> None:
        self.draw = draw
        self.chance = draw.chance
        self.line = line

    def publish_info(self) -> Case:
        """Return a topic and a route; a tenth of them cannot be read to the end."""
        return {"topic": self.name(), "route": self.written(self.route())}

    def subscribe_info(self) -> Case:
        """Return a topic and a route, often without shares."""
        route = self.route()
        if self.draw.often(0.13):
            route["queueDatas"] = None
            route.pop("topicQueueMappingByBroker", None)
        return {"topic": self.name(), "route": self.written(route)}

    def route_changed(self) -> Case:
        """Return two routes, mostly one and what became of it."""
        old = self.route()
        new = copy.deepcopy(old)
        for _ in range(self.chance.choice((0, 1, 1, 2, 3))):
            self._change(new)
        told = {"old": self.written(old), "new": self.written(new)}
        if self.draw.often(0.03):
            told["old"] = None
        if self.draw.often(0.02) and self.line != "5":
            told["new"] = None
        return told

    def name(self) -> str:
        """Return a name that UTF-8 can say: RocketMQ's routes travel in it."""
        drawn = "".join(each for each in self.draw.name() if each not in HALVES)
        return drawn or "broker-a"

    def route(self) -> Document:
        """Return a whole route."""
        names = [self.name() for _ in range(self.chance.randint(1, 5))]
        shares = [self._share(self.chance.choice(names)) for _ in range(self.draw.size(6))]
        brokers = [self._broker(name) for name in names if self.draw.often(0.9)]
        if self.draw.often(0.15) and brokers:
            brokers.append(self._broker(self.chance.choice(names)))
        self.chance.shuffle(brokers)
        route: Document = {"queueDatas": shares, "brokerDatas": brokers}
        self._order(route, names)
        if self.draw.often(0.3):
            route["filterServerTable"] = self._filter_servers()
        if self.line == "5" and self.draw.often(0.25):
            route["topicQueueMappingByBroker"] = self._mappings()
        if self.draw.often(0.06):
            self._leave_out(route)
        return route

    def written(self, route: Document) -> Any:
        """Return the route as an object, or as a text with bare or quoted broker ids."""
        plain = json.loads(_BARE.sub(r'"\1"', json.dumps(route)))
        if self.draw.often(0.4):
            return plain
        indent = "\t" if self.draw.often(0.3) else None
        text = json.dumps(route, ensure_ascii=self.draw.often(0.5), indent=indent)
        return _BARE.sub(r"\1" if self.draw.often(0.8) else r'"\1"', text)

    def _share(self, name: str) -> Document:
        share: Document = {
            "brokerName": name,
            "perm": self.chance.choice(PERMS),
            "readQueueNums": self.chance.choice(COUNTS),
            "writeQueueNums": self.chance.choice(COUNTS),
        }
        flag = "topicSynFlag" if self.line == "4.3" else "topicSysFlag"
        if self.draw.often(0.7):
            share[flag] = self.chance.choice((0, 0, 1, 2))
        for field in ("perm", "readQueueNums", "writeQueueNums"):
            if self.draw.often(0.03):
                share[field] = None
            elif self.draw.often(0.03):
                del share[field]
        return share

    def _broker(self, name: str) -> Document:
        ids = self.chance.choice(((0,), (0,), (0,), (0, 1), (1,), (1, 2), (), (0, 2**40), (-1,)))
        broker: Document = {
            "brokerName": name,
            "cluster": self.chance.choice(("DefaultCluster", self.name(), None)),
            "brokerAddrs": {f"@@{number}": f"10.0.0.{number % 250}:10911" for number in ids},
        }
        if self.draw.often(0.03):
            broker["brokerAddrs"] = None
        if self.draw.often(0.2):
            broker |= {"zoneName": "z", "enableActingMaster": False, "notKnown": {"a": [1, "x"]}}
        return broker

    def _order(self, route: Document, names: list[str]) -> None:
        kind = self.chance.random()
        if kind < 0.12:
            forms = ORDER_CONFS
        elif kind < 0.24:
            forms = REFUSED_CONFS
        else:
            if kind < 0.6:
                route["orderTopicConf"] = "" if kind < 0.3 else None
            return
        form = self.chance.choice(forms)
        route["orderTopicConf"] = form.format(b=self.chance.choice(names))

    def _filter_servers(self) -> Document:
        servers = [f"10.0.0.{number}:1" for number in range(self.chance.randint(0, 2))]
        return {f"10.0.0.{self.chance.randint(1, 3)}:10911": servers}

    def _mappings(self) -> Document:
        scope = self.chance.choice(("__global__", "__global__", "east", self.name()))
        scopes = (scope, scope, scope, None)
        mappings = {}
        for number in range(self.chance.randint(0, 3)):
            ids = self.chance.sample(range(8), self.chance.randint(0, 4))
            mapping: Document = {
                "bname": f"broker-{number}",
                "topic": "t",
                "totalQueues": self.chance.choice((-1, 0, 2, 4, 8)),
                "epoch": self.chance.choice((-2, -1, 0, 1, 2**40)),
                "dirty": self.draw.often(0.2),
                "currIdMap": {f"@@{each}": each + 1 for each in ids},
                "scope": self.chance.choice(scopes),
            }
            if mapping["scope"] == "__global__" and self.draw.often(0.5):
                del mapping["scope"]
            mappings[f"broker-{number}"] = mapping
        return mappings

    def _leave_out(self, route: Document) -> None:
        field = self.chance.choice(("queueDatas", "brokerDatas"))
        if self.line == "5" or self.draw.often(0.5):
            route[field] = None
        else:
            route.pop(field, None)

    def _change(self, route: Document) -> None:
        """Make a change, or what is none: another order, another cluster, another empty list."""
        shares, brokers = route.get("queueDatas") or [], route.get("brokerDatas") or []
        kind = self.chance.randrange(9)
        if kind < 2:
            self.chance.shuffle(shares)
            self.chance.shuffle(brokers)
        elif kind == 2 and brokers:
            self.chance.choice(brokers)["cluster"] = self.name()
        elif kind == 3 and shares:
            field = self.chance.choice(("perm", "readQueueNums", "writeQueueNums"))
            self.chance.choice(shares)[field] = self.chance.choice((None, 0, 4, 6))
        elif kind == 4 and brokers:
            self.chance.choice(brokers)["brokerAddrs"] = self.chance.choice(
                (None, {}, {"@@0": "10.0.0.9:10911"})
            )
        elif kind == 5:
            route["orderTopicConf"] = self.chance.choice(("", None, "b:1"))
        elif kind == 6:
            route["filterServerTable"] = self.chance.choice((None, {}, self._filter_servers()))
        elif kind == 7 and self.line == "5":
            route["topicQueueMappingByBroker"] = self.chance.choice((None, {}, self._mappings()))
        else:
            self._leave_out(route)
