// Whether tokens of several issuers may name the same consumer: whoever is acme at one would be acme of the other.
// A part of the checks of `config/gateway.yaml`; what keeps the names apart is `prefix`.
import type { GatewayView, Report } from './views.ts';

/** Of each issuer behind the first that says nothing of it. Keys and certificates are given out by the operator. */
export function checkSharedIds({ parts }: GatewayView, report: Report): void {
  const [first, ...more] = Object.entries(parts.identity ?? {}).flatMap(([name, identity]) => {
    if (!('issuer' in identity || 'introspection' in identity) || identity.prefix !== undefined) return [];
    const giver = identity.issuer ?? ('introspection' in identity ? originOf(identity.introspection) : '');
    return [{ name, giver }];
  });
  for (const { name, giver } of more) {
    if (first === undefined || isOneParty(first.giver, giver)) continue;
    report(['identity', name], {
      rule: 'identity',
      severity: 'warning',
      message: `whoever ${name} names passes for the consumer of that id of ${first.name}: for its limits, its leave and its usage`,
      hint: `write prefix: ${name}/, or prefix: off where one id never means two`,
      at: 'key',
    });
  }
}

function originOf(endpoint: string): string {
  return new URL(endpoint).origin;
}

/** An endpoint that says of no issuer is of the one at its origin. */
function isOneParty(one: string, other: string): boolean {
  return one === other || originOf(one) === other || originOf(other) === one;
}
