// Reading request fields from Node's header record.
import { expect, it } from 'vitest';
import { RecordFields } from '../../gateway/exchange/request-view.ts';

const fields = new RecordFields({ accept: 'text/html', 'set-cookie': ['a=1', 'b=2'], expect: undefined });

it('a field is one value per name, with repeated lines joined', () => {
  expect(['accept', 'set-cookie', 'expect', 'host'].map((name) => fields.get(name))).toEqual([
    'text/html',
    'a=1, b=2',
    undefined,
    undefined,
  ]);
});

it('lines that Node keeps separate are visited separately', () => {
  const seen: string[] = [];
  fields.each((name, value) => seen.push(`${name}: ${value}`));
  expect(seen).toEqual(['accept: text/html', 'set-cookie: a=1', 'set-cookie: b=2']);
});
