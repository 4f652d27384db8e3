"""Describes one run in words: the flows, the network, and the sender's view."""

from __future__ import annotations

from airtcp.facts.arrival import nothing_arrived
from airtcp.facts.numbers import milliseconds, seconds
from airtcp.facts.records import Circuit, Flow, Link, Run
from airtcp.facts.scheme import is_split
from airtcp.facts.series import flow_name
from airtcp.facts.units import rate_scale


def run_lines(run: Run) -> list[str]:
    """Yields scheme and seed, then the rest."""
    empty = nothing_arrived([run])
    return [
        f"{run['scheme']}, seed {run['seed']}",
        *([empty] if empty else []),
        *flow_lines(run),
        *circuit_lines(run),
        *link_lines(run),
    ]


def flow_lines(run: Run) -> list[str]:
    """Yields a paragraph per measured flow; beyond the tenth, only their number."""
    flows = [flow for flow in run["flows"] if flow["measured"]]
    lines = [line for flow in flows[:10] for line in _flow(flow_name(flow, run["flows"]), flow)]
    if len(flows) > 10:
        lines.append(f"… and {len(flows) - 10} more flows")
    return lines


def link_lines(run: Run) -> list[str]:
    return [line for link in run["links"] for line in _link(link)]


def circuit_lines(run: Run) -> list[str]:
    """Yields a paragraph per TCP circuit; beyond the tenth, only their number."""
    circuits = run["circuits"]
    lines = [line for circuit in circuits[:10] for line in _circuit(circuit)]
    if len(circuits) > 10:
        lines.append(f"… and {len(circuits) - 10} more circuits")
    return lines


def _flow(name: str, flow: Flow) -> list[str]:
    scale, unit = rate_scale([flow["goodput_bps"]])
    sent, resent = flow["data_packets_sent"], flow["retransmissions"]
    share = f" ({100 * resent / sent:.2f} %)" if sent else ""
    lines = [
        f"flow {name}: goodput {flow['goodput_bps'] / scale:.3g} {unit}{_rtt(flow)}",
        f"  {sent} data packets sent, {resent} of them retransmissions{share}, "
        f"{flow['retransmissions_spurious']} of these spurious",
        f"  {flow['timeouts']} timeouts ({flow['timeouts_spurious']} spurious), "
        f"{flow['fast_retransmits']} fast retransmits ({flow['fast_retransmits_spurious']} spurious), "
        f"{flow['cwnd_reductions']} cwnd reductions",
        f"  lost: {flow['losses_corruption']} to corruption, {flow['losses_congestion']} to congestion, "
        f"{flow['losses_outage']} to outages",
    ]
    times = flow["completion_times_s"]
    if times:
        mean = seconds(sum(times) / len(times))
        lines.append(
            f"  {len(times)} transfers completed, in {mean} s on average, {seconds(max(times))} s at most"
        )
    return lines


def _rtt(flow: Flow) -> str:
    if not flow["rtt_samples"]:
        return ""
    whose = " with the proxy" if is_split(flow["scheme"]) else ""
    middle, high = milliseconds(flow["rtt_p50_ms"]), milliseconds(flow["rtt_p95_ms"])
    return f", RTT{whose} {middle} ms (p50), {high} ms (p95)"


def _link(link: Link) -> list[str]:
    drops = {
        "corrupted": link["drops_corruption"],
        "overflowed": link["drops_overflow"],
        "dropped by AQM": link["drops_aqm"],
        "lost in outages": link["drops_outage"],
        "marked": link["marks"],
    }
    said = ", ".join(f"{count} {what}" for what, count in drops.items() if count)
    average = link["queue_average_max"]
    return [
        f"link {link['name']} {link['direction']}: {link['utilisation']:.1%} used, "
        f"queue {link['queue_mean_packets']:.1f} packets on average, {link['queue_max_packets']} at most"
        + ("" if average is None else f", RED's average {average:.1f} at most")
        + (f"; {said}" if said else "")
    ]


def _circuit(circuit: Circuit) -> list[str]:
    data = max(circuit["forwarded_bytes"], 1)
    headers, acks = (100 * circuit[key] / data for key in ("header_bytes_sent", "control_ack_bytes_sent"))
    return [
        f"circuit {circuit['name']} {circuit['index'] + 1}: "
        f"{circuit['forwarded_packets']} data packets forwarded, "
        f"{circuit['tunnel_queue_drops']} dropped at the full tunnel queue",
        f"  {circuit['header_packets_sent']} header packets, {circuit['header_packets_lost']} lost; "
        f"they add {headers:.1f} % to the data's bytes, their ACKs {acks:.1f} %",
        f"  {circuit['timeouts']} timeouts, {circuit['cwnd_reductions']} cwnd reductions, "
        f"window {circuit['control_window_mean_packets']:.1f} VMSS on average",
        *(_repairs(circuit, data) if "repair_packets_sent" in circuit else []),
    ]


def _repairs(circuit: Circuit, data: int) -> list[str]:
    share = 100 * circuit["repair_bytes_sent"] / data
    return [
        f"  {circuit['repair_packets_sent']} repairs, {circuit['repair_packets_lost']} lost; "
        f"they add {share:.1f} % to the data's bytes",
        f"  {circuit['data_packets_recovered']} data packets recovered",
    ]
