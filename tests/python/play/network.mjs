// Reads a list of scenarios, and writes what the page makes of their networks.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { heightOf, isNetwork, linksOf, placesOf, roundTripOf, routeOf } = await import(pathToFileURL(process.argv[2]));

const shown = (scenario) => {
  const links = linksOf(scenario);
  const height = heightOf(scenario, links);
  const { nodes, places } = placesOf(scenario, links, 900, height);
  const routes = scenario.flow.flatMap(({ name, count }) =>
    Array.from({ length: count }, (_, copy) => routeOf(scenario, links, name, copy)),
  );
  return { is_network: isNetwork(scenario), links: links.map(({ name, from, to }) => [name, from, to]), routes, nodes, places, height, round_trip: roundTripOf(scenario) };
};

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(shown)));
