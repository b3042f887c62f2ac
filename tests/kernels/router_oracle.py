"""One flit after the other in plain Python, from the text of `torusweep_kernels.router` alone: lists of flits,
dictionaries of VCs."""

from __future__ import annotations

from typing import Any

from torusweep_kernels.router import Batch, Router, Wiring

Place = tuple[int, int, int]  # of an input VC: its node, its port among the node's, its number


class Packet:
    def __init__(self, number: int, source: int, time: int, length: int, runs: list[tuple[int, int, int]]) -> None:
        self.number, self.source, self.time, self.length = number, source, time, length
        self.runs = [list(run) for run in runs]  # direction, hops left, phase
        self.full = [hops for _, hops, _ in runs]
        self.past: list[tuple[int, int, int, bool]] = []  # run, direction, phase, over a dateline: of every hop
        self.entered = self.delivered = -1
        self.message: Message | None = None
        self.detours: list[list[tuple[int, int, int]] | None] = []  # what it may take after 0, 1, … hops
        self.decided = -1  # after how many hops it took one

    def next_run(self) -> int | None:
        return next((i for i, run in enumerate(self.runs) if run[1]), None)


class Message:
    """packets of it still to arrive; messages that it waits for; when the last of these was known to be there."""

    def __init__(self, delay: int) -> None:
        self.delay, self.packets, self.waits_for, self.generated = delay, list[Packet](), list[Message](), -1
        self.known = -1  # from which cycle on others know that it is delivered, −1 = it is not

    def due(self) -> int | None:
        """The cycle in which it is to be generated, as far as that is known."""
        if any(other.known < 0 for other in self.waits_for):
            return None
        return max((other.known for other in self.waits_for), default=0) + self.delay


class Channel:
    def __init__(self, node: int, port: int, there: int, delay: int) -> None:
        self.node, self.port, self.there, self.delay, self.place = node, port, there, delay, -1
        self.flits = 0


