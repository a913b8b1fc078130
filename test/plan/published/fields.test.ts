// Tests that published fields take no values from the environment, for every text of the grammar.
import { describe, expect, it } from 'vitest';
import { PUBLISHED_FIELDS } from '../../../gateway/plan/read/texts.ts';
import { textPlaces } from '../../support/grammar-places.ts';
import { ORDERS, workspace } from '../workspace.ts';

const SECRET = 'hunter2-of-the-machine';

/** Texts of a policy that may be substituted: addresses, times, services, notes. */
const MAY_COME_FROM_OUTSIDE =
  /^(?:host|base|resolve|cors|contacts|expect|upstreams|access\.identity|versions\.\*\.access\.identity|versions\.\*\.openapi)\b|(?:^|\.)(?:extended\.#\.why|maintenance\.why|released|announced|deprecated|sunset|retired|forgotten|freeze|until|from|to|before_sunset|for|cron|zone|percentage|max_body|max_answer|keep|rate|calls_below|deprecated_max_age|maintenance|limits|idempotency|brownouts|extended|exceptions|retire_when|access|versions|scopes|read|write|after)$|^headers\.(?:request\.set\.\*|request\.keep\.#|\w+\.remove\.#)$/;

describe('a published field', () => {
  const places = textPlaces('policy');

  it('is on the list, or known to be unpublished', () => {
    const forgotten = places.filter(
      (place) => !PUBLISHED_FIELDS.includes(place) && !MAY_COME_FROM_OUTSIDE.test(place),
    );
    expect(forgotten).toEqual([]);
    expect(PUBLISHED_FIELDS.filter((place) => !places.includes(place))).toEqual([]);
  });

  it.each(PUBLISHED_FIELDS)('%s is not substituted, and its variable or file is not read', async (place) => {
    for (const form of [`\${env:KEY}`, `\${file:secret}`, `see \${env:KEY:-x}`, `\${env:NONE:-plain}`]) {
      await using files = await workspace({
        'policies/orders.yaml': JSON.stringify(nested(place.split('.'), form)),
        'policies/secret': SECRET,
      });
      const { problems, plan } = await files.load({ KEY: SECRET });
      expect(plan).toBeUndefined();
      const said = problems.map(({ message, hint }) => `${message} ${hint}`).join('\n');
      expect(said).toContain(`\${…} is not allowed here: answers, metrics or reports show this field`);
      expect(said).not.toContain(SECRET);
    }
  });

  it('is refused behind an alias, and in an API without versions', async () => {
    const text = ORDERS.replace('base:', `x-note: &note "\${env:KEY}"\nreason: *note\nbase:`);
    await using files = await workspace({ 'policies/orders.yaml': text });
    expect(await files.problems({ KEY: SECRET })).toEqual([
      `policies/orders.yaml:3 «*note» error: \${…} is not allowed here: answers, metrics or reports show this field (write the text itself)`,
    ]);
  });

  it('excludes notes and requests to the service, which may have variables', async () => {
    const text = `${ORDERS}headers: { request: { set: { X-Key: "\${env:KEY}" } } }\n`;
    await using files = await workspace({ 'policies/orders.yaml': text });
    expect(await files.problems({ KEY: SECRET })).toEqual([]);
  });
});

/** `value` at `path`, in the notation of grammar paths. */
function nested(path: readonly string[], value: string): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  const inner = nested(rest, value);
  return key === '#' ? [inner] : { [key === '*' ? 'v1' : key]: inner };
}
