// Tests `bounds`, `overload` and `drain`: defaults, refused values and documentation.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { compileBounds, compileDrain, compileOverload } from '../../gateway/plan/compile/bounds.ts';
import {
  BOUND_DEFAULTS,
  boundsSection,
  DRAIN_DEFAULTS,
  drainSection,
  OVERLOAD_DEFAULTS,
  overloadSection,
  wholeBounds,
  wholeDrain,
  wholeOverload,
} from '../../gateway/plan/grammar/bounds-section.ts';

const SECTIONS = [
  { name: 'bounds', whole: wholeBounds, written: BOUND_DEFAULTS },
  { name: 'overload', whole: wholeOverload, written: OVERLOAD_DEFAULTS },
  { name: 'drain', whole: wholeDrain, written: DRAIN_DEFAULTS },
] as const;

/** The rows of the page, from the descriptions of the grammar. */
const rows = SECTIONS.flatMap(({ name, whole, written }) => {
  const { properties = {} } = z.toJSONSchema(whole, { io: 'input', unrepresentable: 'any' });
  return Object.entries(written).map(([key, value]) => {
    const property = properties[key];
    const description = typeof property === 'object' ? (property.description ?? '') : '';
    return [`\`${name}.${key}\``, description.replace(/ Default .*$/, ''), String(value)];
  });
});

describe('bounds, overload and drain', () => {
  it('are documented in docs/reference/gateway-keys.md with default and meaning', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/reference/gateway-keys.md'), 'utf8');
    const lines = page.split('\n').filter((line) => /^\| `(bounds|overload|drain)\./.test(line));
    const shown = lines.map((line) => {
      const [name, meaning, , value] = line.slice(2).split(' | ');
      return [name, meaning, value];
    });
    expect(shown).toEqual(rows);
  });

  it('have a default each, as their description says', () => {
    for (const { whole, written } of SECTIONS) {
      expect(Object.keys(written)).toEqual(Object.keys(whole.shape));
      const { properties = {} } = z.toJSONSchema(whole, { io: 'input', unrepresentable: 'any' });
      for (const [key, value] of Object.entries(written))
        expect(properties[key], key).toMatchObject({
          description: expect.stringContaining(`Default ${value}.`),
        });
    }
  });

  it('apply their defaults to missing keys', () => {
    expect(compileBounds({})).toMatchObject({
      headerBytes: 16_384,
      targetBytes: 8_192,
      body: 1_024 ** 3,
      connections: 10_000,
      resets: { units: 100, windowMs: 10_000 },
      headersMs: 10_000,
      bodyRate: { units: 1_000, windowMs: 10_000 },
      websocketIdleMs: 3_600_000,
    });
    expect(compileOverload({})).toEqual({ lagMs: 500, requests: 10_000 });
    expect(compileDrain({})).toEqual({ waitMs: 0, timeoutMs: 30_000 });
  });

  it('can be set one by one, and some can be switched off', () => {
    const bounds = boundsSection.parse({
      headers: '5s',
      body_rate: 'off',
      websocket_idle: 'off',
      connections: '7',
    });
    expect(compileBounds({ bounds })).toEqual({
      ...compileBounds({}),
      headersMs: 5_000,
      bodyRate: undefined,
      websocketIdleMs: undefined,
      connections: 7,
    });
    expect(compileOverload({ overload: overloadSection.parse('off') })).toBeUndefined();
    expect(compileOverload({ overload: overloadSection.parse({ requests: 9 }) })).toEqual({
      lagMs: 500,
      requests: 9,
    });
    expect(compileDrain({ drain: drainSection.parse({ wait: '5s' }) })).toEqual({
      waitMs: 5_000,
      timeoutMs: 30_000,
    });
  });

  it.each([
    [boundsSection, { header_bytes: 0 }],
    [boundsSection, { header_bytes: '16 kilobytes' }],
    [boundsSection, { connections: 0 }],
    [boundsSection, { connections: '-1' }],
    [boundsSection, { idle: '2d' }],
    [boundsSection, { idle: 'off' }],
    [boundsSection, { resets: '100' }],
    [boundsSection, { resets: '100/30d' }],
    [boundsSection, { conections: 5 }],
    [drainSection, { timeout: '0s' }],
    [drainSection, { wait: '30d' }],
    [overloadSection, { lag: 250 }],
  ])('refuse malformed values: %#', (section, written) => {
    expect(section.safeParse(written).success).toBe(false);
  });
});
