// Builds a route table at once; the gateway builds its own in slices.
import { type Route, type RouteTable, startRouteTable } from '../../gateway/plan/routes/route-table.ts';

/** @throws RangeError as `add` does */
export function createRouteTable<T>(routes: readonly Route<T>[]): RouteTable<T> {
  const { add, table } = startRouteTable<T>();
  for (const route of routes) add(route);
  return table;
}
