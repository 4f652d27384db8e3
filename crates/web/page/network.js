// The links as a network: which there are, which way a flow takes over them, and where they lie in the picture.

import { seconds } from "./units.js";

// Do the links form more than a row?
export const isNetwork = ({ link: links, flow: flows }) => links.some(({ from }) => from !== undefined) || flows.some(hasAccess);

const hasAccess = ({ access }) => Boolean(access?.length);

// The links in the order of a run's record, with the names of their nodes: those that are written, then those that flows have
// of their own.
export function linksOf({ link: written, flow: flows }) {
  const links = written.map((link, index) => ({ ...link, from: link.from ?? `${index}`, to: link.to ?? `${index + 1}` }));
  const own = flows.filter(hasAccess).flatMap((flow) =>
    Array.from({ length: flow.count }, (_, copy) => {
      const name = flow.count === 1 ? `${flow.name}-access` : `${flow.name}-access-${copy}`;
      return { name, from: senderOf(flow, copy), to: beginOf(flow, links), ...flow.access[copy % flow.access.length] };
    }),
  );
  return [...links, ...own];
}

const senderOf = ({ name, count }, copy) => (count === 1 ? name : `${name} ${copy}`);

// The node at which the written part of a flow's route begins.
function beginOf(flow, links) {
  if (flow.from !== undefined) return flow.from;
  const isBack = flow.direction === "reverse";
  const link = links.find(({ name }) => name === (isBack ? flow.leave : flow.enter));
  return isBack ? link.to : link.from;
}

// The ways of a flow's copy as sides, which are twice a link's number, plus one against its direction: of the data, and of
// what comes back.
export function routeOf({ flow: flows }, links, name, copy) {
  const flow = flows.find((each) => each.name === name);
  const own = hasAccess(flow) ? links.findIndex(({ from }) => from === senderOf(flow, copy)) : -1;
  const there = sidesOf(flow.via ?? crossed(flow, links), beginOf(flow, links), links);
  const end = there.length ? farNode(there.at(-1), links) : beginOf(flow, links);
  const back = sidesOf(flow.return_via ?? crossed(flow, links).reverse(), end, links);
  if (own < 0) return { there, back };
  return { there: [2 * own, ...withoutOwn(there, own)], back: [...withoutOwn(back, own), 2 * own + 1] };
}

const delayOf = ({ delay, reverse }, isBack) => seconds((isBack ? reverse?.delay : null) ?? delay ?? "0s") ?? 0;

// The round-trip propagation delay of the flow that is followed, in seconds; and the part of it that this link has.
export function roundTripOf(scenario, part = null) {
  const links = linksOf(scenario);
  const { name } = scenario.flow.find(({ measure }) => measure);
  const { there, back } = routeOf(scenario, links, name, 0);
  const sides = [...there, ...back].filter((side) => part === null || links[side >> 1].name === part);
  return sides.reduce((sum, side) => sum + delayOf(links[side >> 1], side % 2 === 1), 0);
}

const withoutOwn = (sides, own) => sides.filter((side) => side >> 1 !== own);

// Of a chain: the names of the links that the data crosses, in order.
function crossed(flow, links) {
  const [enter, leave] = [flow.enter, flow.leave].map((wanted) => links.findIndex(({ name }) => name === wanted));
  const names = links.slice(enter, leave + 1).map(({ name }) => name);
  return flow.direction === "reverse" ? names.reverse() : names;
}

function sidesOf(names, begin, links) {
  let node = begin;
  return names.map((wanted) => {
    const link = links.findIndex(({ name }) => name === wanted);
    const side = 2 * link + (links[link].from === node ? 0 : 1);
    node = farNode(side, links);
    return side;
  });
}

const farNode = (side, links) => (side % 2 ? links[side >> 1].from : links[side >> 1].to);
const nearNode = (side, links) => farNode(side ^ 1, links);

// The nodes in columns from left to right: data goes to the right, as far as it can for all flows at once.
export function columnsOf(scenario, links) {
  const column = new Map(links.flatMap(({ from, to }) => [from, to]).map((node) => [node, 0]));
  const ways = scenario.flow.flatMap((flow) =>
    Array.from({ length: hasAccess(flow) ? flow.count : 1 }, (_, copy) => routeOf(scenario, links, flow.name, copy).there),
  );
  // Where flows go both ways, columns would grow without end.
  for (let round = 0; round < column.size; round++) {
    for (const side of ways.flat()) {
      const [near, far] = [nearNode(side, links), farNode(side, links)];
      const isLast = column.get(near) + 1 >= column.size;
      if (!isLast) column.set(far, Math.max(column.get(far), column.get(near) + 1));
    }
  }
  const used = [...new Set(column.values())].sort((a, b) => a - b);
  return new Map([...column].map(([node, at]) => [node, used.indexOf(at)]));
}

const MOST_ROWS = 10;

// The nodes of each column.
function membersOf(column) {
  const members = new Map();
  for (const [node, at] of column) members.set(at, [...(members.get(at) ?? []), node]);
  return members;
}

// How high the picture is to be, so that nodes and their names have room.
export function heightOf(scenario, links) {
  const rows = Math.max(...[...membersOf(columnsOf(scenario, links)).values()].map((names) => names.length));
  return 52 + 30 * Math.min(Math.max(rows, 3), MOST_ROWS);
}

// The places of nodes and links in a picture of this size. A link lies along its own axis: it begins at (x, y) and is `long`
// pixels long, in the direction `angle`.
export function placesOf(scenario, links, width, height) {
  const column = columnsOf(scenario, links);
  const last = Math.max(...column.values(), 1);
  // Names of the outer columns stand beside their nodes.
  const [edge, top] = [Math.min(96, width / 8), 26];
  const nodes = new Map();
  for (const [at, names] of membersOf(column)) {
    const side = at === 0 ? "left" : at === last ? "right" : "below";
    names.forEach((name, row) => {
      const y = top + ((row + 0.5) / names.length) * (height - 2 * top);
      nodes.set(name, { name, x: edge + (at / last) * (width - 2 * edge), y, side, isCrowded: names.length > MOST_ROWS });
    });
  }
  const beside = new Map();
  const places = links.map(({ from, to }) => {
    const [a, b] = [nodes.get(from), nodes.get(to)];
    const pair = [from, to].sort().join("\n");
    const count = beside.get(pair) ?? 0;
    beside.set(pair, count + 1);
    const [dx, dy] = [b.x - a.x, b.y - a.y];
    const long = Math.hypot(dx, dy);
    // Links between the same nodes lie beside each other, whichever way they lead.
    const shift = (count * 34 * (from < to ? 1 : -1)) / Math.max(long, 1);
    return { x: a.x - dy * shift, y: a.y + dx * shift, long, angle: Math.atan2(dy, dx) };
  });
  return { nodes: [...nodes.values()], places };
}
