// Nine ideas, each as a path, two schemes, three sentences and one thing to try.


export const SCENES = [
  {
    title: "The square-root law",
    schemes: ["reno", "cubic"],
    sets: { ber: 1e-6 },
    says:
      "Reno adds one segment per round trip and halves its window at every loss, so the loss rate alone fixes its " +
      "average window: about 1.2 divided by the square root of the loss probability. On this link that is some 11 " +
      "segments, while the path would hold 42. Neither a faster link nor a longer queue would help.",
    attempt: "Raise the bit error rate from 10⁻⁶ to 4 × 10⁻⁶: four times the losses, about half the goodput.",
  },
  {
    title: "TCP decoupling",
    schemes: ["reno", "reno+decoupling"],
    sets: { ber: 2e-6, rtt: 10 },
    says:
      "A circuit sends small header packets (diamonds), and only their fate governs the rate. A 52-byte header is hit " +
      "by bit errors 29 times less often than a 1500-byte packet, so the control TCP sees almost no loss. Each header " +
      "packet that leaves pulls the data it stands for out of the tunnel queue.",
    attempt: "Slow the animation to 1/500 and press “Next loss”: data dies behind a header packet, and the window stays.",
  },
  {
    title: "TCP packet control",
    schemes: ["reno", "reno+packet-control:threshold=12"],
    text: `name = "varying delay"
profile = "ns2-2.26"
duration = "20s"
[[link]]
name = "wired"
rate = "1Mbit/s"
delay = "5ms"
queue = { packets = 50 }
[[link]]
name = "wireless"
rate = "250kbit/s"
delay = "153ms"
queue = { packets = 50 }
[link.jitter]
distribution = "table"
start = "500ms"
ranges = [
  { probability = 0.80, low = "0ms", high = "42ms" },
  { probability = 0.10, low = "42ms", high = "72ms" },
  { probability = 0.08, low = "72ms", high = "144ms" },
  { probability = 0.02, low = "144ms", high = "468ms" },
]
`,
    says:
      "The delay of this link varies so much that packets overtake each other, and the receiver answers with duplicate " +
      "ACKs although nothing is lost. Reno takes three of them for a loss and halves its window. The base station " +
      "between the two links holds duplicate ACKs back until a real loss is likely.",
    attempt: "Press “Next loss”, which also stops at window cuts: Reno makes them, although no packet dies.",
  },
  {
    title: "SpecTCP",
    schemes: ["reno:ecn=true", "spectcp"],
    text: `name = "satellite that marks"
duration = "60s"
[[link]]
name = "lan"
rate = "10Mbit/s"
delay = "1ms"
[[link]]
name = "satellite"
rate = "1Mbit/s"
delay = "140ms"
loss = { ber = 1e-5 }
queue = { discipline = "red", packets = 100, min_threshold = 10, max_threshold = 30, ecn = true }
`,
    says:
      "The router before this satellite marks packets long before its queue is full, so congestion announces itself. " +
      "SpecTCP therefore keeps its window when a packet is lost, and gives way only to a mark. A sender that obeys both " +
      "signals is held down by bit errors alone.",
    attempt: "Switch the queue to DropTail: with no marks to wait for, SpecTCP overflows it.",
  },
  {
    title: "A patient timer",
    schemes: ["newreno:rto.min=0ms:receive_window=24kB", "newreno+rto-m:rto.min=0ms:receive_window=24kB"],
    text: `name = "delay spikes"
profile = "rfc"
duration = "60s"
[[link]]
name = "wireless"
rate = "2Mbit/s"
delay = "40ms"
queue = { packets = 60 }
jitter = { distribution = "uniform", high = "60ms", overtaking = false }
spikes = { every = "2s", length = "100ms", extra = "250ms" }
`,
    says:
      "Every other second this link holds its packets for another quarter of a second, as a cell does when a channel " +
      "fades. The standard timer, smoothed RTT plus four deviations, then expires although nothing is lost, and the " +
      "window starts again from one segment. With ten deviations it waits out most of the spikes.",
    attempt: "Count the timeouts of both in the window figure: none of them was due to a loss.",
  },
  {
    title: "WestwoodVT",
    schemes: ["westwood-nr", "westwood-vt"],
    text: `name = "three hops"
profile = "linux"
duration = "60s"
[[link]]
name = "lan"
rate = "100Mbit/s"
delay = "10ms"
[[link]]
name = "wan"
rate = "100Mbit/s"
delay = "10ms"
[[link]]
name = "wireless"
rate = "10Mbit/s"
delay = "5ms"
queue = { packets = 50 }
loss = { packet = 0.02 }
reverse = { loss = {} }
`,
    says:
      "At each loss WestwoodVT asks how many of its segments wait in queues. If they are few, congestion cannot be the " +
      "reason, and the window stays. Plain Westwood resets its window at every loss.",
    attempt: "Shorten the queue to 10 packets: that is below its threshold of 14, so every loss passes for corruption, and the queue overflows.",
  },
  {
    title: "BBR beside CUBIC",
    schemes: ["cubic", "bbr"],
    sets: { ber: 0, cross: "cubic" },
    duration: 60,
    says:
      "A CUBIC flow (grey) now shares the link, and nothing is corrupted. Another CUBIC flow would settle near an equal " +
      "share, the diagonal of the fairness figure. BBR paces at the bandwidth it has measured and does not react to the " +
      "drops that make CUBIC back off.",
    attempt: "Vary the queue from 10 to 200 packets: who wins depends on how much of it CUBIC can fill.",
  },
  {
    title: "Concord",
    schemes: ["bbr", "concord"],
    sets: { ber: 0, cross: "cubic" },
    says:
      "Concord is airtcp’s own congestion control: CUBIC that asks of its losses whether corruption explains them. From " +
      "time to time it yields, to find out whether the queue is its own or a neighbour’s. Where BBR crowds CUBIC out, " +
      "Concord leaves it its share.",
    attempt: "Set the competing flow to none and the bit error rate to 2 × 10⁻⁶: now Concord fills the lossy link.",
  },
  {
    title: "Wi-Fi takes turns",
    schemes: ["cubic", "bbr"],
    text: `name = "a slow station on Wi-Fi"
duration = "10s"
base_station = "far"
[[medium]]
name = "air"
kind = "wifi"
standard = "a"
[[link]]
name = "backbone"
from = "server"
to = "access-point"
rate = "1Gbit/s"
delay = "10ms"
[[link]]
name = "near"
from = "access-point"
to = "laptop"
medium = "air"
[[link]]
name = "far"
from = "access-point"
to = "phone"
medium = "air"
mcs = 0
[[flow]]
name = "far"
from = "phone"
to = "server"
[[flow]]
name = "near"
from = "laptop"
to = "server"
`,
    says:
      "Both stations send to the access point over one Wi-Fi channel, one frame at a time: the laptop at 54 Mbit/s, the " +
      "phone, which is far away, at 6. Each frame has the same chance to be next, so both carry about the same, and the phone " +
      "has most of the time. ACKs need turns, too, and frames that begin in the same slot collide.",
    attempt: "Zoom into the first figure until you see single turns: the phone’s are seven times as long as the laptop’s.",
  },
];
