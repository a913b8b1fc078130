// Builds a route table at once; the gateway builds its own in slices.
import {
  createRouteTableBuilder,
  type Route,
  type RouteTable,
} from '../../gateway/plan/routes/route-table.ts';

/** @throws RangeError as `add` does */
export function createRouteTable<T>(routes: readonly Route<T>[]): RouteTable<T> {
  const { add, table } = createRouteTableBuilder<T>();
  for (const route of routes) add(route);
  return table;
}
