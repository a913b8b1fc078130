// What clients read is what the file says: nothing of the machine that runs the gateway gets into it.
// One list of fields in published-fields.ts; here every text of the grammar is tried, whether or not it is on that list.
import { describe, expect, it } from 'vitest';
import { PUBLISHED_FIELDS } from '../../../gateway/plan/read/texts.ts';
import { textPlaces } from '../../support/grammar-places.ts';
import { ORDERS, workspace } from '../workspace.ts';

const SECRET = 'hunter2-of-the-machine';

/** Texts of a policy that may come from outside: addresses, times, services, notes for the readers of the file. */
const MAY_COME_FROM_OUTSIDE =
  /^(?:host|base|resolve|cors|contacts|expect|upstreams|access\.identity|versions\.\*\.access\.identity|versions\.\*\.openapi)\b|(?:^|\.)(?:extended\.#\.why|maintenance\.why|released|announced|deprecated|sunset|retired|forgotten|freeze|until|from|to|before_sunset|for|cron|zone|percentage|max_body|max_answer|keep|rate|calls_below|deprecated_max_age|maintenance|limits|idempotency|brownouts|extended|exceptions|retire_when|access|versions|scopes|read|write|after)$|^headers\.(?:request\.set\.\*|request\.keep\.#|\w+\.remove\.#)$/;

describe('a field that clients read', () => {
  const places = textPlaces('policy');

  it('is on the list, or is known to be none', () => {
    const forgotten = places.filter(
      (place) => !PUBLISHED_FIELDS.includes(place) && !MAY_COME_FROM_OUTSIDE.test(place),
    );
    expect(forgotten).toEqual([]);
    expect(PUBLISHED_FIELDS.filter((place) => !places.includes(place))).toEqual([]);
  });

  it.each(PUBLISHED_FIELDS)(
    '%s takes nothing from a variable or a file, and reads neither',
    async (place) => {
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
    },
  );

  it('is refused behind an alias too, and where the API stands for its versions', async () => {
    const text = ORDERS.replace('base:', `x-note: &note "\${env:KEY}"\nreason: *note\nbase:`);
    await using files = await workspace({ 'policies/orders.yaml': text });
    expect(await files.problems({ KEY: SECRET })).toEqual([
      `policies/orders.yaml:3 «*note» error: \${…} is not allowed here: answers, metrics or reports show this field (write the text itself)`,
    ]);
  });

  it('may have a dollar and braces of its own in it elsewhere: notes and requests to the service take variables', async () => {
    const text = `${ORDERS}headers: { request: { set: { X-Key: "\${env:KEY}" } } }\n`;
    await using files = await workspace({ 'policies/orders.yaml': text });
    expect(await files.problems({ KEY: SECRET })).toEqual([]);
  });
});

/** `value` at `path`, as the places of a grammar are written. */
function nested(path: readonly string[], value: string): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  const inner = nested(rest, value);
  return key === '#' ? [inner] : { [key === '*' ? 'v1' : key]: inner };
}
