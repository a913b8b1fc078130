// A route table made at one go, for tests; the gateway's own grows slice by slice with its plan.
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