class Network:
    def __init__(
        self, wiring: Wiring, router: Router, routes: tuple[Any, Any, Any], batch: Batch, experiment: int = 0
    ) -> None:
        self.wiring, self.router = wiring, router
        self.V, self.B, self.J = router.virtual_channels, router.buffer_flits, router.injection_flits
        self.capacity = None if wiring.capacity is None else wiring.capacity.tolist()
        self.escape = self.V if router.escape is None else router.escape
        self.N, self.P = wiring.to.shape
        self.next = [[int(wiring.to[n, p]) if p >= 0 else -1 for p in wiring.port_of[n]] for n in range(self.N)]
        self.channels = {
            (n, p): Channel(n, p, int(wiring.to[n, p]), int(wiring.delay[n, p]))
            for n in range(self.N)
            for p in range(self.P)
            if wiring.to[n, p] >= 0
        }
        self.into: list[list[Channel]] = [[] for _ in range(self.N)]
        for channel in self.channels.values():
            channel.place = len(self.into[channel.there])
            self.into[channel.there].append(channel)
        self.transit = max(map(len, self.into))
        self.I = self.transit + self.J
        self.packets: list[Packet] = []
        self.sources: list[list[Packet]] = []
        first = batch.first[experiment].tolist()
        for n in range(self.N):
            own = []
            for k in range(first[n], first[n + 1]):
                row = int(batch.row[k])
                runs = [tuple(int(array[row, i]) for array in routes) for i in range(routes[0].shape[1])]
                own.append(
                    Packet(k - first[0], n, int(batch.time[k]), int(batch.length[k]), [(d, h, f) for d, h, f in runs])
                )
                if batch.detours is not None:
                    own[-1].detours = [
                        None if row < 0 else [tuple(int(array[row, i]) for array in routes) for i in range(len(runs))]
                        for row in batch.detours.row[k].tolist()
                    ]
            self.packets += own
            self.sources.append(own.copy())
        self.messages = self.make_messages(batch, experiment)
        self.queues: list[list[Packet]] = [[] for _ in range(self.N)]
        self.gone: list[Packet] = []
        self.longest = max((packet.length for packet in self.packets), default=0)
        self.buffer: dict[Place, list[tuple[Packet, int]]] = {
            (n, i, v): [] for n in range(self.N) for i in range(self.I) for v in range(self.V)
        }
        self.forward: dict[Place, tuple[Packet, int]] = {}  # who has come forward, and when
        self.output: dict[
            Place, tuple[Any, int]
        ] = {}  # (channel and VC, or None for ejection), from when on flits may go
        self.held: dict[tuple[Channel, int], Place] = {}
        self.credits = {(channel, v): self.B for channel in self.channels.values() for v in range(self.V)}
        self.in_flight: list[tuple[int, Channel, int, tuple[Packet, int]]] = []
        self.returning: list[tuple[int, Channel, int]] = []
        self.last_vc = dict.fromkeys(((n, i) for n in range(self.N) for i in range(self.I)), -1)
        self.last_granted = dict.fromkeys(self.channels.values(), -1)
        self.last_sent: dict[Any, int] = {}
        self.stored = [0] * self.V
        self.detours = batch.detours
        self.gone_on: dict[Place, int] = {}  # flits that the packet in front has sent on
        self.occupied = dict.fromkeys(self.credits, 0)  # at the end of the last cycle

    def make_messages(self, batch: Batch, experiment: int) -> list[Message]:
        if batch.messages is None:
            return []
        first, begin, packets, delay, after, successor = (array.tolist() for array in batch.messages)
        start, stop = first[experiment : experiment + 2]
        made = [Message(delay[g]) for g in range(start, stop)]
        for g in range(start, stop):
            for k in range(begin[g], begin[g] + packets[g]):
                packet = self.packets[k - int(batch.first[experiment, 0])]
                packet.message = made[g - start]
                made[g - start].packets.append(packet)
            for other in successor[after[g] : after[g + 1]]:
                made[other - start].waits_for.append(made[g - start])
        self.sources = [[] for _ in range(self.N)]
        return made

    def generate(self, t: int) -> None:
        for n in range(self.N):
            while self.sources[n] and self.sources[n][0].time <= t:
                self.queues[n].append(self.sources[n].pop(0))
        new = []
        again = True
        while again:
            again = False
            for message in self.messages:
                due = message.due()
                if message.generated < 0 and due is not None and due <= t:
                    assert due == t
                    message.generated, again = t, True
                    new.append(message)
                    if not message.packets:
                        message.known = t
        for message in self.messages:
            for packet in message.packets if message in new else []:
                self.queues[packet.source].append(packet)

    def run(self, cycles: int) -> int:
        t = 0
        while t < cycles and not (
            all(packet.delivered >= 0 or packet in self.gone for packet in self.packets)
            and all(message.known >= 0 for message in self.messages)
        ):
            self.cycle(t)
            t += 1
        return t

    def cycle(self, t: int) -> None:
        for due, channel, v, flit in self.in_flight:
            if due == t:
                self.buffer[channel.there, channel.place, v].append(flit)
        self.in_flight = [flying for flying in self.in_flight if flying[0] > t]
        for due, channel, v in self.returning:
            if due == t:
                self.credits[channel, v] += 1
        self.returning = [credit for credit in self.returning if credit[0] > t]
        self.generate(t)
        for n in range(self.N):
            for v in range(self.V):
                for i in range(self.transit, self.I):
                    if not self.buffer[n, i, v] and self.queues[n]:
                        packet = self.queues[n].pop(0)
                        self.buffer[n, i, v] = [(packet, f) for f in range(packet.length)]
            if self.router.source_queue is not None:
                self.gone += self.queues[n][self.router.source_queue :]
                del self.queues[n][self.router.source_queue :]
        for place, flits in self.buffer.items():
            if flits and place not in self.forward:
                packet = flits[0][0]
                whole = sum(flit[0] is packet for flit in flits) == packet.length
                if self.router.switching != "store-and-forward" or whole or packet.next_run() is None:
                    self.forward[place] = packet, t
        for place, (packet, since) in self.forward.items():
            if self.detours is not None and since + self.router.route_delay == t and packet.decided < 0:
                self.decide(place[0], packet)
        self.allocate_channels(t)
        self.allocate_switch(t)
        if self.detours is not None:
            self.look(t)
        for (_, i, v), flits in self.buffer.items():
            if i < self.transit:
                self.stored[v] += len(flits)

    def round_robin(self, candidates: list[int], last: int, transit: int) -> list[int]:
        ordered = sorted(c for c in candidates if c > last) + sorted(c for c in candidates if c <= last)
        if self.router.transit_first:
            return [c for c in ordered if c < transit] + [c for c in ordered if c >= transit]
        return ordered

    def allocate_channels(self, t: int) -> None:
        asked: dict[Channel, dict[int, tuple[Place, int, int]]] = {}
        for place, (packet, since) in self.forward.items():
            if place in self.output or since + self.router.route_delay > t:
                continue
            if packet.next_run() is None:
                self.output[place] = None, t + self.router.vc_delay
                continue
            choice = self.choice(place, packet)
            if choice:
                channel, v, run = choice
                asked.setdefault(channel, {})[place[1] * self.V + place[2]] = place, v, run
        for channel, bids in asked.items():
            winner = self.round_robin(list(bids), self.last_granted[channel], self.transit * self.V)[0]
            place, v, run = bids[winner]
            self.last_granted[channel] = winner
            self.held[channel, v] = place
            self.output[place] = (channel, v), t + self.router.vc_delay
            packet = self.forward[place][0]
            direction, _, phase = packet.runs[run]
            packet.past.append((run, direction, phase, bool(self.wiring.wrap[place[0], direction])))
            packet.runs[run][1] -= 1

    def choice(self, place: Place, packet: Packet) -> tuple[Channel, int, int] | None:
        free = lambda channel, v, need: (channel, v) not in self.held and self.credits[channel, v] >= need  # noqa: E731
        channel_of = lambda run: self.channels[place[0], int(self.wiring.port_of[place[0], packet.runs[run][0]])]  # noqa: E731
        wormhole = self.router.switching == "wormhole"
        possible = []
        if self.router.adaptive:
            for run, (_, hops, _) in enumerate(packet.runs):
                if hops:
                    need = self.B if wormhole else packet.length
                    possible += [
                        (channel_of(run), v, run) for v in range(self.escape, self.V) if free(channel_of(run), v, need)
                    ]
        run = packet.next_run()
        assert run is not None
        if not possible:
            for v in sorted(self.allowed(place, packet, run)):
                need = 0 if wormhole else packet.length
                going = packet.past[-1][1] if packet.past else None
                if self.router.bubble and not (going == packet.runs[run][0] and place[2] == v):
                    need += self.longest
                if free(channel_of(run), v, need):
                    possible.append((channel_of(run), v, run))
        liking = lambda choice: (self.credits[choice[0], choice[1]], packet.runs[choice[2]][1])  # noqa: E731
        return max(possible, key=liking, default=None)  # the first of equal ones

    def decide(self, node: int, packet: Packet) -> None:
        done = len(packet.past)
        other = packet.detours[done] if done < len(packet.detours) else None
        if other is None:
            return
        ways = [[(d, h, f) for d, h, f in way if h] for way in (packet.runs, other)]
        if self.detours.view == "global":
            costs = [sum(self.occupied[c, v] for c in self.along(node, way) for v in range(self.V)) for way in ways]
        else:
            firsts = [self.along(node, way)[0] for way in ways]
            vcs = [self.class_vcs(way[0][2], 0) if firsts[0] is firsts[1] else set(range(self.V)) for way in ways]
            costs = [
                sum(self.occupied[first, v] for v in own) * sum(h for _, h, _ in way)
                for way, first, own in zip(ways, firsts, vcs)
            ]
        if costs[0] > costs[1] + self.detours.threshold:
            packet.decided = done
            packet.runs, packet.full = [list(run) for run in other], [hops for _, hops, _ in other]
            packet.past = [(-1, direction, phase, False) for _, direction, phase, _ in packet.past[-1:]]

    def look(self, t: int) -> None:
        """Flits on the channels and in the buffers behind, and those that fronts will send there."""
        self.occupied = {target: self.B - credits for target, credits in self.credits.items()}
        for place, (packet, since) in self.forward.items():
            if place in self.output:
                target = self.output[place][0]
            elif since + self.router.route_delay <= t:
                run = packet.next_run()
                assert run is not None
                channel = self.channels[place[0], int(self.wiring.port_of[place[0], packet.runs[run][0]])]
                target = channel, min(self.allowed(place, packet, run))
            else:
                continue
            if target is not None:
                self.occupied[target] += packet.length - self.gone_on.get(place, 0)

    def along(self, node: int, way: list[tuple[int, int, int]]) -> list[Channel]:
        found = []
        for direction, hops, _ in way:
            for _ in range(hops):
                found.append(self.channels[node, int(self.wiring.port_of[node, direction])])
                node = found[-1].there
        return found

    def ahead(self, node: int, direction: int, hops: int) -> bool:
        for _ in range(hops):
            if self.wiring.wrap[node, direction]:
                return True
            node = self.next[node][direction]
        return False

    def allowed(self, place: Place, packet: Packet, run: int) -> set[int]:
        direction, hops, phase = packet.runs[run]
        now = bool(self.wiring.wrap[place[0], direction])
        memory = "rest" if self.router.adaptive else self.wiring.memory
        same_phase = []
        for hop in reversed(packet.past):
            if hop[2] != phase:
                break
            same_phase.append(hop)
        past = {
            "run": any(wrap for r, _, _, wrap in packet.past if r == run),
            "axis": any(wrap for _, d, _, wrap in same_phase if d // 2 == direction // 2),
            "path": any(wrap for *_, wrap in packet.past),
            "ahead": any(wrap for r, _, _, wrap in packet.past if r == run),
            "rest": False,
        }[memory]
        ahead = self.ahead(place[0], direction, hops)
        column = int(not ahead if memory == "rest" else past or (ahead if memory == "ahead" else now))
        vcs = [self.class_vcs(phase, c) for c in (0, 1)]
        if not self.wiring.balanced or past or ahead:
            return vcs[column]
        if hops == packet.full[run]:
            return vcs[0] | vcs[1]
        return vcs[1] if place[2] in vcs[1] else vcs[0]

    def class_vcs(self, phase: int, column: int) -> set[int]:
        number = int(self.wiring.classes[phase, column])
        begin = int(self.wiring.shares[:number].sum())
        return set(range(begin, begin + int(self.wiring.shares[number])))

    def allocate_switch(self, t: int) -> None:
        bids: dict[Any, dict[int, list[int]]] = {}
        nominations: dict[tuple[int, int], list[int]] = {}
        sent: dict[tuple[int, int], set[int]] = {}
        for n in range(self.N):
            for i in range(self.I):
                able = []
                for v in range(self.V):
                    place = n, i, v
                    if place in self.output and self.buffer[place] and self.output[place][1] <= t:
                        target = self.output[place][0]
                        # flits of a later packet wait for their own output
                        if self.buffer[place][0][0] is self.forward[place][0] and (
                            target is None or self.credits[target] > 0
                        ):
                            able.append(v)
                links = self.links(self.into[n][i]) if i < len(self.into[n]) else 1
                most = links * self.router.input_speedup
                if i >= self.transit and self.router.injection_speedup is not None:
                    most = self.router.injection_speedup
                in_turn = [v for v in able if v > self.last_vc[n, i]] + [v for v in able if v <= self.last_vc[n, i]]
                nominations[n, i] = in_turn[:most]
                for v in nominations[n, i]:
                    target = self.output[n, i, v][0]
                    bids.setdefault(("out of", n) if target is None else target[0], {}).setdefault(i, []).append(v)
        for output, who in bids.items():
            n, many = (
                (output[1], self.router.ejection_flits)
                if isinstance(output, tuple)
                else (output.node, self.links(output))
            )
            in_order = [
                (i, v)
                for i in self.round_robin(list(who), self.last_sent.get(output, -1), self.transit)
                for v in who[i]
            ]
            for i, v in in_order[:many]:
                self.last_sent[output] = i
                sent.setdefault((n, i), set()).add(v)
                self.send(t, (n, i, v))
        for port, winners in sent.items():
            self.last_vc[port] = [v for v in nominations[port] if v in winners][-1]

    def links(self, channel: Channel) -> int:
        return 1 if self.capacity is None else int(self.capacity[channel.node][channel.port])

    def send(self, t: int, place: Place) -> None:
        flit = self.buffer[place].pop(0)
        self.gone_on[place] = self.gone_on.get(place, 0) + 1
        packet, number = flit
        target = self.output[place][0]
        if place[1] >= self.transit:
            if number == 0:
                packet.entered = t
        else:
            channel = self.into[place[0]][place[1]]
            back = 0 if self.wiring.back is None else int(self.wiring.back[channel.node, channel.port])
            self.returning.append((t + self.router.credit_delay + back, channel, place[2]))
        last = number == packet.length - 1
        if target is None:
            if last:
                packet.delivered = t + self.router.switch_delay
                if packet.message and all(other.delivered >= 0 for other in packet.message.packets):
                    packet.message.known = max(packet.delivered, t + 1)
        else:
            channel, v = target
            channel.flits += 1
            self.credits[target] -= 1
            self.in_flight.append((t + self.router.switch_delay + channel.delay, channel, v, flit))
            if last:
                del self.held[target]
        if last:
            del self.output[place], self.forward[place], self.gone_on[place]
